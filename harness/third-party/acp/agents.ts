import type { ModelApi } from "../../agent/transport.ts";
import type { InstalledAgent } from "../agent.ts";

/** How an agent calls its model. */
export interface ModelAccess {
  readonly api: ModelApi;
  /** The provider's own name of the model. */
  readonly model: string;
  /** The address of the API, which ends with `/anthropic` or `/openai/v1`. */
  readonly url: string;
}

/** An agent that speaks the Agent Client Protocol: how to start it. */
export interface AcpAgent extends InstalledAgent {
  readonly protocol: "acp";
  /** Whether Node runs its program. */
  readonly needsNode: boolean;
  /** What makes its program speak the protocol. */
  args(access: ModelAccess): readonly string[];
  /** Files of its home, by path, that it finds when it starts. */
  readonly home?: Readonly<Record<string, string>>;
  /** Its environment variables, besides those that every agent gets. */
  variables(access: ModelAccess): Readonly<Record<string, string>>;
}

/** Its npm package `opencode-ai` is a launcher, whose install script would choose one of these packages. */
const OPENCODE = `opencode-${process.platform}-${process.arch}`;

const OPENCODE_PLUGINS = { "@opencode-ai/plugin": "*" };

/** No telemetry, no updates, and no calls of the model besides those of the turn. */
const QWEN_SETTINGS = {
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  general: { enableAutoUpdate: false },
  ui: { enableFollowupSuggestions: false },
};

/** The protocol passes servers on whole. */
export const ACP_TOOL_LIMITS = { include: false, exclude: false };

export const ACP_AGENTS: readonly AcpAgent[] = [
  {
    protocol: "acp",
    name: "opencode",
    package: OPENCODE,
    program: `${OPENCODE}/bin/opencode`,
    toolLimits: ACP_TOOL_LIMITS,
    needsNode: false,
    args: () => ["acp"],
    // It would install the package for its plugins in each home, and wait for the registry, unless one like it is installed.
    home: {
      ".config/opencode/node_modules/.keep": "",
      ".config/opencode/package-lock.json": JSON.stringify({ packages: { "": { dependencies: OPENCODE_PLUGINS } } }),
    },
    variables: (access) => ({
      OPENCODE_CONFIG_CONTENT: JSON.stringify(toOpencodeConfig(access)),
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
    }),
  },
  {
    protocol: "acp",
    name: "qwen-code",
    package: "@qwen-code/qwen-code",
    program: "@qwen-code/qwen-code/cli-entry.js",
    toolLimits: ACP_TOOL_LIMITS,
    needsNode: true,
    args: ({ api, model }) => [
      ...["--acp", "--auth-type", QWEN_AUTH[api], "--model", model],
      // Other modes decide by further calls of the model, and let edits pass in plan mode.
      ...["--approval-mode", "default"],
    ],
    home: { ".qwen/settings.json": JSON.stringify(QWEN_SETTINGS) },
    // Its first request has the tools of MCP servers only if it waits for them.
    variables: () => ({ QWEN_CODE_NO_RELAUNCH: "true", QWEN_CODE_LEGACY_MCP_BLOCKING: "1" }),
  },
];

const QWEN_AUTH: Readonly<Record<ModelApi, string>> = {
  messages: "anthropic",
  chat: "openai",
  responses: "openai-responses",
};

/** The packages of opencode for an API; they are part of its program. */
const OPENCODE_APIS: Readonly<Record<ModelApi, string>> = {
  messages: "@ai-sdk/anthropic",
  chat: "@ai-sdk/openai-compatible",
  responses: "@ai-sdk/openai",
};

/** It asks for every tool, those of MCP servers too, and the harness answers; of several that match, the last counts. */
const OPENCODE_PERMISSION = {
  "*": "ask",
  // These only read, or change nothing but the agent's own state.
  read: { "*": "allow", "*.env": "deny", "*.env.*": "deny", "*.env.example": "allow" },
  ...{ glob: "allow", grep: "allow", list: "allow", lsp: "allow", skill: "allow", task: "allow" },
  ...{ todoread: "allow", todowrite: "allow", codesearch: "allow", websearch: "allow" },
};

function toOpencodeConfig({ api, model, url }: ModelAccess) {
  const baseURL = api === "messages" ? `${url}/v1` : url;
  const id = `runyard/${model}`;
  return {
    ...{ model: id, small_model: id, enabled_providers: ["runyard"], autoupdate: false, share: "disabled" },
    provider: {
      runyard: {
        npm: OPENCODE_APIS[api],
        name: "Runyard",
        options: { baseURL, apiKey: "runyard" },
        models: { [model]: { name: model, tool_call: true, limit: { context: 200_000, output: 32_000 } } },
      },
    },
    permission: OPENCODE_PERMISSION,
  };
}
