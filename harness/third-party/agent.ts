import type { RunContext } from "../setup/run-context.ts";
import { formatError } from "../support/stop.ts";
import { expandServer, listEnabledServers, type ServerConfig, type Values } from "../tools/remote/mcp-settings.ts";
import type { CommandOutput } from "./command-output.ts";
import type { MessageRecorder } from "./message-recorder.ts";

/** An MCP server that is a command, or a URL. */
type McpAddress =
  | { readonly command: string; readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> }
  | { readonly url: string; readonly headers: Readonly<Record<string, string>> };

/** An MCP server, and the tools of it that the agent may use. */
export interface McpServer {
  readonly address: McpAddress;
  readonly tools: NonNullable<ServerConfig["tools"]>;
}

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

/** The provider's own name of a model, by which agents know it: the part of its id after the slash. */
export const toModelName = (modelId: string): string => modelId.slice(modelId.indexOf("/") + 1);

/** Chooses an agent's own name of a reasoning level, from the lowest to the highest; undefined for a level that it does not know. */
export function toEffort(level: string | undefined, efforts: readonly string[]): string | undefined {
  if (level === undefined || efforts.includes(level)) return level;
  if (level === "none" || level === "minimal") return efforts.at(0);
  return level === "max" ? efforts.at(-1) : undefined;
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

/** An agent that comes with the sandbox, in the version of image/package-lock.json. */
export interface InstalledAgent {
  /** The type of its harness, or the `agent` of the type `acp`. */
  readonly name: string;
  /** Its npm package. */
  readonly package: string;
  /** Its program below `node_modules`. */
  readonly program: string;
  readonly toolLimits: ToolLimits;
}

/** How an agent can be limited to some of the tools of an MCP server. */
interface ToolLimits {
  /** To the tools of `tools.include`. */
  readonly include: boolean;
  /** To others than those of `tools.exclude`. */
  readonly exclude: boolean;
}

/** An agent that Node runs once per turn: how to start it, how to read its output, and where it stores its sessions. */
export interface CommandLineAgent extends InstalledAgent {
  readonly protocol: "command line";
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

/** The MCP servers of a run as an agent can use them. */
export interface McpServers {
  readonly servers: readonly (readonly [name: string, server: McpServer])[];
  /** Which others cannot be used, and why. */
  readonly unavailable: readonly string[];
}

/**
 * Converts the run's MCP servers for an agent: with names that every agent accepts, each once, without those that are disabled or that
 * only the service knows, and with the values of the run's secrets and variables that they name.
 */
export function toMcpServers(servers: RunContext["mcp_servers"], values: Values, limits: ToolLimits): McpServers {
  const converted = new Map<string, McpServer>();
  const unavailable: string[] = [];
  for (const [name, config] of listEnabledServers(servers)) {
    try {
      if (config.tools?.include !== undefined && !limits.include)
        throw new Error(
          `this agent cannot be limited to the tools of tools.include${limits.exclude ? ": use tools.exclude" : ""}`,
        );
      if ((config.tools?.exclude ?? []).length > 0 && !limits.exclude)
        throw new Error("this agent cannot be kept from the tools of tools.exclude: remove it, or the server");
      const server = toMcpServer(expandServer(config, values));
      if (server !== undefined) converted.set(toFreeName(name.replace(/[^A-Za-z0-9_-]/g, "-"), converted), server);
    } catch (error) {
      unavailable.push(`${name}: ${formatError(error)}`);
    }
  }
  return { servers: [...converted], unavailable };
}

/** Returns the name, or with a number where another server has it already. */
function toFreeName(name: string, taken: ReadonlyMap<string, unknown>): string {
  let free = name;
  for (let number = 2; taken.has(free); number++) free = `${name}-${number}`;
  return free;
}

function toMcpServer(config: ServerConfig): McpServer | undefined {
  const { command, args = [], env = {}, url, headers = {}, tools = {} } = config;
  if (command !== undefined) return { address: { command, args, env }, tools };
  return url === undefined ? undefined : { address: { url, headers }, tools };
}

/** Instructions for an agent in plan mode. */
export const PLAN_ONLY =
  "You are in plan mode: examine the workspace and answer with a plan. Do not change files or run anything that changes something.";

export const isUuid = (text: unknown): text is string =>
  typeof text === "string" && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
