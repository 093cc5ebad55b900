import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { chooseToken, separateCredential } from "#harness/git/repository-access.ts";
import { FakeControlPlane, type RunContext } from "../../../lab/fake-control-plane.ts";
import { type Certificate, createCertificate } from "../../../lab/git/certificate.ts";
import { GitServer } from "../support/git-server.ts";
import { commandLines } from "../support/processes.ts";
import { Repository } from "../support/repository.ts";
import { runHarness, startHarness } from "../support/run-harness.ts";

const TOKEN = "ghs_0123456789abcdefghijklmnopqrstuvwxyz";
let folder: string;
let certificate: Certificate;
let repository: Repository;
let server: GitServer;
let url: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "harness-test-tls-"));
  certificate = createCertificate(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeEach(async () => {
  repository = new Repository("shop", { "a.txt": "private words" });
  server = await GitServer.start(
    repository,
    certificate,
    (user, password) => user === "x-access-token" && password === TOKEN,
  );
  url = `${server.origin}/acme/shop`;
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  repository[Symbol.dispose]();
});

const sh = (...commands: string[]) => commands.map((command) => `\`\`\`sh\n${command}\n\`\`\`\n`).join("\n");
const portOf = (each: Server): number => {
  const address = each.address();
  return typeof address === "object" ? (address?.port ?? 0) : 0;
};
const trusting = () => ({ GIT_SSL_CAINFO: certificate.file });
async function run(context: Partial<RunContext>, ...commands: string[]) {
  const plane = await FakeControlPlane.start({ prompt: sh(...commands), context });
  const ended = await runHarness(plane, trusting());
  return { plane, ...ended, [Symbol.asyncDispose]: () => plane[Symbol.asyncDispose]() };
}
const made = (at: string, token = TOKEN) => [
  { url: at, token, expires_at: new Date(Date.now() + 3_600_000).toISOString() },
];

describe("cloning a private repository", () => {
  it("uses the token that the service created for it and leaves no trace of it in the sandbox", async () => {
    await using it = await run(
      { agent_config: { repositories: [{ url }] }, repository_tokens: made(url) },
      "cat a.txt; cat .git/config; git config --list --show-origin",
      `t=$(echo ${[...TOKEN].reverse().join("")} | rev); (grep -rlF "$t" /workspace ~ /tmp /run 2>/dev/null || true) | wc -l; env | grep -cF "$t" || true`,
      "git fetch origin 2>&1 | tail -1 || true",
    );
    expect(it.plane.outcome?.success).toBe(true);
    expect(it.plane.outputs[0]).toContain("private words");
    expect(it.plane.outputs[0]).toContain(`url = ${url}`);
    expect(it.plane.outputs[0]).not.toMatch(/helper|x-access-token/);
    expect(it.plane.outputs[1]).toBe("0\n0\n");
    expect(it.plane.everything + it.log).not.toContain(TOKEN);
  });

  it("goes through the proxy of a run with an allowlist, in which it finds allowed hosts only", async () => {
    const agent_config = { repositories: [{ url }] };
    const network = (...domains: string[]) => ({ network: { mode: "allowlist" as const, domains } });
    await using allowed = await run(
      { agent_config, repository_tokens: made(url), ...network("repository") },
      "cat a.txt; git fetch origin 2>&1 | tail -1 || true",
    );
    expect(allowed.plane.outputs[0], allowed.log).toContain("private words");
    await using refused = await run({ agent_config, repository_tokens: made(url), ...network("a.example") }, "true");
    expect(refused.plane.outcome?.summary).toContain("blocked: 127.0.0.1, add it to the environment's network.domains");
    expect(allowed.plane.everything + allowed.log).not.toContain(TOKEN);
  });

  it("follows no redirect to a host that the allowlist of the run does not have", async () => {
    let connections = 0;
    const other = createServer(certificate).on("connection", () => {
      connections++;
    });
    const moved = createServer(certificate, ({ url: path }, response) =>
      response.writeHead(302, { location: `https://localhost:${portOf(other)}${path}` }).end(),
    );
    for (const each of [other, moved]) await once(each.listen(0, "127.0.0.1"), "listening");
    const agent_config = { repositories: [{ url: `https://127.0.0.1:${portOf(moved)}/acme/shop` }] };
    await using limited = await run({ agent_config, network: { mode: "allowlist", domains: ["repository"] } }, "true");
    const blocked = limited.plane.events.filter(({ event_name }) => event_name === "network_blocked");
    expect(blocked.map(({ payload }) => payload?.detail)).toEqual([expect.stringContaining("blocked: localhost,")]);
    expect([limited.plane.outcome?.success, connections]).toEqual([false, 0]);
    await using open = await run({ agent_config }, "true");
    expect([open.plane.outcome?.success, connections > 0], open.log).toEqual([false, true]);
    for (const each of [other, moved]) each.close();
  });

  it("checks out a ref that clones do not include", async () => {
    repository.git("update-ref", "refs/pull/7/head", repository.commit({ "a.txt": "hidden" }));
    await using it = await run(
      { agent_config: { repositories: [{ url, ref: "refs/pull/7/head" }] }, repository_tokens: made(url) },
      "cat a.txt",
    );
    expect(it.plane.outputs).toEqual(["hidden"]);
  });

  it("shows the token in no process list", async () => {
    await using plane = await FakeControlPlane.start({
      prompt: sh("true"),
      context: { agent_config: { repositories: [{ url }] }, repository_tokens: made(url) },
    });
    const harness = startHarness(plane, trusting());
    const lists: string[] = [];
    const timer = setInterval(() => lists.push(...commandLines()), 5);
    await harness.ended;
    clearInterval(timer);
    expect(lists.some((line) => line.includes("clone"))).toBe(true);
    expect(lists.filter((line) => line.includes(TOKEN))).toEqual([]);
  });

  it("keeps the URL's credential out of the clone and of every process list", async () => {
    repository.git("update-ref", "refs/pull/7/head", repository.commit({ "a.txt": "hidden" }));
    const withCredential = url.replace("https://", `https://x-access-token:${TOKEN}@`);
    await using plane = await FakeControlPlane.start({
      prompt: sh(
        "cat a.txt; git remote get-url origin",
        `t=$(echo ${[...TOKEN].reverse().join("")} | rev); grep -rlF "$t" . ~ /tmp || true`,
      ),
      context: { agent_config: { repositories: [{ url: withCredential, ref: "refs/pull/7/head" }] } },
    });
    const harness = startHarness(plane, trusting());
    const lists: string[] = [];
    const timer = setInterval(() => lists.push(...commandLines()), 5);
    await harness.ended;
    clearInterval(timer);
    expect(plane.outputs).toEqual([`hidden${url}\n`, ""]);
    const ofGit = lists.filter((line) => line.includes("git"));
    expect(ofGit.some((line) => line.includes("clone"))).toBe(true);
    expect(ofGit.filter((line) => line.includes(TOKEN))).toEqual([]);
  });

  it("offers the token to its repository, and to no other host, path or scheme", () => {
    const { variables } = separateCredential("https://git.example/acme/shop", TOKEN);
    const offered = (requested: string): string => {
      const { protocol, host, pathname } = new URL(requested);
      const input = `protocol=${protocol.slice(0, -1)}\nhost=${host}\npath=${pathname.slice(1)}\n\n`;
      const env = { ...process.env, ...variables, GIT_CONFIG_NOSYSTEM: "1", HOME: folder, GIT_TERMINAL_PROMPT: "0" };
      const { stdout } = spawnSync("git", ["credential", "fill"], { input, env, encoding: "utf8" });
      return stdout;
    };
    expect(offered("https://git.example/acme/shop")).toMatch(`username=x-access-token\npassword=${TOKEN}`);
    for (const other of [
      "https://other.example/acme/shop",
      "https://git.example/acme/other",
      "http://git.example/acme/shop",
      "https://git.example:8443/acme/shop",
    ]) {
      expect(offered(other), other).not.toContain(TOKEN);
    }
  });

  it("accepts a URL whose credential is only a user name", async () => {
    await using open = await GitServer.start(
      repository,
      certificate,
      (user, password) => user === TOKEN && password === "",
    );
    const clean = `${open.origin}/acme/shop`;
    await using it = await run(
      { agent_config: { repositories: [{ url: clean.replace("https://", `https://${TOKEN}@`) }] } },
      "cat a.txt; git remote get-url origin",
    );
    expect(it.plane.outputs).toEqual([`private words${clean}\n`]);
  });

  it("uses the secret that the repository names", async () => {
    await using it = await run(
      {
        agent_config: { repositories: [{ url, token_secret: "SHOP" }] },
        secrets: [{ name: "SHOP", value: `${TOKEN}\n` }],
      },
      "cat a.txt",
    );
    expect(it.plane.outputs).toEqual(["private words"]);
  });

  it("ends the run FAILED with a hint when the secret is missing or the token is not accepted", async () => {
    await using absent = await run({ agent_config: { repositories: [{ url, token_secret: "SHOP" }] } }, "true");
    expect(absent.plane.outcome).toMatchObject({ success: false, error_code: "environment_setup_failed" });
    expect(absent.plane.outcome?.summary).toContain("the run has no secret SHOP");
    await using nobody = await run({ agent_config: { repositories: [{ url }] } }, "true");
    expect(nobody.plane.outcome?.summary).toMatch(
      /(could not read Username|Authentication failed).*it may be private: install .*token_secret/,
    );
    await using wrong = await run(
      { agent_config: { repositories: [{ url }] }, repository_tokens: made(url, `${TOKEN}x`) },
      "true",
    );
    expect(wrong.plane.outcome?.summary).toMatch(/Authentication failed.*its token cannot read it/);
    expect(wrong.plane.everything + wrong.log).not.toContain(`${TOKEN}x`);
    expect(wrong.plane.events).toMatchObject([{ event_name: "setup_repo_clone", payload: { is_error: true } }]);
  });

  it("sends the token to no other address", async () => {
    using other = new Repository("other", { "a.txt": "1" });
    await using greedy = await GitServer.start(other, certificate, () => false);
    const repositories = [
      { url },
      { url: `${greedy.origin}/acme/other` },
      { url: `${server.origin}/acme/shop2`, path: "third" },
    ];
    await using it = await run({ agent_config: { repositories }, repository_tokens: made(url) }, "true");
    expect(it.plane.outcome?.success).toBe(false);
    expect(greedy.seen.length).toBeGreaterThan(0);
    expect(greedy.seen.filter(({ authorization }) => authorization !== undefined)).toEqual([]);
    const elsewhere = server.seen.filter(({ path }) => path.startsWith("/acme/shop2"));
    expect(elsewhere.filter(({ authorization }) => authorization !== undefined)).toEqual([]);
  });
});

describe("chooseToken", () => {
  const secrets = [
    { name: "GITHUB_TOKEN", value: "of-github" },
    { name: "OTHER", value: "other" },
    { name: "GONE", unavailable: "the team has no secret of this name" },
  ];
  const github = "https://github.com/acme/shop";

  it("prefers the named secret, then the created token, then, on GitHub, a secret with a GitHub token", () => {
    expect(chooseToken({ url: github, token_secret: "OTHER" }, { secrets, repository_tokens: made(github) })).toBe(
      "other",
    );
    expect(chooseToken({ url: github }, { secrets, repository_tokens: made(github) })).toBe(TOKEN);
    expect(chooseToken({ url: github }, { secrets })).toBe("of-github");
    expect(chooseToken({ url: github }, {})).toBeUndefined();
  });

  it("returns no token for other hosts, other protocols and URLs with credentials", () => {
    for (const other of [
      "https://gitlab.com/acme/shop",
      "https://github.com.evil.example/acme/shop",
      "https://me:token@github.com/acme/shop",
      "ssh://git@github.com/acme/shop",
      "file:///srv/github.com/shop",
    ])
      expect(chooseToken({ url: other }, { secrets, repository_tokens: made(github) }), other).toBeUndefined();
  });

  it("throws if the run does not have the secret or the URL does not accept a token", () => {
    for (const name of ["GONE", "ABSENT"])
      expect(() => chooseToken({ url: github, token_secret: name }, { secrets })).toThrow(name);
    expect(() => chooseToken({ url: "ssh://git@github.com/acme/shop", token_secret: "OTHER" }, { secrets })).toThrow(
      "https",
    );
  });
});
