import type { Samples } from "./values.ts";

/** Members of configurations. */
export const CONFIG_SAMPLES: Samples = {
  name: "checkout",
  skills: [],
  mcp_servers: {},
  budget_usd: 2.5,
  timeout_minutes: 120,
  max_steps: 200,
  max_total_tokens: 2_000_000,
  fallback_model_ids: [],
  reasoning_level: "high",
  output_schema: { type: "object", required: ["fixed"], properties: { fixed: { type: "boolean" } } },
  approvals: [{ tool: "run_command", match: "terraform apply" }],
};
