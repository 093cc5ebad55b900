import * as v from "valibot";
import { quoteForShell } from "../commands/shell-quote.ts";
import type { StepDiff } from "../engine/tool.ts";
import { formatHunks } from "../steps/diff.ts";
import { toMembers } from "../steps/value.ts";
import { type CommandLineAgent, isUuid, type McpServer, type StreamReader, type TurnInput, toEffort } from "./agent.ts";
import { CLAUDE_OBSERVER } from "./claude-observer.ts";
import { findCommand, OBSERVER_FILE } from "./command-output.ts";
import { type MessageRecorder, type ToolNames, toToolActivity } from "./message-recorder.ts";

const SYSTEM_PROMPT = "claude-system.md";
const MCP = "claude-mcp.json";
const EFFORTS = ["low", "medium", "high", "xhigh", "max"];

/** Anthropic's Claude Code. Its model API is Anthropic's Messages. */
export const claude: CommandLineAgent = {
  protocol: "command line",
  name: "claude",
  package: "@anthropic-ai/claude-code",
  // The wrapper that the package's install script would link; it starts the program for the platform.
  program: "@anthropic-ai/claude-code/cli-wrapper.cjs",
  api: "/anthropic",
  toolLimits: { include: false, exclude: true },
  files: ({ systemPrompt, mcpServers }) => ({
    ...(systemPrompt === undefined ? {} : { [SYSTEM_PROMPT]: systemPrompt }),
    [OBSERVER_FILE]: CLAUDE_OBSERVER,
    [MCP]: JSON.stringify({
      mcpServers: Object.fromEntries(mcpServers.map(([name, server]) => [name, toMcpConfig(server)])),
    }),
  }),
  script: (input) => [ENVIRONMENT, `node "$agent" ${buildArguments(input).join(" ")}`].join("\n"),
  reader,
  sessionFiles: (id) => `"$HOME"/.claude/projects/*/${id}.jsonl`,
  parseSession(file, workingDirectory) {
    const id = /"sessionId":"([0-9a-f-]{36})"/.exec(file.slice(0, 65_536))?.[1];
    if (!isUuid(id)) return undefined;
    return { id, path: `.claude/projects/${workingDirectory.replace(/[^a-zA-Z0-9]/g, "-")}/${id}.jsonl` };
  },
};

/** Disables requests to anything but the model API, and permission prompts, because the sandbox is the isolation boundary. */
const ENVIRONMENT = [
  'export ANTHROPIC_BASE_URL="http://127.0.0.1:$port/anthropic" ANTHROPIC_API_KEY=runyard IS_SANDBOX=1',
  "export DISABLE_TELEMETRY=1 DISABLE_AUTOUPDATER=1 DISABLE_ERROR_REPORTING=1 DISABLE_BUG_COMMAND=1",
  "export CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_INSTALLATION_CHECKS=1",
  "unset ANTHROPIC_AUTH_TOKEN CLAUDE_CODE_OAUTH_TOKEN CLAUDE_CODE_USE_BEDROCK CLAUDE_CODE_USE_VERTEX",
].join("\n");

function buildArguments(input: TurnInput): string[] {
  const { session, model, reasoningLevel, systemPrompt, mode, files } = input;
  const excluded = listExcludedTools(input);
  const effort = toEffort(reasoningLevel, EFFORTS);
  return [
    ...["-p", "--output-format", "stream-json", "--verbose", "--model", quoteForShell(model)],
    ...["--permission-mode", mode === "plan" ? "plan" : "bypassPermissions"],
    ...(effort === undefined ? [] : ["--effort", effort]),
    ...(systemPrompt === undefined
      ? []
      : ["--append-system-prompt", `"$(cat ${quoteForShell(`${files}/${SYSTEM_PROMPT}`)})"`]),
    ...["--mcp-config", quoteForShell(`${files}/${MCP}`)],
    ...(excluded.length === 0 ? [] : ["--disallowedTools", quoteForShell(excluded.join(","))]),
    ...(session === undefined ? [] : ["--resume", session]),
  ];
}

/** The agent's own names of tools of MCP servers. */
const listExcludedTools = ({ mcpServers }: TurnInput): string[] =>
  mcpServers.flatMap(([name, { tools }]) => (tools.exclude ?? []).map((tool) => `mcp__${name}__${tool}`));

const toMcpConfig = ({ address }: McpServer) =>
  "url" in address ? { type: "http", ...address } : { type: "stdio", ...address };

