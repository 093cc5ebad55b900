import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { runCli } from "../../cli/src/program.ts";
import { FaultServer } from "../clients/fault-server.ts";
import { OAuthStandIn } from "../support/oauth-stand-in.ts";
import { FakeShell } from "./fake-shell.ts";
import { api, problem } from "./responses.ts";

const service = new FaultServer();
beforeAll(() => service.start());
afterAll(() => service.stop());

let oauth: OAuthStandIn;
let home = "";
beforeEach(async () => {
  oauth = await OAuthStandIn.start();
  home = mkdtempSync(path.join(tmpdir(), "runyard-mcp-login-"));
});
afterEach(async () => {
  await oauth[Symbol.asyncDispose]();
  rmSync(home, { recursive: true });
});

const stored = api({ name: "TRACKER", created_at: "2026-01-01T00:00:00.000Z" }, { status: 201 });
const file = () => path.join(home, ".config/runyard/mcp/TRACKER.json");
const secrets = () =>
  service.seen.map(({ method, path: place, body }) => [method, place, body && JSON.parse(body).value]);

/** Runs a command; `browser` opens the address that it prints. */
async function run(args: readonly string[], browser: (url: string) => Promise<unknown> = (url) => fetch(url)) {
  const env = { RUNYARD_API_KEY: "ryp_secret", RUNYARD_BASE_URL: service.api };
  const shell = new FakeShell({ env, home });
  let isEnded = false;
  const ended = runCli(shell, args).finally(() => {
    isEnded = true;
  });
  await expect.poll(() => isEnded || shell.stderr.includes("/authorize?"), { interval: 10 }).toBe(true);
  const [url] = /http:\S+\/authorize\?\S+/.exec(shell.stderr) ?? [];
  if (url !== undefined) await browser(url);
  return { code: await ended, out: shell.stdout, err: shell.stderr };
}
const login = (...more: string[]) => ["mcp", "login", oauth.mcpUrl, "--secret", "TRACKER", ...more];

