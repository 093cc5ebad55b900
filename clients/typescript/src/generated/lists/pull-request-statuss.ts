// Generated from docs/openapi.json by `npm run docs`. Do not edit.
/** The values of `PullRequestStatus`. */
export const PULL_REQUEST_STATUSS = [
  "open",
  "draft",
  "merged",
  "closed",
  "unknown",
] as const;
