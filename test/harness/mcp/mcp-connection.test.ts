import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type ConnectOptions, connect } from "#harness/tools/remote/mcp-connection.ts";
import { closeServers, connectServers } from "#harness/tools/remote/mcp-servers.ts";
import { fixedValues } from "#harness/tools/remote/mcp-tokens.ts";
import { createConnectOptions } from "../support/connect-options.ts";

vi.setConfig({ testTimeout: 10_000, hookTimeout: 10_000 });

interface Call {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly headers: IncomingHttpHeaders;
}

let server: Server;
let url = "";
let calls: Call[] = [];
/** The server's results by method; any other method gets an empty result. */
let respond: (call: Call, response: ServerResponse) => unknown;

const tool = (name: string) => ({ name, inputSchema: { type: "object" as const } });
const INITIALIZED = {
  protocolVersion: "2025-06-18",
  capabilities: { tools: {} },
  serverInfo: { name: "s", version: "1" },
};

beforeEach(async () => {
  calls = [];
  respond = () => undefined;
  server = createServer(async (request, response) => {
    let text = "";
    for await (const piece of request.setEncoding("utf8")) text += piece;
    if (request.method !== "POST") return response.writeHead(405).end();
    const { id, method, params = {} } = JSON.parse(text);
    const call = { method, params, headers: request.headers };
    calls.push(call);
    if (id === undefined) return response.writeHead(202).end();
    const made = respond(call, response);
    if (response.headersSent || made === null) return;
    const result =
      made ?? (method === "initialize" ? INITIALIZED : method === "tools/list" ? { tools: [] } : { content: [] });
    return response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/mcp`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const signal = new AbortController().signal;

describe("connect", () => {
  it("offers and calls the tools that the configuration allows, and fills in the run's secrets", async () => {
    respond = ({ method }) => (method === "tools/list" ? { tools: [tool("read"), tool("write")] } : undefined);
    const headers = { authorization: "Bearer ${TOKEN}" };
    const config = { url, headers, tools: { exclude: ["write"] } };
    const connection = await connect(config, createConnectOptions({ values: fixedValues({ TOKEN: "t0ken" }) }));
    const names = (tools: readonly { name: string }[]) => tools.map(({ name }) => name);
    expect([names(connection.tools), names(await connection.listTools(signal))]).toEqual([["read"], ["read"]]);
    await expect(connection.call("write", {}, signal)).rejects.toThrow(
      "the run's configuration excludes the tool write",
    );
    await connection.call("read", {}, signal);
    await connection.close();
    expect(calls.filter(({ method }) => method === "tools/call").map(({ params }) => params["name"])).toEqual(["read"]);
    expect(new Set(calls.map((call) => call.headers.authorization))).toEqual(new Set(["Bearer t0ken"]));
    calls = [];
    await expect(connect(config, createConnectOptions())).rejects.toThrow(/^headers\.authorization names TOKEN, /);
    expect(calls).toEqual([]);
  });

  it("lists the tools of all pages, with the headers of the configuration", async () => {
    respond = ({ method, params }) => {
      if (method !== "tools/list") return undefined;
      const { cursor } = params;
      if (cursor === undefined) return { tools: [tool("a")], nextCursor: "2" };
      return { tools: [tool(`b${cursor}`)] };
    };
    const connection = await connect({ url, headers: { authorization: "Bearer b" } }, createConnectOptions());
    expect(connection.tools).toEqual([tool("a"), tool("b2")]);
    expect((await connection.listTools(signal)).map(({ name }) => name)).toEqual(["a", "b2"]);
    expect(calls[0]).toMatchObject({
      method: "initialize",
      params: { clientInfo: { name: "runyard", version: "1.0.0" } },
      headers: { authorization: "Bearer b" },
    });
    await connection.close();
    await expect(connection.listTools(signal)).rejects.toThrow();
  });

  it("lists at most 500 tools, and none of a server that has none", async () => {
    let pages = 0;
    respond = ({ method }) => {
      if (method !== "tools/list") return undefined;
      pages++;
      return { tools: Array.from({ length: 200 }, (_, at) => tool(`${pages}-${at}`)), nextCursor: "more" };
    };
    const connection = await connect({ url }, createConnectOptions());
    expect([connection.tools.length, connection.tools.at(-1)?.name, pages]).toEqual([500, "3-99", 3]);
    respond = ({ method }) => (method === "initialize" ? { ...INITIALIZED, capabilities: {} } : undefined);
    expect((await connect({ url }, createConnectOptions())).tools).toEqual([]);
    expect(pages).toBe(3);
  });

  it("reads at most 100 pages of a list", async () => {
    let pages = 0;
    respond = ({ method }) => {
      if (method !== "tools/list") return undefined;
      pages++;
      return { tools: [], nextCursor: "more" };
    };
    expect((await connect({ url }, createConnectOptions())).tools).toEqual([]);
    expect(pages).toBe(100);
  });

  it("lists the resources, templates and prompts of all pages, at most 500 of each", async () => {
    const name = (at: unknown) => ({ name: `n-${at}` });
    respond = ({ method, params: { cursor } }) => {
      if (method === "initialize") return { ...INITIALIZED, capabilities: { resources: {}, prompts: {} } };
      const next = cursor === undefined ? { nextCursor: "2" } : {};
      if (method === "resources/list") return { resources: [{ ...name(cursor), uri: "a://b" }], ...next };
      if (method === "resources/templates/list")
        return { resourceTemplates: [{ ...name(cursor), uriTemplate: "a://{b}" }], ...next };
      return { prompts: Array.from({ length: 300 }, (_, at) => name(at)), nextCursor: "more" };
    };
    const { resources, prompts } = await connect({ url }, createConnectOptions());
    const listed = await resources?.list(signal);
    expect([listed?.["resources"], listed?.["templates"]]).toMatchObject([
      [name(undefined), name(2)],
      [name(undefined), name(2)],
    ]);
    expect((await prompts?.list(signal))?.["prompts"]).toHaveLength(500);
  });

  it("calls a tool with its input, and ends with the turn", async () => {
    respond = ({ method, params }) => {
      if (method !== "tools/call") return undefined;
      return params["name"] === "wait" ? null : { content: [{ type: "text", text: JSON.stringify(params) }] };
    };
    const connection = await connect({ url }, createConnectOptions());
    const { content } = await connection.call("echo", { a: 1 }, signal);
    const [part] = content;
    const { name, arguments: input } = JSON.parse(part?.type === "text" ? part.text : "{}");
    expect([name, input]).toEqual(["echo", { a: 1 }]);
    const controller = new AbortController();
    const waiting = connection.call("wait", {}, controller.signal);
    setTimeout(() => controller.abort(new Error("interrupted")), 20);
    await expect(waiting).rejects.toThrow("interrupted");
    await connection.close();
  });

  it("allows a minute to connect, and 30 minutes for a call that makes progress every two", async () => {
    const timeout = vi.spyOn(AbortSignal, "timeout");
    const connection = await connect({ url }, createConnectOptions());
    expect(timeout.mock.calls).toEqual([[60_000]]);
    const request = vi.spyOn(Client.prototype, "request");
    await connection.call("a", {}, signal);
    expect(request.mock.lastCall?.[2]).toEqual({
      ...{ timeout: 120_000, maxTotalTimeout: 1_800_000, resetTimeoutOnProgress: true, signal },
      onprogress: expect.any(Function),
    });
    vi.restoreAllMocks();
    await connection.close();
  });

  it("shows the last 1,000 characters of a program's errors, redacted", async () => {
    const script = "printf 'x%.0s' {1..1500} >&2; echo ' s3cr3t-value-of-the-run' >&2";
    const failed = connect({ command: "bash", args: ["-c", script], env: {} }, createConnectOptions());
    await expect(failed).rejects.toMatchObject({ message: expect.stringMatching(/: x{996} \*{3}$/) });
    const silent = connect({ command: "true" }, createConnectOptions());
    await expect(silent).rejects.toMatchObject({ message: expect.stringMatching(/[a-zA-Z]$/) });
  });

  it("says in one redacted sentence why a server cannot be used", async () => {
    const fail = (config: Parameters<typeof connect>[0], given: Partial<ConnectOptions> = {}) =>
      connect(config, createConnectOptions(given)).then(
        () => "connected",
        (error: unknown) => (error instanceof Error ? error.message : error),
      );
    expect(await fail({ warp_id: "w", url })).toBe("shared servers (warp_id) are not supported: set command or url");
    expect(await fail({})).toBe("Invalid URL");
    const refused = () => Promise.reject(new Error("s3cr3t-value-of-the-run may not be called"));
    expect(await fail({ url }, { fetch: refused })).toBe("*** may not be called");
    respond = () => null;
    expect(await fail({ url }, { connectMs: 100 })).toBe("it did not respond within 0.1 s");
    const stopped = { signal: AbortSignal.abort(new Error("the execution was cancelled")) };
    expect(await fail({ url }, stopped)).toBe("the execution was cancelled");
    respond = (_, response) => response.writeHead(500).end("broken");
    const before = calls.length;
    expect(await fail({ url })).toContain("broken");
    expect(calls.length).toBe(before + 1);
  });

  it.each([400, 404, 405])("tries the older transport after status %i", async (status) => {
    respond = (_, response) => response.writeHead(status).end();
    const seen: (string | undefined)[] = [];
    const fetchAndNote: ConnectOptions["fetch"] = (target, init) => {
      const headers = new Headers(init?.headers);
      seen.push(`${init?.method ?? "GET"} ${headers.get("x-own")} ${headers.get("accept")}`);
      return fetch(target, init);
    };
    const options = createConnectOptions({ fetch: fetchAndNote });
    await expect(connect({ url, headers: { "x-own": "1" } }, options)).rejects.toThrow();
    expect(seen).toEqual(["POST 1 application/json, text/event-stream", "GET 1 text/event-stream"]);
  });
});

describe("connectServers", () => {
  it("connects all servers, and reports for each its number of tools or why it cannot be used", async () => {
    const reports: string[] = [];
    const options = {
      ...createConnectOptions(),
      timed: async <T>(detail: (result: T) => string, work: () => Promise<T>) => {
        try {
          const result = await work();
          reports.push(detail(result));
          return result;
        } catch (error) {
          reports.push(String(error));
          throw error;
        }
      },
    };
    respond = ({ method, headers }) =>
      method === "tools/list"
        ? { tools: headers["x-count"] === "2" ? [tool("a"), tool("b")] : [tool("a")] }
        : undefined;
    const servers = await connectServers({ one: { url }, two: { url, headers: { "x-count": "2" } }, bad: {} }, options);
    expect(reports.toSorted()).toEqual(["Error: bad: Invalid URL", "one: 1 tool", "two: 2 tools"]);
    expect(servers).toEqual([
      { name: "one", connection: expect.anything() },
      { name: "two", connection: expect.anything() },
      { name: "bad", unavailable: "Invalid URL" },
    ]);
    await closeServers(servers);
    const [first] = servers;
    const connection = first !== undefined && "connection" in first ? first.connection : undefined;
    await expect(connection?.listTools(signal)).rejects.toThrow();
    const stopped = { ...options, signal: AbortSignal.abort(new Error("the execution was cancelled")) };
    await expect(connectServers({ bad: {} }, stopped)).rejects.toThrow(/^the execution was cancelled$/);
  });
});
