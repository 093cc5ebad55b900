import type { Samples } from "./values.ts";

const mcpServer = {
  command: "npx",
  args: [],
  env: {},
  url: "https://mcp.example.com/",
  headers: {},
};

const OUTPUT_SCHEMA = { type: "object", required: ["fixed"], properties: { fixed: { type: "boolean" } } };

/** Members of configurations. */
export const CONFIG_SAMPLES: Samples = {
  name: "checkout",
  "AmbientAgentConfig.name": "checkout",
  model_id: "local/runbook",
  "harness.model_id": "local/runbook",
  "harness.reasoning_level": "high",
  skill_spec: "acme/shop:fix-flaky-tests",
  skills: [],
  mcp_servers: {},
  ...Object.fromEntries(
    Object.entries(mcpServer).flatMap(([member, text]) => [
      [`MCPServerConfig.${member}`, text],
      [`mcp_servers.${member}`, text],
    ]),
  ),
  "tools.include": ["search"],
  "tools.exclude": ["delete"],
  "mcp_servers.name": "docs",
  computer_use_enabled: false,
  idle_timeout_minutes: 10,
  budget_usd: 2.5,
  timeout_minutes: 120,
  max_steps: 200,
  max_total_tokens: 2_000_000,
  ...Object.fromEntries(
    ["CreateIdentityRequest", "UpdateIdentityRequest", "CreateEnvironmentRequest", "UpdateEnvironmentRequest"].flatMap(
      (request) => [
        [`${request}.timeout_minutes`, 120],
        [`${request}.max_steps`, 200],
        [`${request}.reasoning_level`, "high"],
        [`${request}.output_schema`, OUTPUT_SCHEMA],
        [`${request}.max_total_tokens`, 2_000_000],
      ],
    ),
  ),
  fallback_model_ids: [],
  "AmbientAgentConfig.secrets": [],
  "ResolvedAgentConfig.secrets": [],
  reasoning_level: "high",
  output_schema: OUTPUT_SCHEMA,
  approvals: [{ tool: "run_command", match: "terraform apply" }],
  "approvals.tool": "run_command",
  match: "terraform apply",
  "Repository.url": "https://github.com/acme/shop.git",
  "StoredRepository.url": "https://github.com/acme/shop.git",
  depth: 1,
  submodules: true,
  lfs: true,
  sparse_paths: ["services/api"],
};
