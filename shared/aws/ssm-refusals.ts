import { RunyardError } from "#shared/errors.ts";

/** Details of the problems that callers get for errors of Systems Manager. The SDK has retried the call before. */
const DETAILS: Readonly<Record<string, { readonly detail: string; readonly retryable: boolean }>> = {
  ThrottlingException: {
    detail:
      "Systems Manager limits the calls of this account, so keys and secrets cannot be read for now: send the request again later, or have the operator raise the throughput of Parameter Store",
    retryable: true,
  },
  TooManyUpdates: {
    detail: "the parameter is changed by another request: send the request again",
    retryable: true,
  },
  ParameterLimitExceeded: {
    detail:
      "Systems Manager has no room for another parameter in this account and region: the operator has to delete unused parameters",
    retryable: false,
  },
  InvalidKeyId: {
    detail: "the KMS key of the vault cannot be used: the operator has to enable it, or to cancel its deletion",
    retryable: false,
  },
};

/** @throws RunyardError for errors whose remedy is known, else `error` itself */
export function throwRefusal(error: unknown): never {
  const known = error instanceof Error ? DETAILS[error.name] : undefined;
  if (known === undefined) throw error;
  throw new RunyardError("resource_unavailable", {
    ...known,
    retryAfterSeconds: known.retryable ? 5 : 60,
    cause: error,
  });
}
