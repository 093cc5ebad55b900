import * as v from "valibot";
import { AgentSettings, RunLimits } from "./limits/run-limits.ts";
import { StoredOutputSchema } from "./output/output-schema.ts";
import { Id, Name, text, textOfBytes, usdUpTo } from "./primitives.ts";
import { hasCredentials } from "./repository-url.ts";
import { SecretReferences } from "./secrets/secret-name.ts";

const Headers = v.record(v.string(), textOfBytes(8192));

const ONE_OF_THREE = "must have exactly one of warp_id, command and url";
const hasOneOfThree = (server: { warp_id?: string; command?: string; url?: string }): boolean =>
  [server.warp_id, server.command, server.url].filter((member) => member !== undefined).length === 1;
const ONE_OF_THREE_FACT = { oneOf: [{ required: ["warp_id"] }, { required: ["command"] }, { required: ["url"] }] };

const ToolNames = v.pipe(v.array(text(128, 1)), v.maxLength(100));

const McpServerFields = {
  /** The id of a shared server. This release reports such a server to the agent as unavailable. */
  warp_id: v.exactOptional(Id),
  /** The program to start in the sandbox. */
  command: v.exactOptional(textOfBytes(4096, 1)),
  /** The program's arguments, at most 64. */
  args: v.exactOptional(v.pipe(v.array(textOfBytes(4096)), v.maxLength(64))),
  /** The program's environment variables. Values are secrets: responses show `***`. */
  env: v.exactOptional(Headers),
  /** The URL of a remote server. */
  url: v.exactOptional(
    v.pipe(v.string(), v.maxLength(2048), v.regex(/^https?:\/\/\S+$/, "must be an http or https URL")),
  ),
  /** The HTTP headers of each request to the server. Values are secrets: responses show `***`. */
  headers: v.exactOptional(Headers),
  /** Whether the server is kept in the configuration without being started or connected to. Defaults to false. */
  disabled: v.exactOptional(v.boolean()),
  /** The server's tools that the agent may use: those of `include`, or all, without those of `exclude`. */
  tools: v.exactOptional(
    v.object({
      /** The tools to use, at most 100. Defaults to all. */
      include: v.exactOptional(ToolNames),
      /** The tools not to use, at most 100. */
      exclude: v.exactOptional(ToolNames),
    }),
  ),
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
  v.object({
    /** The server's name, unique in the list. */
    name: Name,
    ...McpServerFields,
  }),
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
  /** The URL to clone, without credentials. */
  url: v.pipe(
    RepositoryUrl,
    v.check((url) => !hasCredentials(url), NO_CREDENTIALS),
    v.metadata({
      description:
        "At most 2048 bytes in UTF-8, without credentials: store them as a secret and name it in `token_secret`.",
    }),
  ),
  /** The branch, tag or commit to check out. Defaults to the repository's default branch. */
  ref: v.exactOptional(
    v.pipe(textOfBytes(256, 1), v.regex(/^[^-\s][^\s~^:?*[\\]*$/, "must be a branch, tag or commit")),
  ),
  /** The directory in the workspace. Defaults to the last segment of the URL. */
  path: v.exactOptional(
    v.pipe(
      textOfBytes(256, 1),
      v.regex(
        /^(?:[^/.][^/]*|\.[^/.][^/]*|\.\.[^/]+)(?:\/+(?:[^/.][^/]*|\.[^/.][^/]*|\.\.[^/]+))*\/*$/,
        "must be a relative path inside the workspace",
      ),
    ),
  ),
  /** The name of the secret that contains the access token for an https URL. */
  token_secret: v.exactOptional(Name),
  /** The number of commits to clone. Defaults to the whole history. */
  depth: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_000_000))),
  /** Whether to clone submodules: those of the same owner, and those that `repositories` name. Defaults to false. */
  submodules: v.exactOptional(v.boolean()),
  /** Whether to download the files in Git LFS. Defaults to false, which leaves their pointers. */
  lfs: v.exactOptional(v.boolean()),
  /** The directories to check out, at most 50, besides the files at the top. Defaults to the whole repository. */
  sparse_paths: v.exactOptional(v.pipe(v.array(RepositoryDirectory), v.minLength(1), v.maxLength(50))),
});

/** A Git repository as responses show it. */
export const StoredRepository = v.object({
  ...Repository.entries,
  /** The URL to clone. Credentials are shown as `***`. */
  url: RepositoryUrl,
});

/** The model budget of a run tree, in US dollars with at most four decimals. */
export const BudgetUsd = usdUpTo(10_000);

/** The harnesses that need only their name. */
export const HarnessName = v.picklist(["default", "oz", "claude", "codex", "gemini"]);
const HarnessType = v.picklist([...HarnessName.options, "acp"]);

/** The agents of the Agent Client Protocol whose versions come with the sandbox. */
export const AcpAgentName = v.picklist(["opencode", "qwen-code"]);

interface HarnessProgram {
  readonly type?: string | undefined;
  readonly agent?: string | undefined;
  readonly command?: string | undefined;
}

