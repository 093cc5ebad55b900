import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { runCli } from "../../cli/src/program.ts";
import { FaultServer } from "../clients/fault-server.ts";
import { type FakeOptions, FakeShell } from "./fake-shell.ts";
import { api, problem } from "./responses.ts";

const server = new FaultServer();
let folder = "";
beforeAll(() => server.start());
afterAll(() => server.stop());
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "runyard-cli-"));
  return () => rmSync(folder, { recursive: true });
});

const ME = {
  uid: "u1",
  display_name: "Ada",
  email: "ada@example.com",
  teams: [{ uid: "t1", name: "Core", role: "admin" }],
};
const home = () => path.join(folder, "home");
const stored = () => path.join(home(), ".config/runyard/config.json");

function store(login: object): void {
  mkdirSync(path.dirname(stored()), { recursive: true });
  writeFileSync(stored(), JSON.stringify(login));
}

function startLocal(at: string, local: object): void {
  mkdirSync(path.join(at, ".runyard"), { recursive: true });
  writeFileSync(
    path.join(at, ".runyard/local.json"),
    JSON.stringify({ pid: process.pid, api_key: "ryp_local", ...local }),
  );
}

async function run(args: readonly string[], options: FakeOptions = {}) {
  const shell = new FakeShell({ cwd: folder, home: home(), ...options });
  const code = await runCli(shell, args);
  return { code, out: shell.stdout, err: shell.stderr, shell };
}

const keySent = () => server.seen[0]?.headers["authorization"];

