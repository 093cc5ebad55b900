import { type Notes, note } from "./note.ts";

const mcpServer = {
  warp_id: note("The id of a shared server. This release reports such a server to the agent as unavailable."),
  command: note("The program to start in the sandbox.", "npx"),
  args: note("The program's arguments, at most 64.", []),
  env: note("The program's environment variables. Values are secrets: responses show `***`.", {}),
  url: note("The URL of a remote server.", "https://mcp.example.com/"),
  headers: note("The HTTP headers of each request to the server. Values are secrets: responses show `***`.", {}),
  disabled: note(
    "Whether the server is kept in the configuration without being started or connected to. Defaults to false.",
  ),
  tools: note("The server's tools that the agent may use. Defaults to all."),
};

const OUTPUT_SCHEMA = { type: "object", required: ["fixed"], properties: { fixed: { type: "boolean" } } };

/** Members of configurations. */
export const CONFIG_NOTES: Notes = {
  name: note("The name.", "checkout"),
  "AmbientAgentConfig.name": note("The configuration's name. Defaults to the name of the skill.", "checkout"),
  model_id: note("The model's id. Defaults to the team's model.", "local/runbook"),
  "harness.model_id": note("The model of this harness. Defaults to the configuration's `model_id`.", "local/runbook"),
  "harness.reasoning_level": note(
    "The reasoning level, which precedes that of the configuration. Third-party harnesses have names of their own.",
    "high",
  ),
  "harness.type": note("The harness to use. `oz` is an alias of `default`."),
  base_prompt: note("Additional instructions for the agent."),
  environment_id: note("The environment to set up before the agent starts."),
  skill_spec: note("The skill to start from. Excludes `skills`.", "acme/shop:fix-flaky-tests"),
  skills: note("The skills to load, at most 20. Excludes `skill_spec`.", []),
  mcp_servers: note("The agent's MCP servers: a map from name to server, at most 50.", {}),
  "context.mcp_servers": note("The MCP servers by name, including the values of environment variables and headers."),
  ...Object.fromEntries(
    Object.entries(mcpServer).flatMap(([member, text]) => [
      [`MCPServerConfig.${member}`, text],
      [`mcp_servers.${member}`, text],
    ]),
  ),
  "tools.include": note("The tools to use, at most 100. Defaults to all.", ["search"]),
  "tools.exclude": note("The tools not to use, at most 100.", ["delete"]),
  "mcp_servers.name": note("The server's name, unique in the list.", "docs"),
  repositories: note("The Git repositories to clone before the agent starts, at most 10."),
  computer_use_enabled: note(
    "Whether the agent may use a screen. Has no effect in this release. Defaults to false.",
    false,
  ),
  idle_timeout_minutes: note(
    "Minutes for which an interactive or interrupted run waits for a follow-up, 0 to 60. With 0, it ends with its turn. Defaults to 10.",
    10,
  ),
  worker_host: note(
    "The id of the self-hosted worker that executes the run. Defaults to `hosted`, a sandbox of the service.",
  ),
  budget_usd: note(
    "The limit of what the run and its descendants may spend on models, in US dollars. Defaults to the budget of the parent run.",
    2.5,
  ),
  timeout_minutes: note(
    "Minutes from the run's first start after which it ends FAILED with `budget_exceeded`, 1 to 10,080. A follow-up starts them again. Not limited by default.",
    120,
  ),
  max_steps: note(
    "Model responses of the run and its descendants after which it ends FAILED with `budget_exceeded`, 1 to 10,000. A follow-up starts the count again. Not limited by default.",
    200,
  ),
  max_total_tokens: note(
    "Tokens of input and output of the run and its descendants after which it ends FAILED with `budget_exceeded`, 1 to 1,000,000,000. A follow-up starts the count again. Not limited by default.",
    2_000_000,
  ),
  ...Object.fromEntries(
    ["CreateIdentityRequest", "UpdateIdentityRequest", "CreateEnvironmentRequest", "UpdateEnvironmentRequest"].flatMap(
      (request) => [
        [`${request}.timeout_minutes`, note("The default of its runs, up to 10,080. 0 clears it.", 120)],
        [`${request}.max_steps`, note("The default of its runs, up to 10,000. 0 clears it.", 200)],
        [`${request}.reasoning_level`, note("The default of its runs. An empty text clears it.", "high")],
        [`${request}.output_schema`, note("The default of its runs. An empty object clears it.", OUTPUT_SCHEMA)],
        [`${request}.max_total_tokens`, note("The default of its runs, up to 1,000,000,000. 0 clears it.", 2_000_000)],
      ],
    ),
  ),
  fallback_model_ids: note("Models that the agent continues with, in this order, while a provider is down.", []),
  "AmbientAgentConfig.secrets": note(
    "The team's secrets that commands get as environment variables, besides those of the environment and the identity, at most 50.",
    [],
  ),
  "ResolvedAgentConfig.secrets": note(
    "The secrets that commands get as environment variables: those of the configuration, the environment and the identity.",
    [],
  ),
  harness: note("The program that runs the agent. Responses omit it for the default harness."),
  reasoning_level: note(
    "How much the model reasons before it responds. A model without the level gets the nearest one that it has, and one that does not reason gets none. Defaults to the model's own.",
    "high",
  ),
  output_schema: note(
    "The JSON Schema, of at most 64 KiB, that the agent's final message fits: the agent is told, and is asked again up to twice. A run whose agent does not comply ends FAILED with `invalid_request`. GET /agent/runs/{runId}/response shows the value in `structured`.",
    OUTPUT_SCHEMA,
  ),
  approvals: note(
    "Calls that wait until a person approves them, at most 20. A run waits as `BLOCKED` with `waiting_for` `approval`. The rules of a parent hold for its children. For identities and environments: the default of their runs; an empty list clears it.",
    [{ tool: "run_command", match: "terraform apply" }],
  ),
  "approvals.tool": note(
    "The tool, by its name in the conversation. Tools of MCP servers are called by `call_mcp_tool`.",
    "run_command",
  ),
  match: note(
    "A text that the command has, or the arguments as JSON of another tool. `*` stands for any text, and line breaks and several spaces count as one space. Absent: every call of the tool.",
    "terraform apply",
  ),
  harness_auth_secrets: note("The secrets that third-party harnesses use to authenticate."),
  claude_auth_secret_name: note("The name of the secret for `claude`."),
  codex_auth_secret_name: note("The name of the secret for `codex`."),
  credential_strategy: note(
    "Whose credentials the run uses: its creator's or its executor's. Has no effect in this release.",
  ),
  session_sharing: note("Public access to the run's session. Off by default."),
  public_access: note("The access of anyone with the link. `EDITOR` has the effect of `VIEWER` in this release."),
  "Repository.url": note("The URL to clone, without credentials.", "https://github.com/acme/shop.git"),
  "StoredRepository.url": note("The URL to clone. Credentials are shown as `***`.", "https://github.com/acme/shop.git"),
  ref: note("The branch, tag or commit to check out. Defaults to the repository's default branch."),
  "Repository.path": note("The directory in the workspace. Defaults to the last segment of the URL."),
  token_secret: note("The name of the secret that contains the access token for an https URL."),
  depth: note("The number of commits to clone. Defaults to the whole history.", 1),
  submodules: note(
    "Whether to clone submodules: those of the same owner, and those that `repositories` name. Defaults to false.",
    true,
  ),
  lfs: note("Whether to download the files in Git LFS. Defaults to false, which leaves their pointers.", true),
  sparse_paths: note(
    "The directories to check out, at most 50, besides the files at the top. Defaults to the whole repository.",
    ["services/api"],
  ),
};
