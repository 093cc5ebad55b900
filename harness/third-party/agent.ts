import type { RunContext } from "../setup/setup.ts";
import type { MessageRecorder } from "./message-recorder.ts";

/** The command-line agents of others that a run may ask for. */
export type AgentType = "claude" | "codex" | "gemini";

/** An MCP server that is a command, or a URL. */
export type McpServer =
  | { readonly command: string; readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> }
  | { readonly url: string; readonly headers: Readonly<Record<string, string>> };

/** What one turn of such an agent is started with. */
export interface Asked {
  /** The session that it goes on with; undefined: a new one. */
  readonly session: string | undefined;
  /** The provider's own name of the model, as far as the agent is to know it. */
  readonly model: string;
  readonly reasoningLevel: string | undefined;
  /** What shapes the agent's behaviour beside what is asked. */
  readonly systemPrompt: string | undefined;
  readonly mode: RunContext["mode"];
  /** The run's MCP servers, by name, with the values of their secrets. */
  readonly mcpServers: readonly (readonly [name: string, server: McpServer])[];
  /** As commands see it. */
  readonly workingDirectory: string;
  /** Where the `files` are, as commands see it; none of them can be changed by a command. */
  readonly files: string;
}

/** How an agent's own turn ended; nothing where it did not say. */
export interface Ended {
  readonly success: boolean;
  readonly summary: string;
}

/** Reads what an agent prints while it works, line by line. */
export interface StreamReader {
  /** Takes in one line, which is JSON. */
  read(line: unknown): void;
  /** The session that the turn belongs to, once the agent has named it. */
  session(): string | undefined;
  ended(): Ended | undefined;
}

/** A session as its own file tells of it. */
export interface Session {
  readonly id: string;
  /** Where the agent looks for that file, below HOME; only letters, digits and `.-_/`. */
  readonly path: string;
}

/** One command-line agent: how it is started, what it prints, and where it keeps its sessions. */
export interface ThirdPartyAgent {
  readonly type: AgentType;
  /** The package that brings it. */
  readonly package: string;
  /** Its program below `node_modules`, which node runs. */
  readonly program: string;
  /** The path below the forwarder's address at which it finds its model API. */
  readonly api: string;
  /** Files that it reads, by name. */
  files(asked: Asked): Readonly<Record<string, string>>;
  /**
   * Bash that starts it and ends with its exit code. `$agent` is its program's path, `$port` the port of this machine at which
   * its model API answers. What is asked comes by standard input.
   */
  script(asked: Asked): string;
  reader(recorder: MessageRecorder): StreamReader;
  /** A pattern of bash for the files below HOME of one of which the session is; the largest is it. */
  sessionFiles(id: string): string;
  /** The session that a file of it is of; undefined where it is none of this agent's. */
  sessionOf(file: string, workingDirectory: string): Session | undefined;
}

/** The servers of a run as agents take them: by names that each of them takes, and without those that only the service knows. */
export function toMcpServers(servers: RunContext["mcp_servers"]): [name: string, server: McpServer][] {
  return Object.entries(servers ?? {}).flatMap(([name, config]) => {
    const server = toMcpServer(config);
    return server === undefined ? [] : [[name.replace(/[^A-Za-z0-9_-]/g, "-"), server] satisfies [string, McpServer]];
  });
}

type Config = NonNullable<RunContext["mcp_servers"]>[string];

function toMcpServer({ command, args = [], env = {}, url, headers = {} }: Config): McpServer | undefined {
  if (command !== undefined) return { command, args, env };
  return url === undefined ? undefined : { url, headers };
}

/** Instructions for an agent that is only to plan. */
export const PLAN_ONLY =
  "You are in plan mode: look into what is there and answer with a plan. Change no file and start nothing that changes anything.";

export const isUuid = (text: unknown): text is string =>
  typeof text === "string" && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