describe("the address and key of a command", () => {
  it("come from the environment first", async () => {
    startLocal(folder, { base_url: "http://127.0.0.1:1/api/v1" });
    store({ base_url: "http://127.0.0.1:2/api/v1", api_key: "ryp_login" });
    server.play([api(ME)]);
    const env = { RUNYARD_API_KEY: "ryp_env", RUNYARD_BASE_URL: `${server.api}/` };
    const { code, out } = await run(["whoami"], { env });
    expect(code).toBe(0);
    expect(keySent()).toBe("Bearer ryp_env");
    expect(out).toContain("ryp_… in RUNYARD_API_KEY");
    expect(out).not.toContain("ryp_env");
  });

  it("come from the local cloud of this folder or one above it, before the login", async () => {
    startLocal(folder, { base_url: server.api });
    store({ base_url: "http://127.0.0.1:2/api/v1", api_key: "ryp_login" });
    const inner = path.join(folder, "a/b");
    mkdirSync(inner, { recursive: true });
    server.play([api(ME)]);
    expect((await run(["whoami"], { cwd: inner })).code).toBe(0);
    expect(keySent()).toBe("Bearer ryp_local");
  });

  it.each([
    ["is gone", { pid: 2 ** 22 + 1 }],
    ["is on another machine", { base_url: "https://elsewhere.example.com/api/v1" }],
    ["is on a machine whose name begins like this one's address", { base_url: "http://127.0.0.1.example.com/api/v1" }],
  ])("do not come from a local cloud that %s", async (_, local) => {
    startLocal(folder, { base_url: "http://127.0.0.1:1/api/v1", ...local });
    store({ base_url: server.api, api_key: "ryp_login" });
    server.play([api(ME)]);
    expect((await run(["whoami"])).code).toBe(0);
    expect(keySent()).toBe("Bearer ryp_login");
  });

  it.each([
    ["come from a local cloud of another user", "EPERM", "Bearer ryp_local"],
    ["do not come from a local cloud that has ended", "ESRCH", "Bearer ryp_login"],
  ])("%s", async (_, code, key) => {
    startLocal(folder, { base_url: server.api });
    store({ base_url: server.api, api_key: "ryp_login" });
    server.play([api(ME)]);
    vi.spyOn(process, "kill").mockImplementation(() => {
      throw Object.assign(new Error(code), { code });
    });
    await run(["whoami"]).finally(() => vi.restoreAllMocks());
    expect(keySent()).toBe(key);
  });

  it("are the stored address with the environment's key, if only that is set", async () => {
    store({ base_url: server.api, api_key: "ryp_login" });
    server.play([api(ME)]);
    await run(["whoami"], { env: { RUNYARD_API_KEY: "ryp_env" } });
    expect(keySent()).toBe("Bearer ryp_env");
  });

  it.each([
    ["another host", () => "https://elsewhere.example.com/api/v1"],
    ["the beginning of its own", () => server.api.slice(0, -1)],
    ["a longer one", () => `${server.api}/v2`],
  ])("never combine a stored key with %s", async (_, toAddress) => {
    store({ base_url: server.api, api_key: "ryp_login" });
    server.play([]);
    const { code, err } = await run(["whoami", "--base-url", toAddress()]);
    expect([code, server.seen]).toEqual([2, []]);
    expect(err).toBe(
      `error: There is no key for ${toAddress()}.\nSet RUNYARD_API_KEY, or store one with \`runyard login\`.\n`,
    );
  });

  it.each([
    ["nothing is configured", {}, "No service is configured."],
    ["only the key is set", { RUNYARD_API_KEY: "ryp_env" }, "RUNYARD_API_KEY is set, but the base URL is missing."],
  ])("are missing with the exit code of a wrong command line if %s", async (_, env, message) => {
    const { code, err } = await run(["whoami"], { env });
    expect([code, err.split("\n")[0]]).toEqual([2, `error: ${message}`]);
  });

  it("are missing in colour only where standard error is a terminal", async () => {
    const red = "\u001b[31merror:\u001b[0m ";
    const toFile = [
      await run(["whoami"], { terminal: true, errTerminal: false }),
      await run(["--x"], { terminal: true, errTerminal: false }),
    ];
    for (const { err } of toFile) expect(err).not.toContain("\u001b");
    const toTerminal = [
      await run(["whoami"], { terminal: false, errTerminal: true }),
      await run(["--x"], { errTerminal: true }),
    ];
    for (const { err } of toTerminal) expect(err.startsWith(red)).toBe(true);
  });

  it("are the stored ones if the environment variables are empty", async () => {
    store({ base_url: server.api, api_key: "ryp_login" });
    server.play([api(ME)]);
    const env = { RUNYARD_API_KEY: "", RUNYARD_BASE_URL: "" };
    expect((await run(["whoami"], { env })).code).toBe(0);
    expect(keySent()).toBe("Bearer ryp_login");
  });

  it("are explained if there is none, or if the address is invalid", async () => {
    writeFileSync(home(), "A file in place of a directory.");
    expect(await run(["runs", "list"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("Log in with `runyard login`"),
    });
    expect(await run(["whoami", "--base-url", "nonsense"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("is not a URL"),
    });
  });
});

describe("runyard whoami", () => {
  it("names the refused key and the reason", async () => {
    store({ base_url: server.api, api_key: "ryp_old" });
    server.play([problem(401, "authentication_required", "the API key has expired")]);
    const { code, err } = await run(["whoami"]);
    expect(code).toBe(4);
    expect(err).toContain("the API key has expired");
    expect(err).toContain(`The key in ${stored()} is invalid or expired.`);
  });
});

describe("runyard login", () => {
  it("prompts for address and key, checks them, and stores them for their owner alone", async () => {
    server.play([api(ME)]);
    const bare = server.api.replace("/api/v1", "");
    const { code, out, err, shell } = await run(["login"], { responses: [bare, " ryp_new "] });
    expect(code).toBe(0);
    expect(shell.questions).toEqual([
      "Address of the service (https://…/api/v1): ",
      "Your key (ryp_… or rya_…): (hidden)",
    ]);
    expect(keySent()).toBe("Bearer ryp_new");
    expect(JSON.parse(readFileSync(stored(), "utf8"))).toEqual({ base_url: server.api, api_key: "ryp_new" });
    expect(statSync(stored()).mode & 0o777).toBe(0o600);
    expect(statSync(path.dirname(stored())).mode & 0o777).toBe(0o700);
    expect(out + err).not.toContain("ryp_new");
  });

  it("accepts an agent's key, and reads it from a pipe", async () => {
    server.play([problem(403, "not_authorized", "people only"), api({ default_model_id: "m", models: [] })]);
    const { code, err } = await run(["login", "--base-url", server.api], { input: "rya_key\n" });
    expect({ code, err }).toEqual({ code: 0, err: "The key belongs to an agent.\n" });
    expect(JSON.parse(readFileSync(stored(), "utf8"))).toMatchObject({ api_key: "rya_key" });
  });

  it.each([
    ["ryp_key", [1], "The key works; it may not read whose it is.\n"],
    ["rya_key", [0, 1], "The key belongs to an agent.\n"],
  ])("accepts %s, which lacks the scopes of the operations that check it", async (input, kinds, note) => {
    const details = ["this call is for personal keys", "the credential lacks the scope teams:read: send …"];
    server.play(kinds.map((kind) => problem(403, "not_authorized", details[kind] ?? "")));
    const { code, err } = await run(["login", "--base-url", server.api], { input });
    expect([code, err, server.left]).toEqual([0, note, 0]);
    expect(JSON.parse(readFileSync(stored(), "utf8"))).toMatchObject({ api_key: input });
  });

  it("stores nothing that does not work", async () => {
    server.play([problem(401, "authentication_required", "no such key")]);
    const { code, err } = await run(["login", "--base-url", server.api], { input: "ryp_bad" });
    expect({ code, err }).toEqual({ code: 4, err: "error: This key is not valid. Nothing was stored.\n" });
    expect(() => statSync(stored())).toThrow("ENOENT");
  });

  it.each(["ryp_secret\nryp_other", "ryp_secret\0"])(
    "refuses a key that cannot be one, without showing it: %j",
    async (input) => {
      server.play([]);
      const { code, out, err } = await run(["login", "--base-url", server.api], { input });
      expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining("characters that no key has") });
      expect(out + err).not.toContain("ryp_secret");
      expect(() => statSync(stored())).toThrow("ENOENT");
    },
  );

  it.each<[string, ReturnType<typeof problem>[]]>([
    ["refuses an agent's key elsewhere", [problem(403, "not_authorized", "no"), problem(401, "unauthenticated", "no")]],
    ["has no such operation", [problem(404, "not_found", "no")]],
    ["takes no more requests", [problem(429, "rate_limited", "no")]],
  ])("stores nothing where the service %s", async (_, responses) => {
    server.play(responses);
    const { code } = await run(["login", "--base-url", server.api], { input: "rya_key" });
    expect([code, server.left, server.complaints]).toEqual([4, 0, []]);
    expect(() => statSync(stored())).toThrow("ENOENT");
  });

  it("stores in XDG_CONFIG_HOME, if it is set, and for the owner alone regardless of an earlier attempt", async () => {
    const config = path.join(folder, "config");
    const file = path.join(config, "runyard/config.json");
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(`${file}.${process.pid}.tmp`, "left", { mode: 0o644 });
    server.play([api(ME), api(ME)]);
    const env = { XDG_CONFIG_HOME: config };
    expect((await run(["login", "--base-url", server.api], { input: "ryp_new", env })).code).toBe(0);
    expect([statSync(file).mode & 0o777, readdirSync(path.dirname(file))]).toEqual([0o600, ["config.json"]]);
    expect(() => statSync(stored())).toThrow("ENOENT");
    expect((await run(["whoami"], { env })).out).toContain(`ryp_… in ${file}`);
  });

  it("names the file of a key that is refused", async () => {
    store({ base_url: server.api, api_key: "ryp_login" });
    server.play([problem(401, "authentication_required", "no such key")]);
    expect((await run(["runs", "list"])).err).toBe(
      `error: authentication required (401): no such key\n  trace id: t-1\nThe key in ${stored()} is invalid or expired. \`runyard login\` stores another.\n`,
    );
  });

  it("warns about an unencrypted address", async () => {
    const { err } = await run(["login", "--base-url", "http://elsewhere.example.com/api/v1"], { input: "" });
    expect(err).toContain("is not encrypted");
  });

  it("is undone by runyard logout, which says so if nothing was stored", async () => {
    store({ base_url: server.api, api_key: "ryp_login" });
    expect(await run(["logout"])).toMatchObject({ code: 0, out: `Removed ${stored()}.\n` });
    expect(() => statSync(stored())).toThrow("ENOENT");
    expect(await run(["logout"])).toMatchObject({ code: 0, out: `Nothing is stored: there is no ${stored()}.\n` });
    expect(JSON.parse((await run(["logout", "--json"])).out)).toEqual({ removed: null });
  });
});

