import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FaultServer } from "../clients/fault-server.ts";
import { createPlayer } from "./play.ts";
import { api, problem } from "./responses.ts";

const server = new FaultServer();
const run = createPlayer(server);
beforeAll(() => server.start());
afterAll(() => server.stop());

const request = (id: number, method = "ping") => ({ jsonrpc: "2.0", id, method });
/** Sends these lines, and returns what is printed and the requests that the service gets. */
async function send(...lines: readonly (object | string)[]) {
  const input = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n");
  const { code, out, err } = await run(["mcp"], { input });
  const printed: unknown[] = out.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
  return { code, err, printed, sent: server.seen.map(({ method, path, body }) => [method, path, JSON.parse(body)]) };
}

describe("runyard mcp", () => {
  it("sends each line to the service, and prints each response as a line", async () => {
    const response = { jsonrpc: "2.0", id: 1, result: {} };
    const notification = { jsonrpc: "2.0", method: "notifications/initialized" };
    server.play([api(response)]);
    expect(await send(request(1))).toEqual({
      code: 0,
      err: "",
      printed: [response],
      sent: [["POST", "/mcp", request(1)]],
    });
    server.play([api(undefined, { status: 202, raw: "" })]);
    expect(await send(notification)).toEqual({
      code: 0,
      err: "",
      printed: [],
      sent: [["POST", "/mcp", notification]],
    });
  });

  it("answers lines that are no messages with an error, without sending them", async () => {
    server.play([]);
    const { printed, sent } = await send("{", "", [request(1)], { id: 1, method: "ping" });
    expect(printed).toEqual([
      { jsonrpc: "2.0", id: null, error: { code: -32700, message: "The line is not JSON." } },
      { jsonrpc: "2.0", id: null, error: { code: -32600, message: "The line is not a JSON-RPC 2.0 message." } },
      { jsonrpc: "2.0", id: null, error: { code: -32600, message: "The line is not a JSON-RPC 2.0 message." } },
    ]);
    expect(sent).toEqual([]);
  });

  it("answers a request that the service refuses with an error that says what to do", async () => {
    server.play([problem(401, "authentication_required", "The key is unknown")]);
    const { code, printed } = await send(request(7));
    expect(code).toBe(0);
    expect(printed).toEqual([
      { jsonrpc: "2.0", id: 7, error: { code: -32603, message: expect.stringContaining("`runyard login`") } },
    ]);
  });

  it("aborts a request that its client cancels, and prints no response to it", async () => {
    server.play([api({ jsonrpc: "2.0", id: 1, result: {} }, { delay_ms: 60_000 })]);
    const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } };
    const { printed } = await send(request(1, "tools/call"), cancelled);
    expect(printed).toEqual([]);
  });

  it("ends with exit code 2 where no service is configured", async () => {
    const { code, err } = await run(["mcp"], { env: { RUNYARD_API_KEY: "", RUNYARD_BASE_URL: "" } });
    expect(code).toBe(2);
    expect(err).toContain("runyard login");
  });
});
