import path from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import * as v from "valibot";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agentRun, use } from "../../harness/support/agent-run.ts";
import { client as createApiClient } from "../../support/api-client.ts";
import { startService, type TestService } from "../../support/service.ts";

/** The program of `runyard`. */
const CLI = path.resolve(import.meta.dirname, "../../../cli/src/main.ts");

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service[Symbol.asyncDispose]());

const transports = {
  "Streamable HTTP": () =>
    new StreamableHTTPClientTransport(new URL(`${service.baseUrl}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${service.apiKey}` } },
    }),
  stdio: () =>
    new StdioClientTransport({
      command: process.execPath,
      args: [CLI, "mcp"],
      env: { RUNYARD_BASE_URL: service.baseUrl, RUNYARD_API_KEY: service.apiKey, HOME: service.directory },
    }),
} as const;

const Run = v.object({ run: v.object({ state: v.string(), has_ended: v.boolean() }) });
const Started = v.object({ run_id: v.string() });
const Response = v.object({ untrusted: v.object({ text: v.string() }) });

describe.each(Object.entries(transports))("the official client over %s", (_name, createTransport) => {
  it("starts a run, waits for its end, reads its answer and gets errors of tools", async () => {
    const client = new Client({ name: "test", version: "1" });
    await client.connect(createTransport());
    try {
      expect(client.getServerVersion()).toMatchObject({ name: "runyard" });
      expect(client.getInstructions()).toContain("start_run");
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toContain("wait_for_run");
      const call = async (name: string, input: Record<string, unknown>) =>
        (await client.callTool({ name, arguments: input })).structuredContent;
      const prompt = "```sh\necho said\u2028more\n```";
      const { run_id } = v.parse(Started, await call("start_run", { prompt }));
      const wait = async () => v.parse(Run, await call("wait_for_run", { run_id })).run;
      // Other calls are answered while one waits.
      const [ended] = await Promise.all([wait(), client.ping()]);
      expect(ended).toEqual({ state: "SUCCEEDED", has_ended: true });
      expect(v.parse(Response, await call("get_response", { run_id })).untrusted.text).toBe("Ran one command.");
      expect(await client.callTool({ name: "get_run", arguments: {} })).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining("run_id: is required") }],
      });
      const api = createApiClient(service);
      expect((await api.call("GET", `/agent/runs/${run_id}`)).body).toMatchObject({ source: "MCP", prompt });
    } finally {
      await client.close();
    }
  });
});

describe("a run whose MCP servers include the service", () => {
  it("starts another run by a tool of its agent, and waits for it", async () => {
    const authorization = `Bearer ${service.apiKey}`;
    const callTool = (tool: string, input: object) =>
      use("call_mcp_tool", { server: "runyard", tool, arguments: input });
    let started = "";
    await using it = await agentRun({
      prompt: "Delegate it.",
      context: { mcp_servers: { runyard: { url: `${service.baseUrl}/mcp`, headers: { authorization } } } },
      turns: [
        { tools: [callTool("start_run", { prompt: "```sh\necho delegated\n```", title: "Delegated" })] },
        ({ body }) => {
          started = /"?run_id\\?":\\?"([0-9a-f-]{36})/.exec(JSON.stringify(body.messages.at(-1)))?.[1] ?? "";
          return { tools: [callTool("wait_for_run", { run_id: started })] };
        },
        { text: "It is done." },
      ],
    });
    const { code } = await it.run({ RUNYARD_SANDBOX: "none", RUNYARD_MCP_LOOPBACK: "allow" });
    expect([code, it.plane.outcome]).toEqual([0, { success: true, summary: "It is done." }]);
    const results = it.plane.messages.flatMap(({ content }) => content).filter(({ type }) => type === "action_result");
    expect(results).toMatchObject([{ state: "completed" }, { state: "completed" }]);
    const run = await createApiClient(service).call("GET", `/agent/runs/${started}`);
    expect(run.body).toMatchObject({ title: "Delegated", source: "MCP", state: "SUCCEEDED" });
  });
});
