import { pathToFileURL } from "node:url";
import * as v from "valibot";
import { quoteForShell } from "../commands/shell-quote.ts";
import { toMembers } from "../steps/value.ts";
import { type CommandLineAgent, isUuid, type McpServer, type StreamReader, type TurnInput } from "./agent.ts";
import { findCommand, TAP_FILE } from "./command-output.ts";
import { type MessageRecorder, type ToolNames, toToolActivity } from "./message-recorder.ts";

const SETTINGS = "gemini-settings.json";
const PROJECTS = "gemini-projects.json";
const SYSTEM_PROMPT = "gemini-system.md";
const OBSERVER = "gemini-observer.mjs";
/** The agent's own name for the workspace. */
const PROJECT = "workspace";

/** Google's Gemini CLI. Its model API is Google's, which the forwarder translates. */
export const gemini: CommandLineAgent = {
  protocol: "command line",
  name: "gemini",
  package: "@google/gemini-cli",
  program: "@google/gemini-cli/bundle/gemini.js",
  api: "/gemini",
  toolLimits: { include: true, exclude: true },
  files: ({ systemPrompt, workingDirectory, mcpServers }) => ({
    [SETTINGS]: JSON.stringify({
      ...QUIET,
      mcpServers: Object.fromEntries(mcpServers.map(([name, server]) => [name, toMcpConfig(server)])),
    }),
    [PROJECTS]: JSON.stringify({ projects: { [workingDirectory]: PROJECT } }),
    [OBSERVER]: OBSERVE_COMMANDS,
    ...(systemPrompt === undefined ? {} : { [SYSTEM_PROMPT]: systemPrompt }),
  }),
  script,
  reader,
  sessionFiles: (id) => `"$HOME"/.gemini/tmp/${PROJECT}/chats/session-*-${id.slice(0, 8)}.jsonl`,
  parseSession(file) {
    const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), Meta), file.slice(0, file.indexOf("\n")));
    if (!parsed.success) return undefined;
    const { sessionId: id, startTime } = parsed.output;
    const minute = startTime.slice(0, 16).replace(":", "-");
    return { id, path: `.gemini/tmp/${PROJECT}/chats/session-${minute}-${id.slice(0, 8)}.jsonl` };
  },
};

/**
 * A module that Node loads before the agent: it also reads the output of the shells that the agent starts for commands. It changes nothing
 * for the agent, which reads the same streams.
 */
const OBSERVE_COMMANDS = `import childProcess from "node:child_process";
import { syncBuiltinESMExports } from "node:module";
import { createTap } from "./${TAP_FILE}";
const { spawn } = childProcess;
childProcess.spawn = (file, args, ...rest) => {
  const child = spawn(file, args, ...rest);
  if (Array.isArray(args) && args[0] === "-c" && /(^|\\/)bash$/.test(file) && child.stdout && child.stderr) {
    const tap = createTap(String(args[1]));
    for (const stream of [child.stdout, child.stderr]) stream.on("data", tap.push);
    child.on("close", tap.end);
  }
  return child;
};
syncBuiltinESMExports();
`;

/** Disables telemetry, updates, the sign-in prompt, and tools that other models do not have. */
const QUIET = {
  security: { auth: { selectedType: "gemini-api-key" } },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  // Google's servers execute these tools within calls of Google's own models.
  tools: { exclude: ["google_web_search", "web_fetch"] },
  general: { enableAutoUpdate: false, enableAutoUpdateNotification: false, checkpointing: { enabled: false } },
};

const toMcpConfig = ({ address, tools: { include, exclude } }: McpServer) => ({
  ...("url" in address ? { httpUrl: address.url, headers: address.headers } : address),
  trust: true,
  ...(include === undefined ? {} : { includeTools: include }),
  ...(exclude === undefined ? {} : { excludeTools: exclude }),
});

/** The first line of a session's file. */
const Meta = v.object({
  sessionId: v.pipe(v.string(), v.uuid()),
  startTime: v.pipe(v.string(), v.regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:/)),
});