describe("runyard mcp login", () => {
  it("signs in with PKCE, and leaves the refresh token to a service that renews the secret", async () => {
    const item = {
      server_url: oauth.mcpUrl,
      token_endpoint: oauth.tokenEndpoint,
      renewed_at: "2026-01-01T00:00:00.000Z",
    };
    service.play([api({ name: "TRACKER", created_at: "2026-01-01T00:00:00.000Z", renewal: item }, { status: 201 })]);
    const { code, out, err } = await run(login());
    expect([code, out]).toEqual([0, expect.stringContaining("The service renews it before runs start")]);
    expect(JSON.parse(service.seen[0]?.body ?? "{}")).toEqual({
      name: "TRACKER",
      value: oauth.accessToken,
      renewal: {
        server_url: oauth.mcpUrl,
        token_endpoint: oauth.tokenEndpoint,
        resource: oauth.mcpUrl,
        client_id: expect.any(String),
        refresh_token: oauth.refreshToken,
        expires_in: 3600,
      },
    });
    expect(out + err).not.toContain(oauth.refreshToken);
    expect(existsSync(file())).toBe(false);
    expect((await run(["mcp", "refresh", "TRACKER"])).err).toContain("The service itself renews");
  });

  it("stores the access token as a secret, and the refresh token on this machine where the service does not renew it", async () => {
    service.play([stored]);
    const { code, out, err } = await run(login());
    expect(err).not.toContain("error");
    expect(code).toBe(0);
    expect(secrets()).toEqual([["POST", "/agent/secrets", oauth.accessToken]]);
    expect(out).toContain('"Bearer ${TRACKER}"');
    expect(out + err).not.toContain(oauth.accessToken);
    expect(JSON.parse(readFileSync(file(), "utf8"))).toMatchObject({
      url: oauth.mcpUrl,
      base_url: service.api,
      refresh_token: oauth.refreshToken,
    });
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect((await oauth.call(oauth.accessToken)).status).toBe(200);
  });

  it("replaces a secret of the same name", async () => {
    const taken = problem(409, "conflict", "name: a secret with this name exists; delete it first");
    service.play([taken, api(undefined, { status: 204, raw: "" }), stored]);
    expect((await run(login())).code).toBe(0);
    expect(secrets().map(([method, place]) => [method, place])).toEqual([
      ["POST", "/agent/secrets"],
      ["DELETE", "/agent/secrets/TRACKER"],
      ["POST", "/agent/secrets"],
    ]);
  });

  it.each([
    ["names another resource", { resource: "https://other.example.com/mcp" }, "names another server"],
    ["has an authorization server that calls itself otherwise", { issuer: "https://evil.example.com" }, "calls itself"],
    ["has no PKCE", { methods: ["plain"] }, "PKCE"],
    ["registers no clients", { registration: false }, "--client-id"],
    ["sends tokens without encryption", { tokenEndpoint: "http://192.0.2.1/token" }, "publishes no metadata"],
  ])("refuses a server that %s", async (_, faults, message) => {
    service.play([]);
    Object.assign(oauth.faults, faults);
    const { code, err } = await run(login());
    expect(err).toContain(message);
    expect(code).toBeGreaterThan(0);
    expect(service.seen).toEqual([]);
  });

  it.each([
    ["another state", "state", "x", "belongs to another sign-in"],
    ["another issuer", "iss", "https://evil.example.com", "comes from https://evil.example.com"],
  ])("stores nothing if the browser returns with %s", async (_, member, value, message) => {
    service.play([]);
    const { code, err } = await run(login(), async (url) => {
      const response = await fetch(url, { redirect: "manual" });
      const back = new URL(response.headers.get("location") ?? "");
      back.searchParams.set(member, value);
      await fetch(back);
    });
    expect(err).toContain(message);
    expect(code).toBe(1);
  });

  it("says that the person refused", async () => {
    service.play([]);
    oauth.faults.denied = true;
    expect((await run(login())).err).toContain("The sign-in failed: the person refused");
  });

  it("uses a client that the server knows", async () => {
    service.play([stored]);
    oauth.faults.registration = false;
    const port = await oauth.allowClient("known");
    expect((await run(login("--client-id", "known", "--port", String(port)))).code).toBe(0);
  });

  it("refuses an invalid port and an invalid name", async () => {
    expect((await run(login("--port", "x"))).err).toContain(
      "--port <number>' argument 'x' is invalid. Expected a whole number from 0 to 65535",
    );
    const args = ["mcp", "login", oauth.mcpUrl, "--secret", "../x"];
    expect((await run(args)).err).toContain("--secret takes the name of a secret");
  });
});

describe("runyard mcp refresh", () => {
  it("replaces the access token, also when the server rotates the refresh token", async () => {
    service.play([stored]);
    await run(login());
    const first = oauth.accessToken;
    for (let round = 0; round < 2; round++) {
      service.play([stored]);
      expect(await run(["mcp", "refresh", "TRACKER"])).toMatchObject({ code: 0 });
      expect(secrets()).toEqual([["POST", "/agent/secrets", oauth.accessToken]]);
    }
    expect((await oauth.call(first)).status).toBe(401);
    expect((await oauth.call(oauth.accessToken)).status).toBe(200);
  });

  it("keeps the new refresh token where the service cannot be reached", async () => {
    service.play([stored]);
    await run(login());
    service.play([problem(403, "not_authorized", "no")]);
    expect((await run(["mcp", "refresh", "TRACKER"])).code).toBe(4);
    expect(JSON.parse(readFileSync(file(), "utf8")).refresh_token).toBe(oauth.refreshToken);
    service.play([stored]);
    expect((await run(["mcp", "refresh", "TRACKER"])).code).toBe(0);
  });

  it("says how to sign in again when the server refuses", async () => {
    service.play([stored]);
    await run(login());
    oauth.revoke();
    service.play([]);
    const { code, err } = await run(["mcp", "refresh", "TRACKER"]);
    expect(code).toBe(1);
    expect(err).toContain("invalid_grant");
    expect(err).toContain(`runyard mcp login ${oauth.mcpUrl} --secret TRACKER`);
  });

  it("knows only the logins of this machine", async () => {
    const { code, err } = await run(["mcp", "refresh", "OTHER"]);
    expect([code, err]).toEqual([2, expect.stringContaining("no login for the secret OTHER")]);
  });
});
