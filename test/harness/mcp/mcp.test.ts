import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, request } from "node:http";
import { networkInterfaces } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listOwnAddresses } from "#harness/network/blocked-addresses.ts";
import { createSlice } from "#harness/support/time-slice.ts";
import { createCallMcpTool } from "#harness/tools/remote/call-mcp-tool.ts";
import { listServerSecrets } from "#harness/tools/remote/mcp-secrets.ts";
import { closeServers, type McpServer } from "#harness/tools/remote/mcp-servers.ts";
import { createOutwardFetch } from "#harness/tools/remote/outward-fetch.ts";
import { freePort } from "../../support/free-port.ts";
import { bundledServer, mcpStage, SERVERS } from "../support/mcp-stage.ts";
import { commandLines, newMark, sleepers } from "../support/processes.ts";

type Stage = Awaited<ReturnType<typeof mcpStage>>;

/** Calls as a model does. */
const createTool = (servers: readonly McpServer[], stage: Stage, readsOnly = false) => {
  const tool = createCallMcpTool(servers, { redactor: stage.redactor, readsOnly, slice: createSlice(undefined) });
  let calls = 0;
  return {
    tool,
    call: (input: unknown, signal: AbortSignal = stage.stop.signal) =>
      tool.run(input, { id: `call-${++calls}`, signal }),
  };
};

describe.each(["bubblewrap", "none"])("MCP servers that are programs (%s)", (sandbox) => {
  it("run where commands do: the real file server reads and writes the workspace", async () => {
    await using stage = await mcpStage({ sandbox });
    bundledServer("filesystem", stage.places.workspace);
    const { workspace } = stage.sandbox.paths;
    const servers = await stage.connect({ files: { command: "node", args: ["filesystem.mjs", workspace] } });
    expect(stage.reports).toEqual([{ text: expect.stringMatching(/^files: \d\d tools$/), isError: false }]);
    const { call } = createTool(servers, stage);
    const written = await call({
      server: "files",
      tool: "write_file",
      arguments: { path: `${workspace}/note.txt`, content: "by a server\n" },
    });
    expect(written.isError).toBe(false);
    const { text } = await stage.shell.run(
      { command: "cat note.txt; echo by a command >> note.txt" },
      stage.stop.signal,
    );
    expect(text).toBe("by a server\n");
    const read = await call({ server: "files", tool: "read_text_file", arguments: { path: `${workspace}/note.txt` } });
    expect(read.output["text"], "it keeps running after a command has ended").toBe("by a server\nby a command\n");
    const refused = await call({ server: "files", tool: "read_text_file", arguments: { path: "/etc/shadow" } });
    expect(refused).toMatchObject({ isError: true, output: { text: expect.stringContaining("Access denied") } });
    await closeServers(servers);
    await expect(call({ server: "files", tool: "list_allowed_directories" })).rejects.toThrow(/files: /);
  });

  it("have their own variables and none of the run's secrets", async () => {
    await using stage = await mcpStage({ sandbox, secrets: { PLANTED: "planted-value-1234" } });
    bundledServer("everything", stage.places.workspace);
    const servers = await stage.connect({
      all: {
        command: "node",
        args: ["everything.mjs", "stdio"],
        env: { TOKEN: "a-token-of-its-own", HOME: "/elsewhere" },
      },
    });
    const { call } = createTool(servers, stage);
    const variables = JSON.parse(String((await call({ server: "all", tool: "get-env" })).output["text"]));
    expect(variables).toMatchObject({ TOKEN: "a-token-of-its-own", HOME: stage.sandbox.paths.home });
    expect(JSON.stringify(variables)).not.toContain("planted-value");
    const { text } = await stage.shell.run({ command: "env" }, stage.stop.signal);
    expect(text).not.toContain("a-token-of-its-own");
    await closeServers(servers);
  });

  it("end with all of their processes when they are closed, and when the execution stops", async () => {
    for (const way of ["close", "stop"]) {
      const mark = newMark();
      await using stage = await mcpStage({ sandbox });
      bundledServer("everything", stage.places.workspace);
      const command = `sleep ${mark} & exec node everything.mjs stdio`;
      const servers = await stage.connect({ all: { command: "bash", args: ["-c", command] } });
      expect(sleepers(mark)).toBe(1);
      if (way === "stop") stage.stop.abort(new Error("the execution stops"));
      else await closeServers(servers);
      await expect.poll(() => sleepers(mark)).toBe(0);
      // Their limits are watched until they are known to have ended, in the folder that the stage removes.
      await closeServers(servers);
    }
  });
});

