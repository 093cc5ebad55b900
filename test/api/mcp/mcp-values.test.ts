import { beforeEach, describe, expect, it } from "vitest";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createHarness, deliver, workingRun } from "../../support/execution.ts";
import { nightly } from "../../support/schedules.ts";

let plane: TestControlPlane;
let user: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
});

const TOKEN = "a-value-of-an-environment";
const HEADER = "Bearer a-value-of-a-header";
const mcp_servers = {
  local: { command: "serve", env: { TOKEN } },
  remote: { url: "https://tracker.test/mcp", headers: { authorization: HEADER } },
};

const stored = () => JSON.stringify(plane.table.all());
const counts = () => [TOKEN, HEADER].map((value) => stored().split(value).length - 1);
const expectNone = (response: unknown) => {
  expect(JSON.stringify(response)).not.toContain(TOKEN);
  expect(JSON.stringify(response)).not.toContain(HEADER);
};

// @contract runs.mcp.secrets: Values of env and headers are returned as ***, never as sent.
describe("values of MCP servers", () => {
  it("of a run are returned only to its own execution, in one member, and in no transcript", async () => {
    const harness = await workingRun(plane, { prompt: "hello", config: { mcp_servers } });
    const { context } = (await harness.resolve()).body;
    expect(context.mcp_servers).toEqual(mcp_servers);
    expectNone({ ...context, mcp_servers: undefined });
    expect(context.agent_config.mcp_servers).toMatchObject({ local: { env: { TOKEN: "***" } } });
    const child = await harness.client.post("/agent/runs", { prompt: "child" });
    expectNone((await createHarness(plane, await plane.dispatch(child.body.run_id)).resolve()).body);
    await harness.finish();
    await deliver(plane);
    expect(counts()).toEqual([1, 1]);
    const path = `/agent/runs/${harness.run_id}`;
    for (const part of ["", "/timeline", "/conversation", "/events?after=0", "/response"])
      expectNone((await user.get(path + part)).body);
    expectNone((await user.get("/agent/runs")).body);
    const { headers } = await user.get(`${path}/transcript`);
    const transcript = await plane.download(headers["location"] ?? "");
    expect(transcript).toContain("run_succeeded");
    expectNone(transcript);
  });

  it("of an identity are not returned to a caller that executes the run itself", async () => {
    const { body: identity } = await user.post("/agent/identities", { name: "Reviewer", mcp_servers });
    const body = { prompt: "hello", agent_identity_uid: identity.uid };
    const { body: local } = await user.post("/agent/runs", { ...body, execution_location: "LOCAL" });
    expectNone((await createClient(plane, local.run_key).post("/harness-support/resolve-prompt", {})).body);
    const hosted = await workingRun(plane, body);
    expect((await hosted.resolve()).body.context.mcp_servers).toEqual(mcp_servers);
  });

  it.each([
    ["an identity", "/agent/identities", { name: "Reviewer", mcp_servers }, (body: { uid: string }) => body.uid],
    [
      "a schedule",
      "/agent/schedules",
      { ...nightly, agent_config: { mcp_servers } },
      (body: { id: string }) => body.id,
    ],
  ])(
    "of %s are in no response, and are kept when the masked values are written back",
    async (_, path, request, idOf) => {
      const made = await user.post(path, request);
      expect(made.status).toBe(201);
      const own = `${path}/${idOf(made.body)}`;
      const read = await user.get(own);
      const written = await user.put(own, { ...request, ...read.body });
      expect(written.status).toBe(200);
      for (const { body } of [made, read, written, await user.get(path)]) {
        expectNone(body);
        expect(JSON.stringify(body)).toContain('"TOKEN":"***"');
      }
      expect(counts()).toEqual([1, 1]);
    },
  );

  it("are not repeated in the error response to a request that contains one", async () => {
    const config = {
      mcp_servers: { ...mcp_servers, both: { command: "serve", url: "https://a.test", env: { TOKEN } } },
    };
    const responses = [
      await user.post("/agent/runs", { prompt: "hello", config }),
      await user.post("/agent/identities", { name: "Reviewer", mcp_servers: config.mcp_servers }),
      await user.post("/agent/schedules", { ...nightly, agent_config: config }),
    ];
    for (const { status, body } of responses) {
      expect(status).toBe(400);
      expectNone(body);
    }
    expect(counts()).toEqual([0, 0]);
  });
});
