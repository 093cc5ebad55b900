import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCli } from "../../cli/src/program.ts";
import { readGithubApp } from "../../server/secrets/github-app-file.ts";
import { startServer } from "../support/http-server.ts";
import { FakeShell } from "./fake-shell.ts";

const CREATED = {
  id: 314159,
  slug: "runyard-of-acme",
  client_id: "Iv23li",
  client_secret: "a-client-secret",
  webhook_secret: "a-webhook-secret",
  pem: "-----BEGIN RSA PRIVATE KEY-----\n…\n-----END RSA PRIVATE KEY-----\n",
};

let directory = "";
let github: { readonly url: string } & AsyncDisposable;
/** The requests to GitHub, and the codes that it accepts once. */
let seen: string[];
let codes: Set<string>;

/** GitHub, which accepts a code once and nothing else. */
const startGithub = () =>
  startServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    const [, code = ""] = /^\/api\/v3\/app-manifests\/([^/]+)\/conversions$/.exec(request.url ?? "") ?? [];
    const isAccepted = request.method === "POST" && codes.delete(code);
    response.writeHead(isAccepted ? 201 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(isAccepted ? { ...CREATED, owner: { login: "acme" } } : { message: "Not Found" }));
  });

beforeEach(async () => {
  directory = mkdtempSync(path.join(tmpdir(), "runyard-github-setup-"));
  seen = [];
  codes = new Set(["the-code"]);
  github = await startGithub();
});
afterEach(async () => {
  await github[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

/** Runs the command; `browser` opens the address that it prints. */
async function setup(more: readonly string[], browser: (page: string) => Promise<unknown> = async () => undefined) {
  const shell = new FakeShell({ cwd: directory });
  let isEnded = false;
  const args = ["github", "setup", "--github-url", github.url, "--url", "https://runyard.test/", ...more];
  const ended = runCli(shell, args).finally(() => {
    isEnded = true;
  });
  await expect.poll(() => isEnded || shell.stderr.includes("http://127.0.0.1"), { interval: 10 }).toBe(true);
  const [page] = /http:\/\/127\.0\.0\.1:\d+\//.exec(shell.stderr) ?? [];
  if (page !== undefined) await browser(page);
  return { code: await ended, out: shell.stdout, err: shell.stderr };
}

/** Reads the form of the page. */
async function readForm(page: string): Promise<{ action: string; manifest: Record<string, unknown> }> {
  const html = await (await fetch(page)).text();
  const toPlain = (text = "") => text.replaceAll("&lt;", "<").replaceAll("&quot;", '"').replaceAll("&amp;", "&");
  return {
    action: toPlain(/action="([^"]*)"/.exec(html)?.[1]),
    manifest: JSON.parse(toPlain(/name="manifest" value="([^"]*)"/.exec(html)?.[1])),
  };
}

describe("runyard github setup", () => {
  it("sends the manifest with the least rights by the browser, and stores what GitHub returns where the server reads it", async () => {
    const { code, out, err } = await setup(["--org", "acme"], async (page) => {
      const { action, manifest } = await readForm(page);
      const url = new URL(action);
      expect(url.origin + url.pathname).toBe(`${github.url}/organizations/acme/settings/apps/new`);
      expect(manifest).toEqual({
        name: "Runyard",
        url: "https://runyard.test",
        hook_attributes: { url: "https://runyard.test/api/v1/hooks/github-app", active: true },
        redirect_url: `${page}callback`,
        callback_urls: ["https://runyard.test/github"],
        request_oauth_on_install: true,
        public: false,
        default_permissions: {
          actions: "read",
          checks: "write",
          contents: "write",
          issues: "write",
          members: "read",
          metadata: "read",
          pull_requests: "write",
          statuses: "write",
        },
        default_events: expect.arrayContaining(["issue_comment", "pull_request", "workflow_run"]),
      });
      const foreign = await fetch(`${page}callback?code=another&state=guessed`);
      expect(foreign.status).toBe(404);
      await fetch(`${page}callback?code=the-code&state=${url.searchParams.get("state")}`);
    });
    expect(err).not.toContain("error");
    expect(code).toBe(0);
    expect(seen).toEqual(["POST /api/v3/app-manifests/the-code/conversions"]);
    const file = path.join(directory, "github-app.json");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readGithubApp(directory)).toEqual(CREATED);
    for (const secret of [CREATED.client_secret, CREATED.webhook_secret, "PRIVATE KEY"])
      expect(out + err).not.toContain(secret);
  });

  it("takes the code of a browser on another machine, and replaces no file", async () => {
    expect((await setup(["--code", "the-code"])).code).toBe(0);
    const before = readFileSync(path.join(directory, "github-app.json"), "utf8");
    codes.add("the-code");
    const again = await setup(["--code", "the-code"]);
    expect([again.code, again.err]).toEqual([2, expect.stringContaining("github-app.json exists")]);
    expect(readFileSync(path.join(directory, "github-app.json"), "utf8")).toBe(before);
    expect(seen).toHaveLength(1);
  });

  it("stores nothing where GitHub does not accept the code", async () => {
    const { code, err } = await setup(["--code", "spent"]);
    expect(code).toBe(1);
    expect(err).toContain("GitHub refused (404): Not Found\nA code is valid once, for an hour: create the App again.");
    expect(readGithubApp(directory)).toBeUndefined();
  });
});