describe("an unusable MCP server", () => {
  it("is reported with its reason, and does not stop the run", async () => {
    await using stage = await mcpStage();
    stage.redactor.add("secret-of-the-server");
    bundledServer("filesystem", stage.places.workspace);
    const mark = newMark();
    const ending = await stage.connect({
      missing: { command: "no-such-program" },
      talks: { command: "bash", args: ["-c", "echo secret-of-the-server is wrong >&2; exit 3"] },
      shared: { warp_id: "team-server" },
      files: { command: "node", args: ["filesystem.mjs", "/workspace"] },
    });
    // Only these reach the limit: the others may take as long as this machine needs to start them.
    const endless = await stage.connect(
      {
        silent: { command: "sleep", args: [mark] },
        chatty: { command: "bash", args: ["-c", "yes | head -c 30000000 | tr -d '\\n'; sleep 60"] },
      },
      { connectMs: 3_000 },
    );
    const servers = [...ending, ...endless];
    const reasons = Object.fromEntries(
      servers.map((server) => [server.name, "unavailable" in server ? server.unavailable : "connected"]),
    );
    expect(reasons).toEqual({
      missing: expect.stringContaining("no-such-program: not found"),
      talks: expect.stringContaining("*** is wrong"),
      silent: "it did not respond within 3 s",
      chatty: expect.stringMatching(/closed|within 3 s/i),
      shared: expect.stringContaining("warp_id"),
      files: "connected",
    });
    expect(stage.reports.filter(({ isError }) => isError)).toHaveLength(5);
    expect(stage.reports.map(({ text }) => text).join("\n")).toContain("silent: it did not respond within 3 s");
    const { tool, call } = createTool(servers, stage);
    expect(tool.description).toContain("Server silent is not available: it did not respond within 3 s");
    await expect(call({ server: "silent", tool: "x" })).rejects.toThrow("the server silent is not available");
    await expect(call({ server: "other", tool: "x" })).rejects.toThrow(
      "there is no server other; available servers: missing,",
    );
    expect((await call({ server: "files", tool: "list_allowed_directories" })).isError).toBe(false);
    await expect.poll(() => sleepers(mark), { message: "the server that did not respond is ended" }).toBe(0);
    await closeServers(servers);
  });
});

