import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createHarness, createRun, startedRun } from "../../support/execution.ts";
import { OAuthStandIn } from "../../support/oauth-stand-in.ts";
import { nightly } from "../../support/schedules.ts";

let plane: TestControlPlane;
let user: Client;
let oauth: OAuthStandIn;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
  oauth = await OAuthStandIn.start();
  await oauth.allowClient("runyard");
  oauth.refreshToken = "the-first-refresh-token";
  oauth.accessToken = "the-first-access-token";
});
afterEach(() => oauth[Symbol.asyncDispose]());

const HOUR = 3_600_000;
const renewal = (more: object = {}) => ({
  server_url: oauth.mcpUrl,
  token_endpoint: oauth.tokenEndpoint,
  client_id: "runyard",
  refresh_token: "the-first-refresh-token",
  resource: oauth.mcpUrl,
  expires_in: 3600,
  ...more,
});
const keep = async (more: object = {}) =>
  await user.post("/agent/secrets", { name: "TRACKER", value: "the-first-access-token", renewal: renewal(more) });
const body = { prompt: "hello", config: { secrets: [{ name: "TRACKER" }] } };

/** The secrets of a new execution. */
async function start() {
  const harness = await startedRun(plane, body);
  return { harness, secrets: (await harness.resolve()).body.context.secrets };
}

describe("a secret that is a token with a renewal", () => {
  it("is renewed before an execution starts with a token that is about to expire, and again by the rotated refresh token", async () => {
    expect((await keep()).status).toBe(201);
    expect((await start()).secrets).toEqual([{ name: "TRACKER", value: "the-first-access-token", renewable: true }]);
    expect(oauth.renewals).toBe(0);
    for (let round = 1; round <= 3; round++) {
      plane.clock.now += HOUR - 60_000;
      const { secrets } = await start();
      expect(secrets).toEqual([{ name: "TRACKER", value: oauth.accessToken, renewable: true }]);
      expect(oauth.renewals).toBe(round);
    }
    expect((await user.get("/agent/secrets/TRACKER")).body.renewal).toEqual({
      server_url: oauth.mcpUrl,
      token_endpoint: oauth.tokenEndpoint,
      renewed_at: new Date(plane.clock.now).toISOString(),
      expires_at: new Date(plane.clock.now + HOUR).toISOString(),
    });
  });

  it("is renewed once for executions that start at the same time", async () => {
    await keep();
    plane.clock.now += HOUR;
    const harnesses = [];
    for (let run = 0; run < 3; run++)
      harnesses.push(createHarness(plane, await plane.dispatch(await createRun(plane, body))));
    const responses = await Promise.all(harnesses.map((harness) => harness.resolve()));
    const secrets = responses.map((response) => response.body.context.secrets);
    expect(secrets).toEqual(harnesses.map(() => [{ name: "TRACKER", value: oauth.accessToken, renewable: true }]));
    expect(oauth.renewals).toBe(1);
  });

  it("is renewed when a harness says that a server has refused it, but not right after that", async () => {
    await keep({ expires_in: undefined });
    const { harness } = await start();
    plane.clock.now += 2 * 60_000;
    const refused = { refused_secrets: ["TRACKER"] };
    const first = await harness.resolve(refused);
    expect(first.body.context.secrets[0].value).toBe(oauth.accessToken);
    expect(oauth.accessToken).not.toBe("the-first-access-token");
    expect((await harness.resolve(refused)).body.context.secrets[0].value).toBe(oauth.accessToken);
    expect(oauth.renewals).toBe(1);
  });

  it("says how to sign in again, to executions and in the schedules that use it, where the server refuses", async () => {
    await keep();
    const schedule = await user.post("/agent/schedules", { ...nightly, agent_config: body.config });
    oauth.revoke();
    plane.clock.now += HOUR;
    const remedy = `refuses to renew its token (invalid_grant): run \`runyard mcp login ${oauth.mcpUrl} --secret TRACKER\` again`;
    const expected = {
      name: "TRACKER",
      value: "the-first-access-token",
      renewable: true,
      problem: expect.stringContaining(remedy),
    };
    expect((await start()).secrets).toEqual([expected]);
    expect((await start()).secrets).toEqual([expected]);
    expect(oauth.renewals).toBe(1);
    expect((await user.get(`/agent/schedules/${schedule.body.id}`)).body.secret_error).toContain(`secret TRACKER: `);
    expect((await user.get("/agent/secrets/TRACKER")).body.renewal.refusal).toContain(remedy);
    await user.delete("/agent/secrets/TRACKER");
    oauth.refreshToken = "the-first-refresh-token";
    await keep();
    expect((await user.get(`/agent/schedules/${schedule.body.id}`)).body).not.toHaveProperty("secret_error");
  });

  it("keeps its value where the token endpoint does not respond, and is renewed later", async () => {
    await keep({ token_endpoint: "http://127.0.0.1:1/token" });
    plane.clock.now += HOUR;
    for (let round = 0; round < 2; round++)
      expect((await start()).secrets[0]).toMatchObject({
        value: "the-first-access-token",
        problem: "its token cannot be renewed: 127.0.0.1:1 does not respond",
      });
    expect((await user.get("/agent/secrets/TRACKER")).body.renewal).not.toHaveProperty("refusal");
  });

  it("is never renewed at an address of a private network", async () => {
    await keep({ token_endpoint: "http://169.254.169.254/token" });
    plane.clock.now += HOUR;
    expect((await start()).secrets[0].problem).toContain("169.254.169.254 is not an address on the internet");
  });

  it("returns its refresh token to nobody, and is deleted with it", async () => {
    const made = await keep({ client_secret: "the-secret-of-the-client" });
    const { harness } = await start();
    const shown = [
      made.body,
      (await user.get("/agent/secrets")).body,
      (await harness.resolve()).body,
      plane.table.all(),
    ];
    expect(JSON.stringify(shown)).not.toMatch(/the-first-refresh-token|the-secret-of-the-client/);
    expect(plane.vault.values.size).toBe(2);
    await user.delete("/agent/secrets/TRACKER");
    expect(plane.vault.values.size).toBe(0);
  });

  it.each([
    ["token_endpoint", "ftp://auth.example.com/token"],
    ["server_url", "mcp.example.com"],
    ["refresh_token", ""],
    ["expires_in", -1],
  ])("returns 400 for an invalid %s, and stores nothing", async (member, value) => {
    const { status, body: problem } = await keep({ [member]: value });
    expect([status, problem.detail]).toEqual([400, expect.stringContaining(`renewal.${member}`)]);
    expect(plane.vault.values.size).toBe(0);
  });
});