describe("runyard worker", () => {
  const variables = async (args: readonly string[], options: FakeOptions = {}) => {
    const { code, err, shell } = await run(["worker", "--id", "rack-7", ...args], options);
    return { code, err, variables: shell.variables };
  };
  const typed = { RUNYARD_TYPED_COMMAND: "runyard worker" };
  const login = { RUNYARD_BASE_URL: "https://a.example/api/v1", RUNYARD_API_KEY: "ryp_login", ...typed };
  beforeEach(() => store({ base_url: login.RUNYARD_BASE_URL, api_key: login.RUNYARD_API_KEY }));

  it("uses address and key of the login, of a local cloud and of the environment, as all commands do", async () => {
    expect(await variables([])).toEqual({ code: 0, err: "", variables: [login] });
    const env = { RUNYARD_API_KEY: "ryp_env" };
    expect((await variables([], { env })).variables).toEqual([{ ...login, ...env }]);
    startLocal(folder, { base_url: server.api });
    const local = { RUNYARD_BASE_URL: server.api, RUNYARD_API_KEY: "ryp_local", ...typed };
    expect((await variables([])).variables).toEqual([local]);
  });

  it.each(["https://a.example", "https://a.example/", "https://a.example/api/v1/"])(
    "uses the key that was stored for --server %s",
    async (address) => {
      expect((await variables(["--server", address])).variables).toEqual([login]);
      expect((await variables([`--server=${address}`])).variables).toEqual([login]);
    },
  );

  it("sends no key to an address that it was not stored for", async () => {
    const { code, err, variables: sent } = await variables(["--server", "https://b.example"]);
    expect([code, sent]).toEqual([2, []]);
    expect(err).toContain("There is no key for https://b.example/api/v1.");
  });

  it("names the team of --team", async () => {
    store({ base_url: server.api, api_key: "ryp_login" });
    server.play([api(ME)]);
    expect((await variables(["--team", "Core"])).variables).toEqual([
      { RUNYARD_BASE_URL: server.api, RUNYARD_API_KEY: "ryp_login", RUNYARD_TEAM: "t1", ...typed },
    ]);
  });

  it("needs no service to show its help", async () => {
    expect(await variables(["--help"], { home: path.join(folder, "nobody") })).toMatchObject({
      code: 0,
      variables: [typed],
    });
  });
});