describe("call_mcp_tool", () => {
  it("describes each tool with its schema to the model, and lists one server's by its name", async () => {
    await using stage = await mcpStage();
    bundledServer("everything", stage.places.workspace);
    const servers = await stage.connect({ all: { command: "node", args: ["everything.mjs", "stdio"] } });
    const { tool, call } = createTool(servers, stage);
    expect(tool.description).toContain('- echo: Echoes back the input string Arguments: {"properties":{"message":');
    expect(Buffer.byteLength(tool.description)).toBeLessThan(30_000);
    const { tools } = (await call({ server: "all" })).output;
    expect(tools).toContainEqual(
      expect.objectContaining({ name: "get-sum", inputSchema: expect.objectContaining({ type: "object" }) }),
    );
    const sum = await call({ server: "all", tool: "get-sum", arguments: { a: 40, b: 2 } });
    expect(sum).toMatchObject({ isError: false, output: { text: expect.stringContaining("42") } });
    await closeServers(servers);
  });

  it("returns texts, names omitted content, and passes a server's errors to the model", async () => {
    await using stage = await mcpStage();
    bundledServer("everything", stage.places.workspace);
    const servers = await stage.connect({ all: { command: "node", args: ["everything.mjs", "stdio"] } });
    const { call } = createTool(servers, stage);
    const image = await call({ server: "all", tool: "get-tiny-image" });
    expect(image.output["others"]).toEqual([
      { image: "PNG", size_bytes: expect.any(Number), pixels: expect.stringMatching(/^\d+ × \d+$/) },
    ]);
    const long = await call({ server: "all", tool: "echo", arguments: { message: "é".repeat(60_000) } });
    expect(Buffer.byteLength(String(long.output["text"]))).toBeLessThan(50_000);
    expect(long.output["text"]).toContain("[... truncated ...]");
    const links = await call({ server: "all", tool: "get-resource-links", arguments: { count: 1 } });
    expect(links.output["others"]).toEqual([
      { type: "resource_link", uri: expect.any(String), name: expect.any(String) },
    ]);
    expect(await call({ server: "all", tool: "get-sum", arguments: { a: "x" } })).toMatchObject({ isError: true });
    const unknown = call({ server: "all", tool: "no-such-tool" });
    expect(
      await unknown.then(
        ({ isError }) => isError,
        () => true,
      ),
    ).toBe(true);
    await closeServers(servers);
  });

  it("aborts a call whose turn ends", async () => {
    await using stage = await mcpStage();
    bundledServer("everything", stage.places.workspace);
    const servers = await stage.connect({ all: { command: "node", args: ["everything.mjs", "stdio"] } });
    const { call } = createTool(servers, stage);
    const turn = new AbortController();
    const slow = { server: "all", tool: "trigger-long-running-operation", arguments: { duration: 60, steps: 5 } };
    const calling = call(slow, turn.signal);
    const ended = expect(calling).rejects.toThrow("the turn is broken off");
    await sleep(200);
    turn.abort(new Error("the turn is broken off"));
    await ended;
    expect((await call({ server: "all", tool: "echo", arguments: { message: "still here" } })).isError).toBe(false);
    await closeServers(servers);
  });

  it("offers only tools marked as read-only in plan mode, and refuses the rest", async () => {
    await using stage = await mcpStage();
    bundledServer("filesystem", stage.places.workspace);
    const servers = await stage.connect({ files: { command: "node", args: ["filesystem.mjs", "/workspace"] } });
    const { tool, call } = createTool(servers, stage, true);
    expect(tool.readsOnly).toBe(true);
    expect(tool.description).toContain("- read_text_file:");
    expect(tool.description).not.toContain("write_file");
    const args = { path: "/workspace/a.txt", content: "x" };
    await expect(call({ server: "files", tool: "write_file", arguments: args })).rejects.toThrow(
      "may change something",
    );
    expect((await call({ server: "files", tool: "list_allowed_directories" })).isError).toBe(false);
    await closeServers(servers);
  });
});

describe.each(["streamableHttp", "sse"])("MCP servers by URL (%s)", (way) => {
  let server: ChildProcess;
  let serverPort: number;
  /** The headers of the requests that the server receives. */
  const seen: IncomingHttpHeaders[] = [];
  const front = createServer((incoming, outgoing) => {
    seen.push(incoming.headers);
    const { method, url, headers } = incoming;
    const onward = request({ host: "127.0.0.1", port: serverPort, method, path: url, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      outgoing.flushHeaders();
      response.pipe(outgoing);
    });
    onward.on("error", () => outgoing.destroy());
    outgoing.on("close", () => onward.destroy());
    incoming.pipe(onward);
  });
  let url: string;

  beforeAll(async () => {
    serverPort = await freePort();
    const env = { PATH: process.env["PATH"] ?? "", PORT: String(serverPort) };
    server = spawn(process.execPath, [SERVERS.everything, way], { env, stdio: "ignore" });
    front.listen(0, "127.0.0.1");
    await once(front, "listening");
    const address = front.address();
    if (address === null || typeof address === "string") throw new Error("it does not listen");
    url = `http://127.0.0.1:${address.port}/${way === "sse" ? "sse" : "mcp"}`;
    for (let look = 0; look < 200 && !(await isUp(serverPort)); look++) await sleep(100);
  });
  afterAll(() => {
    server.kill("SIGKILL");
    front.closeAllConnections();
    front.close();
  });

  it("are called by the harness with their headers", async () => {
    await using stage = await mcpStage({ loopback: true });
    const headers = { authorization: "Bearer a-token-for-the-server", "x-tenant": "acme" };
    const servers = await stage.connect({ far: { url, headers } });
    expect(stage.reports).toEqual([{ text: expect.stringMatching(/^far: \d+ tools$/), isError: false }]);
    const { call } = createTool(servers, stage);
    const echoed = await call({ server: "far", tool: "echo", arguments: { message: "hello" } });
    expect(echoed.output["text"]).toBe("Echo: hello");
    expect(seen.length).toBeGreaterThan(1);
    for (const one of seen) expect(one).toMatchObject(headers);
    await closeServers(servers);
  });

  it("are not called if they are services of the machine itself", async () => {
    await using stage = await mcpStage();
    const before = seen.length;
    const servers = await stage.connect({ near: { url }, named: { url: url.replace("127.0.0.1", "localhost") } });
    expect(servers).toEqual([
      { name: "near", unavailable: expect.stringContaining("127.0.0.1 is an address that runs may not call") },
      { name: "named", unavailable: expect.stringContaining("localhost is an address that runs may not call") },
    ]);
    expect(seen.length).toBe(before);
  });
});