function script({ session, model, systemPrompt, mode, workingDirectory, files }: TurnInput): string {
  const copy = (name: string, to: string) => `cat ${quoteForShell(`${files}/${name}`)} > "$HOME/.gemini/${to}"`;
  const approval = mode === "plan" ? "plan" : "yolo";
  return [
    'export GOOGLE_GEMINI_BASE_URL="http://127.0.0.1:$port/gemini" GEMINI_API_KEY=runyard',
    "export GEMINI_TELEMETRY_ENABLED=false GEMINI_CLI_NO_RELAUNCH=true NO_COLOR=1",
    "unset GOOGLE_API_KEY GOOGLE_GENAI_USE_VERTEXAI GOOGLE_GENAI_USE_GCA GOOGLE_CLOUD_PROJECT",
    `mkdir -p "$HOME/.gemini/tmp/${PROJECT}/chats" "$HOME/.gemini/history/${PROJECT}"`,
    copy(SETTINGS, "settings.json"),
    copy(PROJECTS, "projects.json"),
    `printf %s ${quoteForShell(workingDirectory)} | tee "$HOME/.gemini/tmp/${PROJECT}/.project_root" > "$HOME/.gemini/history/${PROJECT}/.project_root"`,
    systemPrompt === undefined ? ":" : copy(SYSTEM_PROMPT, "GEMINI.md"),
    `node --import ${quoteForShell(pathToFileURL(`${files}/${OBSERVER}`).href)} "$agent" --output-format stream-json --approval-mode ${approval} --skip-trust --model ${quoteForShell(model)} ${
      session === undefined ? "" : `--resume ${session}`
    }`,
  ].join("\n");
}

const Line = v.looseObject({
  type: v.string(),
  session_id: v.optional(v.string()),
  role: v.optional(v.string()),
  content: v.optional(v.string()),
  delta: v.optional(v.boolean()),
  tool_name: v.optional(v.string()),
  tool_id: v.optional(v.string()),
  parameters: v.optional(v.unknown()),
  status: v.optional(v.string()),
  output: v.optional(v.unknown()),
  severity: v.optional(v.string()),
  message: v.optional(v.string()),
  error: v.optional(v.nullable(v.looseObject({ message: v.optional(v.string()) }))),
});
type Line = v.InferOutput<typeof Line>;

/** Lines of `--output-format stream-json`. */
function reader(recorder: MessageRecorder): StreamReader {
  let session: string | undefined;
  let ended: ReturnType<StreamReader["ended"]>;
  let failure = "";
  let isSpeaking = false;
  /** The commands that are running, by the id of their call. */
  const commands = new Map<string, string>();

  const speak = ({ content = "", delta = false }: Line) => {
    if (isSpeaking && delta) recorder.more(content);
    else recorder.text(content);
    isSpeaking = true;
  };
  return {
    read(input) {
      const parsed = v.safeParse(Line, input);
      if (!parsed.success) return;
      const line = parsed.output;
      if (line.type === "message" && line.role === "assistant") return speak(line);
      isSpeaking = false;
      const { tool_id = "", tool_name = "", parameters = {}, status, output, error } = line;
      if (line.type === "init" && isUuid(line.session_id)) session = line.session_id;
      if (line.type === "tool_use") {
        const { command } = toMembers(parameters);
        if (tool_name === COMMAND_TOOL && typeof command === "string") commands.set(tool_id, command);
        recorder.action(tool_id, toToolActivity(TOOLS, tool_name, parameters, toMcpInput));
      }
      if (line.type === "tool_result") {
        commands.delete(tool_id);
        recorder.result(tool_id, status === "success" ? "completed" : "failed", {
          stdout: output ?? error?.message ?? "",
        });
      }
      if (line.type === "error") failure = line.message ?? failure;
      // Its final message is its response, which the recorder has.
      if (line.type === "result")
        ended =
          status === "success"
            ? { success: true, summary: "" }
            : { success: false, summary: error?.message ?? failure };
    },
    output(piece) {
      const id = findCommand(commands, piece.script);
      if (id !== undefined) recorder.output(id, piece);
    },
    session: () => session,
    ended: () => ended,
  };
}

const toMcpInput = (tool: string, input: unknown): object | undefined =>
  tool.startsWith("mcp_") ? { tool, arguments: input } : undefined;

const COMMAND_TOOL = "run_shell_command";
const TOOLS: ToolNames = {
  [COMMAND_TOOL]: { category: "command", name: "run_command" },
  read_file: { category: "files", name: "read_files" },
  read_many_files: { category: "files", name: "read_files" },
  list_directory: { category: "files", name: "read_files" },
  replace: { category: "files", name: "edit_files" },
  write_file: { category: "files", name: "edit_files" },
  glob: { category: "search", name: "search_files" },
  grep_search: { category: "search", name: "search_files" },
  write_todos: { category: "documents", name: "create_plan" },
  exit_plan_mode: { category: "documents", name: "create_plan" },
  activate_skill: { category: "skill", name: "activate_skill" },
};