const Content = v.array(
  v.looseObject({
    type: v.string(),
    text: v.optional(v.string()),
    id: v.optional(v.string()),
    name: v.optional(v.string()),
    input: v.optional(v.unknown()),
    tool_use_id: v.optional(v.string()),
    content: v.optional(v.unknown()),
    is_error: v.optional(v.nullable(v.boolean())),
  }),
);
const Line = v.looseObject({
  type: v.string(),
  subtype: v.optional(v.string()),
  session_id: v.optional(v.string()),
  /** The call that started the subagent, in the messages of a subagent. */
  parent_tool_use_id: v.optional(v.nullable(v.string())),
  message: v.optional(v.object({ content: v.union([v.string(), Content]) })),
  /** What a tool returned to the agent's own interface. */
  tool_use_result: v.optional(v.unknown()),
  is_error: v.optional(v.boolean()),
  result: v.optional(v.string()),
  errors: v.optional(v.array(v.string())),
});

/** Lines of `--output-format stream-json`. */
function reader(recorder: MessageRecorder): StreamReader {
  let session: string | undefined;
  let ended: ReturnType<StreamReader["ended"]>;
  /** The commands that are running, by the id of their call. */
  const commands = new Map<string, string>();
  return {
    read(line) {
      const parsed = v.safeParse(Line, line);
      if (!parsed.success) return;
      const { type, session_id, message, parent_tool_use_id, is_error = false, result, errors } = parsed.output;
      if (isUuid(session_id)) session = session_id;
      if (type === "result") ended = { success: !is_error, summary: result ?? errors?.join("; ") ?? "" };
      if (type !== "assistant" && type !== "user") return;
      const content = typeof message?.content === "string" ? [] : (message?.content ?? []);
      for (const block of content) {
        const { id = "", name = "", input = {}, tool_use_id = "" } = block;
        // Record the actions of subagents, but not their texts.
        if (type === "assistant" && block.type === "text" && !parent_tool_use_id) recorder.text(block.text ?? "");
        if (type === "assistant" && block.type === "tool_use") {
          const { command } = toMembers(input);
          if (name === COMMAND_TOOL && typeof command === "string") commands.set(id, command);
          recorder.action(id, toToolActivity(TOOLS, name, input, toMcpInput));
        }
        if (type !== "user" || block.type !== "tool_result") continue;
        commands.delete(tool_use_id);
        const output = { stdout: formatContent(block.content) };
        const diff = content.length === 1 ? readDiff(parsed.output.tool_use_result) : undefined;
        recorder.result(tool_use_id, block.is_error ? "failed" : "completed", output, diff);
      }
    },
    output(piece) {
      const id = findCommand(commands, piece.script);
      if (id !== undefined) recorder.output(id, piece);
    },
    session: () => session,
    ended: () => ended,
  };
}

const Row = v.pipe(v.number(), v.integer(), v.minValue(0));
const Edited = v.looseObject({
  filePath: v.string(),
  structuredPatch: v.pipe(
    v.array(
      v.object({
        oldStart: Row,
        oldLines: Row,
        newStart: Row,
        newLines: Row,
        lines: v.array(v.pipe(v.string(), v.regex(/^[ +\\-][^\n]*$/))),
      }),
    ),
    v.maxLength(1_000),
  ),
});

/** Reads the change of a file. Undefined for the result of a tool that changed none. */
function readDiff(result: unknown): StepDiff | undefined {
  const parsed = v.safeParse(Edited, result);
  return parsed.success ? formatHunks(parsed.output.filePath, parsed.output.structuredPatch) : undefined;
}

function toMcpInput(tool: string, input: unknown): object | undefined {
  if (!tool.startsWith("mcp__")) return undefined;
  const [, server, name] = tool.split("__");
  return { server, tool: name, arguments: input };
}

const COMMAND_TOOL = "Bash";
const TOOLS: ToolNames = {
  [COMMAND_TOOL]: { category: "command", name: "run_command" },
  Read: { category: "files", name: "read_files" },
  Write: { category: "files", name: "edit_files" },
  Edit: { category: "files", name: "edit_files" },
  MultiEdit: { category: "files", name: "edit_files" },
  NotebookEdit: { category: "files", name: "edit_files" },
  Glob: { category: "search", name: "search_files" },
  Grep: { category: "search", name: "search_files" },
  WebFetch: { category: "search", name: "WebFetch" },
  WebSearch: { category: "search", name: "WebSearch" },
  TodoWrite: { category: "documents", name: "create_plan" },
  ExitPlanMode: { category: "documents", name: "create_plan" },
  Skill: { category: "skill", name: "Skill" },
};

const Texts = v.array(v.looseObject({ text: v.optional(v.string()), type: v.optional(v.string()) }));

function formatContent(content: unknown): string {
  if (typeof content === "string") return content;
  const parsed = v.safeParse(Texts, content);
  return parsed.success ? parsed.output.map(({ text, type }) => text ?? `[${type ?? "part"}]`).join("\n") : "";
}