describe("createOutwardFetch", () => {
  it.each([
    "http://169.254.169.254/latest/meta-data/",
    "http://[fe80::1]/",
    "http://[fd00:ec2::254]/",
    "http://[::ffff:169.254.169.254]/",
    "http://168.63.129.16/",
    "http://100.100.100.200/",
    "http://192.0.0.192/",
  ])("never calls %s", async (address) => {
    for (const loopback of [true, false])
      await expect(createOutwardFetch({ loopback, privateNetworks: false })(address)).rejects.toThrow("may not call");
  });

  it.each([
    "http://127.0.0.1:1/",
    "http://127.9.9.9:1/",
    "http://0.0.0.0:1/",
    "http://[::1]:1/",
    "http://[::ffff:127.0.0.1]:1/",
    "http://localhost:1/",
  ])("calls %s only if the machine's own services are allowed", async (address) => {
    await expect(createOutwardFetch({ loopback: false, privateNetworks: false })(address)).rejects.toThrow(
      "may not call",
    );
    await expect(createOutwardFetch({ loopback: true, privateNetworks: false })(address)).rejects.toThrow(
      /ECONNREFUSED|EADDRNOTAVAIL|ECONNRESET/,
    );
  });

  it("refuses the machine's own addresses like its loopback", async () => {
    const own = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
    const addresses = own
      .filter(({ family, internal }) => family === "IPv4" && !internal)
      .map(({ address }) => address);
    for (const address of addresses) {
      const url = `http://${address}:1/`;
      await expect(createOutwardFetch({ loopback: false, privateNetworks: false })(url)).rejects.toThrow(
        "may not call",
      );
      await expect(createOutwardFetch({ loopback: true, privateNetworks: false })(url)).rejects.toThrow(
        /ECONNREFUSED|ECONNRESET/,
      );
    }
    expect(listOwnAddresses()).toEqual(addresses);
  });

  it("follows no redirect, which could send the headers anywhere", async () => {
    const server = createServer((_, response) =>
      response.writeHead(302, { location: "http://169.254.169.254/" }).end(),
    );
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const port = address !== null && typeof address === "object" ? address.port : 0;
    const result = await createOutwardFetch({ loopback: true, privateNetworks: false })(`http://127.0.0.1:${port}/`);
    expect({ status: result.status, body: await result.text() }).toEqual({ status: 302, body: "" });
    server.close();
  });
});

describe("the values of MCP servers", () => {
  it("are treated as secrets if they are long enough, with and without a header's scheme", () => {
    const servers = {
      local: { command: "serve", env: { TOKEN: "a-long-value", LEVEL: "debug" } },
      remote: { url: "https://tracker.test", headers: { authorization: "Bearer another-value" } },
    };
    expect(listServerSecrets(servers)).toEqual(["a-long-value", "Bearer another-value", "another-value"]);
    expect(listServerSecrets(undefined)).toEqual([]);
  });

  it("are in no process list", async () => {
    await using stage = await mcpStage();
    bundledServer("everything", stage.places.workspace);
    const servers = await stage.connect({
      all: { command: "node", args: ["everything.mjs", "stdio"], env: { TOKEN: "value-in-no-list" } },
    });
    const lines = commandLines();
    expect(lines.filter((line) => line.includes("everything.mjs")).length).toBeGreaterThan(0);
    expect(lines.filter((line) => line.includes("value-in-no-list"))).toEqual([]);
    await closeServers(servers);
  });
});

const isUp = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/none`).then(
    () => true,
    () => false,
  );
