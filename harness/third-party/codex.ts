import * as v from "valibot";
import { quoteForShell } from "../commands/shell-quote.ts";
import {
  type CommandLineAgent,
  isUuid,
  type McpServer,
  PLAN_ONLY,
  type StreamReader,
  type TurnInput,
  toEffort,
} from "./agent.ts";
import type { MessageRecorder, ToolActivity } from "./message-recorder.ts";

const CONFIG = "codex.toml";
const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh"];

/** OpenAI's Codex. Its model API is OpenAI's Responses. */
export const codex: CommandLineAgent = {
  protocol: "command line",
  name: "codex",
  package: "@openai/codex",
  program: "@openai/codex/bin/codex.js",
  api: "/openai/v1",
  toolLimits: { include: true, exclude: true },
  files: (input) => ({ [CONFIG]: buildConfig(input) }),
  script: ({ session, files }) =>
    [
      'export RUNYARD_MODEL_KEY=runyard CODEX_HOME="$HOME/.codex"',
      "unset OPENAI_API_KEY OPENAI_BASE_URL CODEX_API_KEY",
      `mkdir -p "$CODEX_HOME" && cat ${quoteForShell(`${files}/${CONFIG}`)} > "$CODEX_HOME/config.toml"`,
      // The sandbox around it is the isolation boundary, and sandboxes cannot be nested.
      `node "$agent" exec ${session === undefined ? "" : "resume "}--json --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox \\`,
      `  -c "model_providers.runyard.base_url=\\"http://127.0.0.1:$port/openai/v1\\"" ${session ?? ""} -`,
    ].join("\n"),
  reader,
  sessionFiles: (id) => `"$HOME"/.codex/sessions/*/*/*/rollout-*-${id}.jsonl`,
  parseSession(file) {
    const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), Meta), file.slice(0, file.indexOf("\n")));
    if (!parsed.success) return undefined;
    const { id, timestamp } = parsed.output.payload;
    const [date = "", time = ""] = timestamp.slice(0, 19).split("T");
    const name = `rollout-${date}T${time.replaceAll(":", "-")}-${id}.jsonl`;
    return { id, path: `.codex/sessions/${date.replaceAll("-", "/")}/${name}` };
  },
};

/** The first line of a session's file. */
const Meta = v.object({
  type: v.literal("session_meta"),
  payload: v.object({
    id: v.pipe(v.string(), v.uuid()),
    timestamp: v.pipe(v.string(), v.regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}/)),
  }),
});

function buildConfig({ model, reasoningLevel, systemPrompt, mode, mcpServers }: TurnInput): string {
  const instructions = [systemPrompt, ...(mode === "plan" ? [PLAN_ONLY] : [])].filter((text) => text !== undefined);
  const effort = toEffort(reasoningLevel, EFFORTS);
  return [
    formatSetting("model", model),
    formatSetting("model_provider", "runyard"),
    ...(effort === undefined ? [] : [formatSetting("model_reasoning_effort", effort)]),
    ...(instructions.length === 0 ? [] : [formatSetting("developer_instructions", instructions.join("\n\n"))]),
    formatSetting("approval_policy", "never"),
    formatSetting("sandbox_mode", "danger-full-access"),
    formatSetting("check_for_update_on_startup", false),
    formatSetting("web_search", "disabled"),
    "[model_providers.runyard]",
    formatSetting("name", "Runyard"),
    formatSetting("base_url", "http://127.0.0.1"),
    formatSetting("env_key", "RUNYARD_MODEL_KEY"),
    formatSetting("wire_api", "responses"),
    formatSetting("requires_openai_auth", false),
    ...mcpServers.flatMap(([name, server]) => formatMcpServer(name, server)),
    // Each of these features would send requests to OpenAI's servers.
    "[features]",
    ...["plugins", "remote_plugin", "apps"].map((feature) => formatSetting(feature, false)),
    "[analytics]",
    formatSetting("enabled", false),
    "[feedback]",
    formatSetting("enabled", false),
    "",
  ].join("\n");
}

/** JSON values are valid TOML, except for DEL. */
const formatSetting = (name: string, value: unknown): string =>
  `${name} = ${JSON.stringify(value).replaceAll("\u007f", "")}`;

function formatMcpServer(name: string, { address: server, tools: { include, exclude } }: McpServer): string[] {
  const table = (members: Readonly<Record<string, string>>) =>
    Object.entries(members).map(([member, value]) => formatSetting(JSON.stringify(member), value));
  const own =
    "url" in server
      ? [formatSetting("url", server.url)]
      : [formatSetting("command", server.command), formatSetting("args", server.args)];
  const [part, members] = "url" in server ? ["http_headers", server.headers] : ["env", server.env];
  const limits = [
    ...(include === undefined ? [] : [formatSetting("enabled_tools", include)]),
    ...(exclude === undefined ? [] : [formatSetting("disabled_tools", exclude)]),
  ];
  return [`[mcp_servers.${name}]`, ...own, ...limits, `[mcp_servers.${name}.${part}]`, ...table(members)];
}

