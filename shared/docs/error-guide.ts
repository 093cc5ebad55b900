import type { ErrorCode } from "#shared/errors.ts";

interface Guide {
  /** What has happened. */
  readonly meaning: string;
  /** What the caller can do about it. */
  readonly remedy: string;
  /** The detail of an example. */
  readonly detail: string;
}

/** What each code of the closed list means to whoever meets it. */
export const ERROR_GUIDE = {
  invalid_request: {
    meaning:
      "Something in the request is missing, of the wrong type or has a value that is not allowed. The same code comes with 405 for a method " +
      "that a path does not have, 413 for a body over 4 MiB and 415 for one that is no JSON.",
    remedy: "Look at `errors`, which names each field that is wrong, change the request, and send it again.",
    detail: "title: must have at most 512 characters",
  },
  authentication_required: {
    meaning: "There is no credential, or it is malformed, expired, deleted, or the key of an execution that is over.",
    remedy:
      "Send `Authorization: Bearer <key>` with a key that is good. A deleted key is refused from the next request on.",
    detail: "the API key is not valid",
  },
  not_authorized: {
    meaning: "The credential is good, and whom it stands for may not do this.",
    remedy:
      "Use another kind of key, ask an admin of the team, or name a team in `X-Team-Uid` that you are a member of.",
    detail: "X-Team-Uid: you are not a member of this team",
  },
  feature_not_available: {
    meaning: "The team's plan does not include this, or as much of it.",
    remedy: "Make room, for example by deleting an identity, or let an admin raise the limit in the team's settings.",
    detail: "the team has as many identities as its plan allows",
  },
  insufficient_credits: {
    meaning: "There are no credits left to pay for the run with.",
    remedy: "Add credits, then start the run again.",
    detail: "the team has no credits left",
  },
  budget_exceeded: {
    meaning: "What the run, or one above it, was allowed to spend on models is spent. A run that is at work stops.",
    remedy: "Start the run again with a larger config.budget_usd, or with a model that costs less.",
    detail: "what is left of the run's budget is not enough for another call of anthropic/claude-opus-5-5",
  },
  external_authentication_required: {
    meaning: "Another service that the run needs, such as a Git host, wants to be signed in to.",
    remedy: "Connect that service, or give the run a secret for it, then start the run again.",
    detail: "github.com refuses the credential",
  },
  integration_disabled: {
    meaning: "The integration that the request came through is switched off.",
    remedy: "Let an admin of the team switch it on.",
    detail: "the integration is disabled for this team",
  },
  integration_not_configured: {
    meaning: "The integration that the request came through was never set up.",
    remedy: "Let an admin of the team set it up.",
    detail: "the integration is not configured for this team",
  },
  content_policy_violation: {
    meaning: "The model's provider refuses the content.",
    remedy: "Change the prompt or what it refers to.",
    detail: "the model refused the prompt",
  },
  resource_not_found: {
    meaning:
      "There is no such thing, or none that the caller may see: what belongs to others is answered exactly as what does not exist. An " +
      "unknown path is answered so too.",
    remedy: "Check the id, the path (without a slash at its end), and whose key it is.",
    detail: "there is no such run",
  },
  conflict: {
    meaning:
      "The current state stands against the request: a run that is being prepared cannot be cancelled, a name is taken, an " +
      "`Idempotency-Key` was used with another body, or two requests met.",
    remedy:
      "Where `retryable` is true, send the same request again after `Retry-After` seconds. Where it is false, the detail says what to change.",
    detail: "name: another identity of the team has this name",
  },
  operation_not_supported: {
    meaning:
      "The request is understood, and this resource does not support it: a run that is executed elsewhere is cancelled there.",
    remedy: "The detail says which way leads on.",
    detail: "the run is executed elsewhere; stop it there, or send ?force=true",
  },
  environment_setup_failed: {
    meaning:
      "A repository could not be cloned, a set-up command failed, or a secret is not there for the run, before the agent began.",
    remedy:
      "The run's `status_message` names the step, the command and its exit code, or the secret. Mend the environment, then start the run again.",
    detail: "setup command 2 (npm ci) ended with exit code 1",
  },
  resource_unavailable: {
    meaning: "A limit is reached for now: too many runs wait (429), or the service has no room (503).",
    remedy: "Send the same request again after `Retry-After` seconds, with the same `Idempotency-Key`.",
    detail: "1,000 runs are waiting already",
  },
  internal_error: {
    meaning: "Something went wrong on our side. The answer says no more than its trace id.",
    remedy:
      "Send the same request again, with the same `Idempotency-Key`. If it stays, name the trace id to whoever runs the service.",
    detail: "",
  },
} as const satisfies Record<ErrorCode, Guide>;
