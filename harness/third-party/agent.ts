import type { RunContext } from "../setup/setup.ts";
import type { CommandOutput } from "./command-output.ts";
import type { MessageRecorder } from "./message-recorder.ts";

/** The third-party command-line agents that a run may request. */
export type AgentType = "claude" | "codex" | "gemini";

/** An MCP server that is a command, or a URL. */
export type McpServer =
  | { readonly command: string; readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> }
  | { readonly url: string; readonly headers: Readonly<Record<string, string>> };

/** The input of one turn of such an agent. */
export interface TurnInput {
  /** The session to continue; undefined starts a new one. */
  readonly session: string | undefined;
  /** The provider's own name of the model. */
  readonly model: string;
  readonly reasoningLevel: string | undefined;
  /** Shapes the agent's behaviour, besides the instructions. */
  readonly systemPrompt: string | undefined;
  readonly mode: RunContext["mode"];
  /** The run's MCP servers, by name, with the values of their secrets. */
  readonly mcpServers: readonly (readonly [name: string, server: McpServer])[];
  /** As commands see it. */
  readonly workingDirectory: string;
  /** The directory of the `files`, as commands see it; commands cannot change them. */
  readonly files: string;
}

/** How an agent's own turn ended. */
export interface Ended {
  readonly success: boolean;
  readonly summary: string;
}

/** Reads the output of an agent line by line. */
export interface StreamReader {
  /** Reads one line, parsed as JSON. */
  read(line: unknown): void;
  /** Takes output of a command that is running, if taps can observe the agent's commands. */
  output?(output: CommandOutput): void;
  /** The session of the turn, once the agent has reported it. */
  session(): string | undefined;
  ended(): Ended | undefined;
}

/** A session as described by its file. */
export interface Session {
  readonly id: string;
  /** The path of the file below HOME; only letters, digits and `.-_/`. */
  readonly path: string;
}

/** A command-line agent: how to start it, how to read its output, and where it stores its sessions. */
export interface ThirdPartyAgent {
  readonly type: AgentType;
  /** Its npm package. */
  readonly package: string;
  /** Its program below `node_modules`, which Node runs. */
  readonly program: string;
  /** The path of its model API below the forwarder's address. */
  readonly api: string;
  /** The files that it reads, by name. */
  files(input: TurnInput): Readonly<Record<string, string>>;
  /**
   * A bash script that starts it and exits with its exit code. `$agent` is the path of its program, `$port` the local port of its model
   * API. Standard input holds the instructions.
   */
  script(input: TurnInput): string;
  reader(recorder: MessageRecorder): StreamReader;
  /** A bash pattern for files below HOME; the largest match is the file of the session. */
  sessionFiles(id: string): string;
  /** Returns the session of a file; undefined if the file is not one of this agent's sessions. */
  parseSession(file: string, workingDirectory: string): Session | undefined;
}

/**
 * Converts the run's MCP servers for agents: with names that every agent accepts, each once, and without servers that only the
 * service knows.
 */
export function toMcpServers(servers: RunContext["mcp_servers"]): [name: string, server: McpServer][] {
  const converted = new Map<string, McpServer>();
  for (const [name, config] of Object.entries(servers ?? {})) {
    const server = toMcpServer(config);
    if (server !== undefined) converted.set(toFreeName(name.replace(/[^A-Za-z0-9_-]/g, "-"), converted), server);
  }
  return [...converted];
}

/** Returns the name, or with a number where another server has it already. */
function toFreeName(name: string, taken: ReadonlyMap<string, unknown>): string {
  let free = name;
  for (let number = 2; taken.has(free); number++) free = `${name}-${number}`;
  return free;
}

type Config = NonNullable<RunContext["mcp_servers"]>[string];

function toMcpServer({ command, args = [], env = {}, url, headers = {} }: Config): McpServer | undefined {
  if (command !== undefined) return { command, args, env };
  return url === undefined ? undefined : { url, headers };
}

/** Instructions for an agent in plan mode. */
export const PLAN_ONLY =
  "You are in plan mode: examine the workspace and answer with a plan. Do not change files or run anything that changes something.";

export const isUuid = (text: unknown): text is string =>
  typeof text === "string" && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
