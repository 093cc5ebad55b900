// Generated from docs/openapi.json by `npm run docs`. Do not edit.
/** The values of `RunSourceType`. */
export const RUN_SOURCES = [
  "API",
  "CLI",
  "LOCAL",
  "SCHEDULED_AGENT",
  "WEB_APP",
  "GITHUB_ACTION",
  "SLACK",
  "LINEAR",
  "CLOUD_MODE",
  "JIRA",
  "TEAMS",
  "MCP",
  "GITHUB_WEBHOOK",
  "GITLAB_WEBHOOK",
  "AZURE_DEVOPS_WEBHOOK",
  "CUSTOM_WEBHOOK",
  "ORCHESTRATION",
] as const;
