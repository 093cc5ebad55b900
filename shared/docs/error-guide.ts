import type { ErrorCode } from "#shared/errors.ts";

interface Guide {
  /** The cause of the error. */
  readonly meaning: string;
  /** What the caller can do. */
  readonly remedy: string;
  /** The `detail` of the example. */
  readonly detail: string;
}

/** The documentation of each error code, for the error pages. */
export const ERROR_GUIDE = {
  invalid_request: {
    meaning:
      "A field of the request is missing, has the wrong type or has an invalid value. The same code is used with 405 for an unsupported " +
      "method, 413 for a body over 4 MiB and 415 for a body that is not JSON.",
    remedy: "Correct the fields that `errors` lists, then send the request again.",
    detail: "title: must have at most 512 characters",
  },
  authentication_required: {
    meaning: "The API key is missing, malformed, expired or revoked, or belongs to an execution that has ended.",
    remedy: "Send `Authorization: Bearer <key>` with a valid API key.",
    detail: "the API key is not valid",
  },
  not_authorized: {
    meaning: "The API key is valid, but the caller is not allowed to do this.",
    remedy:
      "Use another kind of key, ask an admin of the team, or set `X-Team-Uid` to a team that you are a member of.",
    detail: "X-Team-Uid: you are not a member of this team",
  },
  feature_not_available: {
    meaning: "The team's plan does not include this feature, or its limit is reached.",
    remedy: "Delete resources that you no longer need, or ask an admin to raise the limit in the team's settings.",
    detail: "the team has as many identities as its plan allows",
  },
  insufficient_credits: {
    meaning: "The team has no credits left for the run.",
    remedy: "Add credits, then create the run again.",
    detail: "the team has no credits left",
  },
  budget_exceeded: {
    meaning:
      "The model budget of the run, of one of its ancestors or of its team for the month is used up, or its `timeout_minutes`, `max_steps` or `max_total_tokens` is reached. A run in progress is stopped.",
    remedy:
      "Create the run again with a larger `config.budget_usd` or a cheaper model. After a limit of time, steps or tokens, send a follow-up, which continues with a fresh allowance. An admin can raise the team's `settings.budget_usd_month`, which renews each month.",
    detail: "what is left of the run's budget is not enough for another call of anthropic/claude-opus-5-5",
  },
  external_authentication_required: {
    meaning: "An external service that the run needs, such as a Git host, requires authentication.",
    remedy: "Connect the service or give the run a secret for it, then create the run again.",
    detail: "github.com refuses the credential",
  },
  integration_disabled: {
    meaning: "The integration that sent the request is disabled.",
    remedy: "Ask an admin of the team to enable it.",
    detail: "the integration is disabled for this team",
  },
  integration_not_configured: {
    meaning: "The integration that sent the request is not configured.",
    remedy: "Ask an admin of the team to configure it.",
    detail: "the integration is not configured for this team",
  },
  content_policy_violation: {
    meaning: "The model provider refused the content of the request.",
    remedy: "Change the prompt or the content that it refers to.",
    detail: "the model refused the prompt",
  },
  resource_not_found: {
    meaning:
      "The resource does not exist or is not visible to the caller: the resources of other teams return the same response as missing " +
      "ones. Unknown paths return this code too.",
    remedy: "Check the id, the path (without a trailing slash) and the owner of the API key.",
    detail: "there is no such run",
  },
  conflict: {
    meaning:
      "The request conflicts with the current state: for example, the run is being prepared and cannot be cancelled, the name is in use, " +
      "the `Idempotency-Key` was used with another body, or another request changed the resource at the same time.",
    remedy:
      "If `retryable` is true, send the same request again after `Retry-After` seconds. Otherwise, change the request as `detail` says.",
    detail: "name: another identity of the team has this name",
  },
  operation_not_supported: {
    meaning:
      "The operation is not supported for this resource or by this release. For example, a run on a self-hosted worker can be cancelled only " +
      "with `force=true`.",
    remedy: "Follow the alternative in `detail`.",
    detail: "the run is executed elsewhere; stop it there, or send ?force=true",
  },
  environment_setup_failed: {
    meaning:
      "The setup of the environment failed: a repository could not be cloned, a setup command failed, or a secret is missing.",
    remedy:
      "Read the run's `status_message`, which names the failed step, the command and its exit code, or the secret. Fix the environment, then " +
      "create the run again.",
    detail: "setup command 2 (npm ci) ended with exit code 1",
  },
  resource_unavailable: {
    meaning:
      "A rate or capacity limit is reached (429), or the service or another one that it calls, such as GitHub, does not respond for now (503).",
    remedy: "Send the same request again after `Retry-After` seconds, with the same `Idempotency-Key`.",
    detail: "1,000 runs are waiting already",
  },
  internal_error: {
    meaning: "The service failed unexpectedly. The response contains only a trace id.",
    remedy:
      "Send the same request again, with the same `Idempotency-Key`. If the error persists, quote the `trace_id` in a support request.",
    detail: "",
  },
} as const satisfies Record<ErrorCode, Guide>;
