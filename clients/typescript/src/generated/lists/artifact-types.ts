// Generated from docs/openapi.json by `npm run docs`. Do not edit.
/** The values of `ArtifactType`. */
export const ARTIFACT_TYPES = [
  "PLAN",
  "PULL_REQUEST",
  "SCREENSHOT",
  "FILE",
  "EXTERNAL_REFERENCE",
] as const;
