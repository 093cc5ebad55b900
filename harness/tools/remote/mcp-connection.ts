import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport, StreamableHTTPError } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type {
  CallToolResult,
  GetPromptResult,
  Tool as ListedTool,
  ReadResourceResult,
} from "@modelcontextprotocol/sdk/types.js";
import { CallToolResultSchema, ListToolsResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { formatError } from "../../support/stop.ts";
import { type ProcessPlace, ProcessTransport } from "./mcp-process.ts";
import { allowsTool, expandServer, type ServerConfig } from "./mcp-settings.ts";
import { explainRefusal } from "./mcp-sign-in.ts";
import { fetchWithTokens, type ServerValues } from "./mcp-tokens.ts";
import type { OutwardFetch } from "./outward-fetch.ts";

/** A tool as its server describes it. */
export type McpTool = Pick<ListedTool, "name" | "description" | "inputSchema" | "annotations">;

/** A connection to an MCP server. */
export interface McpConnection {
  readonly tools: readonly McpTool[];
  /** Lists the tools again. */
  listTools(signal: AbortSignal): Promise<readonly McpTool[]>;
  call(tool: string, input: Record<string, unknown>, signal: AbortSignal): Promise<CallToolResult>;
  /** Absent where the server has none. */
  readonly resources?: McpResources | undefined;
  readonly prompts?: McpPrompts | undefined;
  close(): Promise<void>;
}

export interface McpResources {
  list(signal: AbortSignal): Promise<Listed>;
  read(uri: string, signal: AbortSignal): Promise<ReadResourceResult>;
}

export interface McpPrompts {
  list(signal: AbortSignal): Promise<Listed>;
  get(name: string, input: Record<string, string>, signal: AbortSignal): Promise<GetPromptResult>;
}

/** What a server lists, by kind. */
export type Listed = Readonly<Record<string, readonly object[]>>;

export interface ConnectOptions extends ProcessPlace {
  readonly fetch: OutwardFetch;
  /** The run's secrets and variables. */
  readonly values: ServerValues;
  /** Time limit for starting and connecting, in milliseconds. @default 60 s */
  readonly connectMs?: number;
}

const CONNECT_MS = 60_000;
/** Time limits of a call: without a progress notification, and in total. */
const SILENCE_MS = 120_000;
const CALL_MS = 1_800_000;
/** The most entries of a list, and the most pages in which a server may return it. */
const MAX_LISTED = 500;
const MAX_PAGES = 100;
/** The end of a server's output that an error shows. */
const OUTPUT_CHARACTERS = 1_000;

/** Connects to a server. @throws an Error that says in one redacted sentence why the server cannot be used */
export async function connect(written: ServerConfig, options: ConnectOptions): Promise<McpConnection> {
  const { values } = options;
  const config = expandServer(written, values.current());
  // The names of secrets are in what was written, their values in what is sent.
  const explain = (error: unknown) => explainRefusal(error, config.url, written.headers, values.findProblem);
  const expand = () => expandServer(written, values.current()).headers ?? {};
  const fetch = fetchWithTokens(options.fetch, written.headers ?? {}, values, expand);
  return limitTools(await connectToAll(config, explain, { ...options, fetch }), config, explain);
}

/** Without the tools that the configuration excludes. A token may expire while the run uses it. */
function limitTools(connection: McpConnection, config: ServerConfig, explain: Explain): McpConnection {
  const choose = (tools: readonly McpTool[]) => tools.filter(({ name }) => allowsTool(config, name));
  return {
    ...connection,
    tools: choose(connection.tools),
    listTools: async (signal) => choose(await connection.listTools(signal)),
    call: async (tool, input, signal) => {
      if (!allowsTool(config, tool)) throw new Error(`the run's configuration excludes the tool ${tool}`);
      return await connection.call(tool, input, signal).catch((error: unknown) => {
        throw explain(error);
      });
    },
  };
}

type Explain = (error: unknown) => unknown;

async function connectToAll(config: ServerConfig, explain: Explain, options: ConnectOptions): Promise<McpConnection> {
  const { signal, redactor, connectMs = CONNECT_MS } = options;
  if (config.warp_id !== undefined) {
    throw new Error("shared servers (warp_id) are not supported: set command or url");
  }
  const limit = AbortSignal.any([signal, AbortSignal.timeout(connectMs)]);
  const fail = (error: unknown, output = "") => {
    signal.throwIfAborted();
    const why = limit.aborted ? `it did not respond within ${connectMs / 1000} s` : formatError(error);
    return new Error(redactor.text(output === "" ? why : `${why}: ${output.slice(-OUTPUT_CHARACTERS)}`));
  };
  if (config.command !== undefined) {
    const program = { command: config.command, args: config.args ?? [], env: config.env ?? {} };
    const transport = new ProcessTransport(program, options);
    try {
      return await open(transport, limit);
    } catch (error) {
      await transport.close();
      throw fail(error, transport.lastOutput());
    }
  }
  try {
    return await openUrl(new URL(config.url ?? ""), config.headers ?? {}, options.fetch, limit);
  } catch (error) {
    throw fail(explain(error));
  }
}

/** Connects by streamable HTTP, or by the older SSE transport if the server does not support it. */
async function openUrl(
  url: URL,
  headers: Readonly<Record<string, string>>,
  fetch: OutwardFetch,
  signal: AbortSignal,
): Promise<McpConnection> {
  const requestInit = { headers: { ...headers } };
  try {
    return await open(new StreamableHTTPClientTransport(url, { requestInit, fetch }), signal);
  } catch (error) {
    if (!(error instanceof StreamableHTTPError) || !isUnknownHere(error.code)) throw error;
  }
  const withHeaders: OutwardFetch = (target, init) =>
    fetch(target, { ...init, headers: { ...headers, ...Object.fromEntries(new Headers(init?.headers)) } });
  return await open(new SSEClientTransport(url, { requestInit, fetch: withHeaders }), signal);
}

/** Whether a status means that the server does not support streamable HTTP. */
const isUnknownHere = (status: number | undefined): boolean => status === 400 || status === 404 || status === 405;

async function open(transport: Transport, signal: AbortSignal): Promise<McpConnection> {
  const client = new Client({ name: "runyard", version: "1.0.0" }, { capabilities: {} });
  try {
    await client.connect(transport, { signal });
    const tools = await fetchTools(client, signal);
    const offers = client.getServerCapabilities();
    return {
      tools,
      resources: offers?.resources === undefined ? undefined : createResources(client),
      prompts: offers?.prompts === undefined ? undefined : createPrompts(client),
      listTools: (ended) => fetchTools(client, ended),
      call: (tool, input, ended) => callTool(client, tool, input, ended),
      close: () => client.close(),
    };
  } catch (error) {
    await client.close().catch(() => undefined);
    throw error;
  }
}

async function fetchTools(client: Client, signal: AbortSignal): Promise<McpTool[]> {
  if (client.getServerCapabilities()?.tools === undefined) return [];
  return await readPages(async (params) => {
    // The client's own method would compile the servers' schemas to code. Results are passed to the model without validation.
    const { tools, nextCursor } = await client.request({ method: "tools/list", params }, ListToolsResultSchema, {
      signal,
    });
    return { entries: tools, nextCursor };
  });
}

interface Page<T> {
  readonly entries: readonly T[];
  readonly nextCursor?: string | undefined;
}

/** Reads the pages of a list up to its limits. */
async function readPages<T>(readPage: (params: { readonly cursor?: string }) => Promise<Page<T>>): Promise<T[]> {
  let found: T[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < MAX_PAGES && found.length < MAX_LISTED; pages++) {
    const page = await readPage(cursor === undefined ? {} : { cursor });
    found = [...found, ...page.entries];
    cursor = page.nextCursor;
    if (cursor === undefined) break;
  }
  return found.slice(0, MAX_LISTED);
}

async function callTool(
  client: Client,
  name: string,
  input: Record<string, unknown>,
  signal: AbortSignal,
): Promise<CallToolResult> {
  const limits = { timeout: SILENCE_MS, maxTotalTimeout: CALL_MS, resetTimeoutOnProgress: true, onprogress: () => {} };
  return await client.request({ method: "tools/call", params: { name, arguments: input } }, CallToolResultSchema, {
    ...limits,
    signal,
  });
}

const createResources = (client: Client): McpResources => ({
  async list(signal) {
    const resources = await readPages(async (params) => {
      const { resources: entries, nextCursor } = await client.listResources(params, { signal });
      return { entries, nextCursor };
    });
    // Few servers have templates, and some refuse the question.
    const templates = await readPages(async (params) => {
      const { resourceTemplates: entries, nextCursor } = await client.listResourceTemplates(params, { signal });
      return { entries, nextCursor };
    }).catch(() => undefined);
    return { resources, ...(templates === undefined ? {} : { templates }) };
  },
  read: (uri, signal) => client.readResource({ uri }, { signal, timeout: SILENCE_MS }),
});

const createPrompts = (client: Client): McpPrompts => ({
  async list(signal) {
    const prompts = await readPages(async (params) => {
      const { prompts: entries, nextCursor } = await client.listPrompts(params, { signal });
      return { entries, nextCursor };
    });
    return { prompts };
  },
  get: (name, input, signal) => client.getPrompt({ name, arguments: input }, { signal, timeout: SILENCE_MS }),
});
