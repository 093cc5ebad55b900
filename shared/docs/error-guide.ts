import type { ErrorCode } from "#shared/errors.ts";

interface Guide {
  /** What happened. */
  readonly meaning: string;
  /** What the caller can do about it. */
  readonly remedy: string;
  /** The detail of an example. */
  readonly detail: string;
}

/** What each error code means, and what the caller can do about it. */
export const ERROR_GUIDE = {
  invalid_request: {
    meaning:
      "A member of the request is missing, has the wrong type or a value that is not allowed. The same code comes with 405 for a method " +
      "that the path does not support, 413 for a body over 4 MiB and 415 for a body that is not JSON.",
    remedy: "Read `errors`, which names each invalid field, correct the request, and send it again.",
    detail: "title: must have at most 512 characters",
  },
  authentication_required: {
    meaning:
      "The credential is missing, malformed, expired or deleted, or it is the key of an execution that has ended.",
    remedy: "Send `Authorization: Bearer <key>` with a valid key. A deleted key is refused from the next request on.",
    detail: "the API key is not valid",
  },
  not_authorized: {
    meaning: "The credential is valid, but its principal may not do this.",
    remedy:
      "Use another kind of key, ask an admin of the team, or name a team in `X-Team-Uid` that you are a member of.",
    detail: "X-Team-Uid: you are not a member of this team",
  },
  feature_not_available: {
    meaning: "The team's plan does not include this, or as much of it.",
    remedy:
      "Free capacity, for example by deleting an identity, or ask an admin to raise the limit in the team's settings.",
    detail: "the team has as many identities as its plan allows",
  },
  insufficient_credits: {
    meaning: "There are no credits left to pay for the run.",
    remedy: "Add credits, then start the run again.",
    detail: "the team has no credits left",
  },
  budget_exceeded: {
    meaning: "The run or one of its ancestors has spent its budget for models. A run in progress stops.",
    remedy: "Start the run again with a larger `config.budget_usd`, or with a cheaper model.",
    detail: "what is left of the run's budget is not enough for another call of anthropic/claude-opus-5-5",
  },
  external_authentication_required: {
    meaning: "Another service that the run needs, such as a Git host, requires authentication.",
    remedy: "Connect that service, or give the run a secret for it, then start the run again.",
    detail: "github.com refuses the credential",
  },
  integration_disabled: {
    meaning: "The integration that sent the request is disabled.",
    remedy: "Ask an admin of the team to enable it.",
    detail: "the integration is disabled for this team",
  },
  integration_not_configured: {
    meaning: "The integration that sent the request is not set up.",
    remedy: "Ask an admin of the team to set it up.",
    detail: "the integration is not configured for this team",
  },
  content_policy_violation: {
    meaning: "The model provider refuses the content.",
    remedy: "Change the prompt or what it refers to.",
    detail: "the model refused the prompt",
  },
  resource_not_found: {
    meaning:
      "The resource does not exist, or the caller may not see it: a resource of others is answered exactly as one that does not exist. " +
      "An unknown path has the same code.",
    remedy: "Check the id, the path (without a trailing slash), and the owner of the key.",
    detail: "there is no such run",
  },
  conflict: {
    meaning:
      "The request conflicts with the current state: a run that is being prepared cannot be cancelled, a name is taken, an " +
      "`Idempotency-Key` was used with another body, or another request changed the resource at the same time.",
    remedy:
      "Where `retryable` is true, send the same request again after `Retry-After` seconds. Where it is false, the detail says what to change.",
    detail: "name: another identity of the team has this name",
  },
  operation_not_supported: {
    meaning:
      "The request is valid, but this resource does not support it: a run that is executed elsewhere is cancelled there.",
    remedy: "Follow the alternative in the detail.",
    detail: "the run is executed elsewhere; stop it there, or send ?force=true",
  },
  environment_setup_failed: {
    meaning:
      "A repository could not be cloned, a setup command failed, or a secret is not available to the run, before the agent started.",
    remedy:
      "The run's `status_message` names the step, the command and its exit code, or the secret. Fix the environment, then start the run again.",
    detail: "setup command 2 (npm ci) ended with exit code 1",
  },
  resource_unavailable: {
    meaning: "A limit is reached temporarily: too many runs wait (429), or the service has no capacity (503).",
    remedy: "Send the same request again after `Retry-After` seconds, with the same `Idempotency-Key`.",
    detail: "1,000 runs are waiting already",
  },
  internal_error: {
    meaning: "The service has failed. The response contains only a trace id.",
    remedy:
      "Send the same request again, with the same `Idempotency-Key`. If the error persists, send the trace id to the operator of the service.",
    detail: "",
  },
} as const satisfies Record<ErrorCode, Guide>;
