// biome-ignore-all lint/performance/noBarrelFile: this is the package's one entry.
// biome-ignore-all lint/performance/noReExportAll: all that the API names is public.
export { type ArtifactFile, planArtifactFiles } from "./artifact-files.ts";
export { Runyard } from "./client.ts";
export {
  APIConnectionError,
  APIError,
  APITimeoutError,
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  RunTimeoutError,
  RunyardError,
  UnprocessableEntityError,
} from "./errors.ts";
export * from "./generated/lists.ts";
export type * from "./generated/types.ts";
export {
  type IdentityClaims,
  IdentityTokenError,
  type IdentityTokenOptions,
  verifyIdentityToken,
} from "./identity-token.ts";
export type { ClientOptions, Fetch, RequestOptions } from "./options.ts";
export { Page, type PageBody, PagePromise } from "./page.ts";
export { APIPromise, type WithResponse } from "./promise.ts";
export type { Upload } from "./resources/attachments.ts";
export type { ArtifactDownload, FollowOptions, FollowUntilDoneOptions, StreamOptions } from "./resources/runs.ts";
export type { RunStreamItem } from "./stream/run-stream.ts";
export type { APIRequest } from "./transport.ts";
export { VERSION } from "./version.ts";
export { verifyWebhook, type WebhookEvent, type WebhookHeaders, WebhookVerificationError } from "./webhook.ts";
