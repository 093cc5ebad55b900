import * as v from "valibot";
import { Approvals } from "./execution/approval.ts";
import { FallbackModelIds, ReasoningLevel, RunLimits } from "./limits/run-limits.ts";
import { OutputSchema, StoredOutputSchema } from "./output/output-schema.ts";
import { Id, Name, text, textOfBytes, usdUpTo } from "./primitives.ts";
import { hasCredentials } from "./repository-url.ts";
import { SecretName } from "./secrets/secret-name.ts";

const Headers = v.record(v.string(), textOfBytes(8192));

const ONE_OF_THREE = "must have exactly one of warp_id, command and url";
const hasOneOfThree = (server: { warp_id?: string; command?: string; url?: string }): boolean =>
  [server.warp_id, server.command, server.url].filter((member) => member !== undefined).length === 1;
const ONE_OF_THREE_FACT = { oneOf: [{ required: ["warp_id"] }, { required: ["command"] }, { required: ["url"] }] };

const ToolNames = v.pipe(v.array(text(128, 1)), v.maxLength(100));

const McpServerFields = {
  warp_id: v.exactOptional(Id),
  command: v.exactOptional(textOfBytes(4096, 1)),
  args: v.exactOptional(v.pipe(v.array(textOfBytes(4096)), v.maxLength(64))),
  env: v.exactOptional(Headers),
  url: v.exactOptional(
    v.pipe(v.string(), v.maxLength(2048), v.regex(/^https?:\/\/\S+$/, "must be an http or https URL")),
  ),
  headers: v.exactOptional(Headers),
  /** Keeps the server in the configuration without starting it or connecting to it. */
  disabled: v.exactOptional(v.boolean()),
  /** The server's tools that the agent may use: those of `include`, or all, without those of `exclude`. */
  tools: v.exactOptional(v.object({ include: v.exactOptional(ToolNames), exclude: v.exactOptional(ToolNames) })),
};

/**
 * An MCP server: a shared one (`warp_id`), a program (`command`) or a remote one (`url`). Exactly one of these is
 * required.
 */
export const MCPServerConfig = v.pipe(
  v.object(McpServerFields),
  v.check(hasOneOfThree, ONE_OF_THREE),
  v.metadata(ONE_OF_THREE_FACT),
);

const NamedServer = v.pipe(
  v.object({ name: Name, ...McpServerFields }),
  v.check((server) => hasOneOfThree(server), ONE_OF_THREE),
  v.metadata(ONE_OF_THREE_FACT),
);
const NamedServers = v.pipe(
  v.array(NamedServer),
  v.check((servers) => servers.length <= 50, "must have at most 50 servers"),
  v.check((servers) => new Set(servers.map((server) => server.name)).size === servers.length, "must have unique names"),
  v.metadata({ maxItems: 50, description: "Names must be unique." }),
  v.transform((servers) => Object.fromEntries(servers.map(({ name, ...server }) => [name, server]))),
);
const ServerMap = v.pipe(v.record(Name, MCPServerConfig), v.maxEntries(50));
const McpServers = v.union(
  [NamedServers, ServerMap],
  "must be a map from name to server, or a list of servers with names",
);

/** `repo:name`, `repo:path`, `owner/repo:name` or `owner/repo:path/to/SKILL.md`. */
export const SkillSpec = v.pipe(
  textOfBytes(512, 1),
  v.regex(
    /^[^\s:/]+(?:\/[^\s:/]+)?:(?!\/)(?!(?:[^:]*\/)?\.\.?(?:\/|$))[^\s:][^:]*$/,
    "must have the form owner/repo:skill-name or owner/repo:path/to/SKILL.md",
  ),
);

/** The URL of a stored repository. It may contain credentials from before they were refused. */
export const RepositoryUrl = v.pipe(
  textOfBytes(2048, 1),
  v.regex(/^(https:\/\/|ssh:\/\/|file:\/\/\/|[\w.-]+@[\w.-]+:)\S+$/, "must be an https, ssh or file URL"),
);

/** Credentials belong in a secret, since everyone who can read the run, schedule or environment can read the URL. */
export const NO_CREDENTIALS = "must not contain credentials: store them as a secret and name it in token_secret";

/**
 * A directory of a repository, none of whose parts is `.` or `..`. Git would read a leading `-` as an option, and `!` or `*` as a
 * pattern. No text contains NUL. Generators of values can use no lookahead.
 */