/** Whether a harness names the agent that it starts exactly if it is one of the Agent Client Protocol. */
export const hasFittingProgram = ({ type, agent, command }: HarnessProgram) =>
  [agent, command].filter((value) => value !== undefined).length === (type === "acp" ? 1 : 0);
export const PROGRAM_RULE = "must have either an agent or a command if its type is acp, and neither otherwise";
const excludes = (...names: readonly string[]) => ({ not: { anyOf: names.map((name) => ({ required: [name] })) } });
export const PROGRAM_METADATA = {
  oneOf: [
    { properties: { type: { const: "acp" } }, required: ["type", "agent"], ...excludes("command") },
    { properties: { type: { const: "acp" } }, required: ["type", "command"], ...excludes("agent") },
    { properties: { type: { enum: [...HarnessName.options] } }, ...excludes("agent", "command") },
  ],
};

/** The configuration of an agent. */
export const AmbientAgentConfig = v.pipe(
  v.object({
    /** The configuration's name. Defaults to the name of the skill. */
    name: v.exactOptional(Name),
    /** The model's id. Defaults to the team's model. */
    model_id: v.exactOptional(Id),
    ...AgentSettings,
    /** Additional instructions for the agent. */
    base_prompt: v.exactOptional(textOfBytes(65_536)),
    /** The environment to set up before the agent starts. */
    environment_id: v.exactOptional(Id),
    /** The skill to start from. Excludes `skills`. */
    skill_spec: v.exactOptional(SkillSpec),
    /** The skills to load, at most 20. Excludes `skill_spec`. */
    skills: v.exactOptional(v.pipe(v.array(SkillSpec), v.maxLength(20))),
    /** The agent's MCP servers: a map from name to server, at most 50. */
    mcp_servers: v.exactOptional(McpServers),
    /** The Git repositories to clone before the agent starts, at most 10. */
    repositories: v.exactOptional(v.pipe(v.array(Repository), v.maxLength(10))),
    /** Whether the agent may use a screen. Has no effect in this release. Defaults to false. */
    computer_use_enabled: v.exactOptional(v.boolean()),
    /**
     * Minutes for which an interactive or interrupted run waits for a follow-up, 0 to 60. With 0, it ends with its
     * turn. Defaults to 10.
     */
    idle_timeout_minutes: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(60))),
    /** The id of the self-hosted worker that executes the run. Defaults to `hosted`, a sandbox of the service. */
    worker_host: v.exactOptional(Id),
    /**
     * The limit of what the run and its descendants may spend on models, in US dollars. Defaults to the budget of the
     * parent run.
     */
    budget_usd: v.exactOptional(BudgetUsd),
    ...RunLimits,
    /** The program that runs the agent. Responses omit it for the default harness. */
    harness: v.exactOptional(
      v.pipe(
        v.object({
          /**
           * The harness to use. `oz` is an alias of `default`; `acp` is any agent that speaks the Agent Client Protocol:
           * `agent` names one that comes with the sandbox, or `command` starts another.
           */
          type: HarnessType,
          /** The model of this harness. Defaults to the configuration's `model_id`. */
          model_id: v.exactOptional(Id),
          /**
           * The reasoning level, which precedes that of the configuration. Third-party harnesses have names of their own.
           */
          reasoning_level: v.exactOptional(text(64, 1)),
          /** An agent of the type `acp` that comes with the sandbox, in a pinned version. */
          agent: v.exactOptional(AcpAgentName),
          /** The command that starts an agent of the type `acp` in the sandbox, for bash. It speaks over its standard streams. */
          command: v.exactOptional(textOfBytes(4096, 1)),
        }),
        v.check((given) => hasFittingProgram(given), PROGRAM_RULE),
        v.metadata(PROGRAM_METADATA),
      ),
    ),
    /**
     * The secrets with the API keys for the run's calls to Anthropic's and OpenAI's models, in place of the
     * deployment's keys. The model gateway uses them; the run's sandbox does not get them.
     */
    harness_auth_secrets: v.exactOptional(
      v.object({
        /** The name of the secret with the API key for Anthropic's models. */
        claude_auth_secret_name: v.exactOptional(Name),
        /** The name of the secret with the API key for OpenAI's models. */
        codex_auth_secret_name: v.exactOptional(Name),
      }),
    ),
    /**
     * The team's secrets that commands get as environment variables, besides those of the environment and the
     * identity, at most 50.
     */
    secrets: v.exactOptional(SecretReferences),
    /** Whose credentials the run uses: its creator's or its executor's. Has no effect in this release. */
    credential_strategy: v.exactOptional(v.nullable(v.picklist(["CREATOR", "EXECUTOR"]))),
    /** Public access to the run's session. Off by default. */
    session_sharing: v.exactOptional(
      v.object({
        /** The access of anyone with the link. `EDITOR` has the effect of `VIEWER` in this release. */
        public_access: v.exactOptional(v.picklist(["VIEWER", "EDITOR"])),
      }),
    ),
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
  /** The secrets that commands get as environment variables, including those of the environment and the identity. */
  secrets: v.exactOptional(
    v.array(
      v.object({
        /** The secret's name. */
        name: v.string(),
      }),
    ),
  ),
});
export type ResolvedAgentConfig = v.InferOutput<typeof ResolvedAgentConfig>;