const Item = v.looseObject({
  id: v.string(),
  type: v.string(),
  text: v.optional(v.string()),
  command: v.optional(v.string()),
  aggregated_output: v.optional(v.string()),
  exit_code: v.optional(v.nullable(v.number())),
  status: v.optional(v.string()),
  message: v.optional(v.string()),
});
const Line = v.looseObject({
  type: v.string(),
  thread_id: v.optional(v.string()),
  item: v.optional(Item),
  message: v.optional(v.string()),
  error: v.optional(v.nullable(v.object({ message: v.string() }))),
});
type Item = v.InferOutput<typeof Item>;

/** Lines of `codex exec --json`. */
function reader(recorder: MessageRecorder): StreamReader {
  const begun = new Set<string>();
  let session: string | undefined;
  let ended: ReturnType<StreamReader["ended"]>;
  let failure = "";

  const begin = (item: Item) => {
    if (begun.has(item.id)) return;
    begun.add(item.id);
    recorder.action(item.id, toToolActivity(item));
  };
  const complete = (item: Item) => {
    if (item.type === "agent_message") return recorder.text(item.text ?? "");
    if (item.type === "reasoning" || item.type === "error") return;
    begin(item);
    const isFailed = item.status === "failed" || item.status === "declined";
    recorder.result(
      item.id,
      isFailed ? (item.status === "declined" ? "denied" : "failed") : "completed",
      toOutput(item),
    );
  };
  return {
    read(line) {
      const parsed = v.safeParse(Line, line);
      if (!parsed.success) return;
      const { type, thread_id, item, message, error } = parsed.output;
      if (isUuid(thread_id)) session = thread_id;
      if (type === "item.started" && item !== undefined && ACTIONS.has(item.type)) begin(item);
      if (type === "item.completed" && item !== undefined) complete(item);
      if (type === "error") failure = message ?? failure;
      // Its final message is its response, which the recorder has.
      if (type === "turn.completed") ended = { success: true, summary: "" };
      if (type === "turn.failed") ended = { success: false, summary: error?.message ?? failure };
    },
    session: () => session,
    ended: () => ended,
  };
}

const ACTIONS = new Set(["command_execution", "file_change", "mcp_tool_call", "web_search", "todo_list"]);

function toToolActivity({
  id: _,
  type,
  status: __,
  aggregated_output: ___,
  exit_code: ____,
  text: _____,
  ...item
}: Item): ToolActivity {
  switch (type) {
    case "command_execution":
      return { category: "command", name: "run_command", input: { command: unwrapCommand(item.command ?? "") } };
    case "file_change":
      return { category: "files", name: "edit_files", input: { changes: item["changes"] } };
    case "mcp_tool_call":
      return {
        category: "integration",
        name: "call_mcp_tool",
        input: { server: item["server"], tool: item["tool"], arguments: item["arguments"] },
      };
    case "web_search":
      return { category: "search", name: type, input: { query: item["query"] } };
    case "todo_list":
      return { category: "documents", name: "create_plan", input: { items: item["items"] } };
    default:
      return { category: "integration", name: type, input: item };
  }
}

/** Extracts the model's command from the shell call that the agent wraps around it, however it quotes the command. */
function unwrapCommand(command: string): string {
  const [, word] = /^(?:\/\S+\/)?(?:ba|z)?sh -l?c ([\s\S]+)$/.exec(command) ?? [];
  return (word === undefined ? undefined : unquoteWord(word)) ?? command;
}

/** A part of a word of the shell: in single quotes, in double quotes, after a backslash, or plain. */
const WORD_PART = /'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])|([^\s'"\\]+)/gy;

/** The text of a word of the shell. Undefined for anything else than one word. */
function unquoteWord(word: string): string | undefined {
  const parts = [...word.matchAll(WORD_PART)];
  if (parts.reduce((length, [part]) => length + part.length, 0) !== word.length) return undefined;
  const texts = parts.map(
    ([, single, double, escaped, plain]) =>
      single ?? double?.replaceAll(/\\(["\\$`])/g, "$1") ?? escaped ?? plain ?? "",
  );
  return texts.join("");
}

function toOutput(item: Item): Record<string, unknown> {
  if (item.type === "command_execution")
    return { exit_code: item.exit_code ?? null, stdout: item.aggregated_output ?? "" };
  const output = item["result"] ?? item["error"];
  return output === undefined || output === null ? {} : { result: output };
}
