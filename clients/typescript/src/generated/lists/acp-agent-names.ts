// Generated from docs/openapi.json by `npm run docs`. Do not edit.
/** The values of `AcpAgentName`. */
export const ACP_AGENT_NAMES = [
  "opencode",
  "qwen-code",
] as const;