describe("runyard bootstrap", () => {
  it("creates the first key from a checkout, and logs in with it if the address is given", async () => {
    server.play([api(ME)]);
    const ran = { code: 0, stdout: '{"team_uid":"t1","key":"ryp_first"}\n' };
    const args = ["bootstrap", "--email", "you@example.com", "--team-name", "Core", "--base-url", server.api];
    const { code, out, shell } = await run(args, { cwd: path.resolve(import.meta.dirname, "../.."), ran });
    expect({ code, out }).toEqual({ code: 0, out: ran.stdout });
    expect(shell.programs[0]?.slice(1)).toEqual([
      "operate/bootstrap.ts",
      "--email",
      "you@example.com",
      "--team",
      "Core",
    ]);
    expect(JSON.parse(readFileSync(stored(), "utf8"))).toEqual({ base_url: server.api, api_key: "ryp_first" });
  });

  it("states where to run it, elsewhere", async () => {
    const { code, err } = await run(["bootstrap", "--email", "you@example.com"]);
    expect(code).toBe(1);
    expect(err).toContain("Run it in the folder that you deployed from");
  });
});

describe("runyard login --oidc", () => {
  const exchanged = api({ key: "rya_oidc", expires_at: "2026-05-18T20:00:00.000Z" }, { status: 201 });
  const agent = [problem(403, "not_authorized", "for personal keys"), api({ default_model_id: "m", models: [] })];

  it("exchanges the token of the environment, and stores the key", async () => {
    server.play([exchanged, ...agent]);
    const env = { RUNYARD_OIDC_TOKEN: "a.b.c" };
    const { code, err } = await run(["login", "--base-url", server.api, "--oidc", "--agent", "x"], { env });
    expect({ code, complaints: server.complaints }).toEqual({ code: 0, complaints: [] });
    expect(JSON.parse(server.seen[0]?.body ?? "")).toEqual({ token: "a.b.c", identity_uid: "x" });
    expect(JSON.parse(readFileSync(stored(), "utf8"))).toEqual({ base_url: server.api, api_key: "rya_oidc" });
    expect(err).toContain("The key is valid until 2026-05-18 20:00:00Z.");
  });

  it("follows no redirect of GitHub with the token of the job's request", async () => {
    const moved = api(undefined, { status: 302, headers: { location: `${server.storage}/token` } });
    server.play([moved, { ...api({ value: "job.oidc.token" }), at: "storage" }, exchanged, ...agent]);
    const env = {
      ACTIONS_ID_TOKEN_REQUEST_URL: `${server.api}/github/token?api-version=2`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: "request-token",
    };
    expect((await run(["login", "--base-url", server.api, "--oidc"], { env })).code).toBe(1);
    expect(server.seen.map(({ at, path: requestPath }) => [at, requestPath])).toEqual([["api", "/github/token"]]);
    expect(() => statSync(stored())).toThrow("ENOENT");
  });

  it("requests the token of a GitHub Actions job, whose audience is the origin of the service", async () => {
    server.play([api({ value: "job.oidc.token" }), exchanged, ...agent]);
    const env = {
      ACTIONS_ID_TOKEN_REQUEST_URL: `${server.api}/github/token?api-version=2`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: "request-token",
    };
    const { code } = await run(["login", "--base-url", server.api, "--oidc"], { env });
    expect(code).toBe(0);
    expect(server.seen[0]?.rawQuery).toContain(`audience=${encodeURIComponent(new URL(server.api).origin)}`);
    expect(JSON.parse(server.seen[1]?.body ?? "")).toEqual({ token: "job.oidc.token" });
  });

  it("says where a token may come from, if there is none", async () => {
    const { code, err } = await run(["login", "--base-url", server.api, "--oidc"]);
    expect(code).toBe(2);
    expect(err).toContain("Set RUNYARD_OIDC_TOKEN, or give the job of GitHub Actions the permission id-token: write.");
  });
});