const RepositoryDirectory = v.pipe(
  textOfBytes(256, 1),
  v.regex(
    /^(?:[^-/.\r\n!*?[\]\\][^/\r\n!*?[\]\\]*|\.[^/.\r\n!*?[\]\\][^/\r\n!*?[\]\\]*|\.\.[^/\r\n!*?[\]\\]+)(?:\/+(?:[^/.\r\n!*?[\]\\][^/\r\n!*?[\]\\]*|\.[^/.\r\n!*?[\]\\][^/\r\n!*?[\]\\]*|\.\.[^/\r\n!*?[\]\\]+))*\/*$/,
    "must be the relative path of a directory, without patterns",
  ),
);

/** A Git repository to clone. */
export const Repository = v.object({
  url: v.pipe(
    RepositoryUrl,
    v.check((url) => !hasCredentials(url), NO_CREDENTIALS),
    v.metadata({
      description:
        "At most 2048 bytes in UTF-8, without credentials: store them as a secret and name it in `token_secret`.",
    }),
  ),
  ref: v.exactOptional(
    v.pipe(textOfBytes(256, 1), v.regex(/^[^-\s][^\s~^:?*[\\]*$/, "must be a branch, tag or commit")),
  ),
  path: v.exactOptional(
    v.pipe(
      textOfBytes(256, 1),
      v.regex(
        /^(?:[^/.][^/]*|\.[^/.][^/]*|\.\.[^/]+)(?:\/+(?:[^/.][^/]*|\.[^/.][^/]*|\.\.[^/]+))*\/*$/,
        "must be a relative path inside the workspace",
      ),
    ),
  ),
  token_secret: v.exactOptional(Name),
  depth: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_000_000))),
  submodules: v.exactOptional(v.boolean()),
  lfs: v.exactOptional(v.boolean()),
  sparse_paths: v.exactOptional(v.pipe(v.array(RepositoryDirectory), v.minLength(1), v.maxLength(50))),
});

/** A Git repository as responses show it. */
export const StoredRepository = v.object({ ...Repository.entries, url: RepositoryUrl });

/** The model budget of a run tree, in US dollars with at most four decimals. */
export const BudgetUsd = usdUpTo(10_000);

const HarnessType = v.picklist(["default", "oz", "claude", "codex", "gemini"]);

/** The configuration of an agent. */
export const AmbientAgentConfig = v.pipe(
  v.object({
    name: v.exactOptional(Name),
    model_id: v.exactOptional(Id),
    fallback_model_ids: v.exactOptional(
      v.pipe(
        FallbackModelIds,
        v.metadata({ description: "Models that the agent continues with, in this order, while a provider is down." }),
      ),
    ),
    reasoning_level: v.exactOptional(ReasoningLevel),
    output_schema: v.exactOptional(OutputSchema),
    approvals: v.exactOptional(Approvals),
    base_prompt: v.exactOptional(textOfBytes(65_536)),
    environment_id: v.exactOptional(Id),
    skill_spec: v.exactOptional(SkillSpec),
    skills: v.exactOptional(v.pipe(v.array(SkillSpec), v.maxLength(20))),
    mcp_servers: v.exactOptional(McpServers),
    repositories: v.exactOptional(v.pipe(v.array(Repository), v.maxLength(10))),
    computer_use_enabled: v.exactOptional(v.boolean()),
    idle_timeout_minutes: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(60))),
    worker_host: v.exactOptional(Id),
    budget_usd: v.exactOptional(BudgetUsd),
    ...RunLimits,
    harness: v.exactOptional(
      v.object({ type: HarnessType, model_id: v.exactOptional(Id), reasoning_level: v.exactOptional(text(64, 1)) }),
    ),
    harness_auth_secrets: v.exactOptional(
      v.object({ claude_auth_secret_name: v.exactOptional(Name), codex_auth_secret_name: v.exactOptional(Name) }),
    ),
    secrets: v.exactOptional(v.pipe(v.array(v.object({ name: SecretName })), v.maxLength(50))),
    credential_strategy: v.exactOptional(v.nullable(v.picklist(["CREATOR", "EXECUTOR"]))),
    session_sharing: v.exactOptional(v.object({ public_access: v.exactOptional(v.picklist(["VIEWER", "EDITOR"])) })),
  }),
  v.check(
    (config) => config.skill_spec === undefined || config.skills === undefined,
    "must not have both skill_spec and skills: use skills for several",
  ),
  v.metadata({ not: { required: ["skill_spec", "skills"] } }),
);
export type AmbientAgentConfig = v.InferOutput<typeof AmbientAgentConfig>;
export type Repository = v.InferOutput<typeof Repository>;

/**
 * The configuration of an agent with all defaults applied. Secret values and credentials are shown as `***`, and
 * `skill_spec` is the first of `skills`.
 */
export const ResolvedAgentConfig = v.object({
  ...AmbientAgentConfig.entries,
  repositories: v.exactOptional(v.array(StoredRepository)),
  output_schema: v.exactOptional(StoredOutputSchema),
  mcp_servers: v.exactOptional(v.record(v.string(), v.object(McpServerFields))),
  /** Together with those of the environment and the identity. */
  secrets: v.exactOptional(v.array(v.object({ name: v.string() }))),
});
export type ResolvedAgentConfig = v.InferOutput<typeof ResolvedAgentConfig>;
