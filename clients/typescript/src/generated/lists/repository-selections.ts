// Generated from docs/openapi.json by `npm run docs`. Do not edit.
/** The values of `RepositorySelection`. */
export const REPOSITORY_SELECTIONS = [
  "all",
  "selected",
] as const;
