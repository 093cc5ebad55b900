import { beforeAll, describe, expect, it } from "vitest";
import { createClient, request } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { startedRun } from "../../support/execution.ts";

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await createTestControlPlane();
});

const refused = (path: string) => ({
  status: 400,
  body: { error_code: "invalid_request", errors: expect.arrayContaining([expect.objectContaining({ path })]) },
});

describe("returns 400 naming a wrong value", () => {
  it("if a time is another format that JavaScript accepts", async () => {
    expect(await createClient(plane).get("/agent/runs?updated_after=0.5")).toMatchObject(refused("updated_after"));
    expect(await createClient(plane).post("/agent/keys", { name: "k", expires_at: "1" })).toMatchObject(
      refused("expires_at"),
    );
  });

  it.each(["-1", "0.5", "many", "1e3"])("if the count of retries is %s", async (count) => {
    const headers = { "x-stainless-retry-count": count };
    expect(await createClient(plane).post("/agent/runs", { prompt: "hello" }, { headers })).toMatchObject(
      refused("x-stainless-retry-count"),
    );
  });

  it("if a line break hides a path outside the workspace", async () => {
    const config = { repositories: [{ url: "https://git.test/a/b.git", path: "a\n/../../b" }] };
    expect(await createClient(plane).post("/agent/runs", { prompt: "hello", config })).toMatchObject(
      refused("config.repositories[0].path"),
    );
  });

  it.each([
    ["a list of servers without names", [{ command: "serve" }], "config.mcp_servers[0].name"],
    ["two servers of one name", ["a", "a"].map((name) => ({ name, command: "serve" })), "config.mcp_servers"],
    ["a list instead of a map", { a: { command: "serve", env: ["A=1"] } }, "config.mcp_servers.a.env"],
  ])("if MCP servers are %s", async (_, servers, path) => {
    const response = await createClient(plane).post("/agent/runs", {
      prompt: "hello",
      config: { mcp_servers: servers },
    });
    expect(response).toMatchObject(refused(path));
  });

  // @contract general.format.null
  it("but accepts null in a nullable member", async () => {
    const response = await createClient(plane).post("/agent/identities", {
      name: "Quiet",
      mcp_servers: null,
      harness: null,
    });
    expect(response.status).toBe(201);
  });
});

describe("a protocol that is not a whole number", () => {
  it("is treated as too old", async () => {
    const { client } = await startedRun(plane);
    const response = await client.post(
      "/harness-support/resolve-prompt",
      {},
      { headers: { "runyard-protocol": "0.5" } },
    );
    expect(response).toMatchObject({ status: 426, body: { error_code: "invalid_request" } });
  });
});

describe("405 for a path that also matches another route's parameter", () => {
  it("allows the methods of the path's own route", async () => {
    const response = await request(plane, "PUT", "/agent/runs/cancel");
    expect([response.status, response.headers["allow"]]).toEqual([405, "POST"]);
  });
});

describe("a repeated request", () => {
  it.each([
    ["/agent/teams", { name: "Short-lived" }, "uid"],
    ["/agent/secrets", { name: "GONE", value: "hush" }, "name"],
    ["/agent/schedules", { name: "Gone", cron_schedule: "@daily", prompt: "hello" }, "id"],
  ])("to POST %s is a conflict if the created resource is deleted", async (path, body, id) => {
    const person = createClient(plane, (await plane.person(`Repeater of ${path}`)).key);
    const client = path === "/agent/secrets" ? createClient(plane) : person;
    const headers = { "idempotency-key": `repeat of ${path}` };
    const first = await client.post(path, body, { headers });
    expect(first.status).toBe(201);
    expect((await client.delete(`${path}/${first.body[id]}`)).status).toBeLessThan(300);
    const response = await client.post(path, body, { headers });
    expect(response).toMatchObject({ status: 409, body: { error_code: "conflict", retryable: false } });
  });
});
