import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { cloneRepository } from "#harness/git/clone.ts";
import { writeGitConfig } from "#harness/git/run-git.ts";
import type { NamedRepository } from "#harness/git/submodules.ts";
import type { Repository as RepositoryConfig } from "#shared/wire/config.ts";
import { FakeControlPlane } from "../../../lab/fake-control-plane.ts";
import { type Certificate, createCertificate } from "../../../lab/git/certificate.ts";
import { GitServer } from "../support/git-server.ts";
import { Repository } from "../support/repository.ts";
import { runHarness } from "../support/run-harness.ts";

const TOKEN = "ghs_0123456789abcdefghijklmnopqrstuvwxyz";
let folder: string;
let workspace: string;
let certificate: Certificate;
let shop: Repository;
let server: GitServer;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "harness-test-tls-"));
  certificate = createCertificate(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeEach(async () => {
  vi.stubEnv("GIT_SSL_CAINFO", certificate.file);
  workspace = mkdtempSync(join(tmpdir(), "harness-test-"));
  await writeGitConfig(workspace);
  shop = new Repository("shop", { "a.txt": "shop" });
  server = await GitServer.start(shop, certificate, (_, password) => password === TOKEN);
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  shop[Symbol.dispose]();
  vi.unstubAllEnvs();
  rmSync(workspace, { recursive: true, force: true });
});

/** Serves another repository, at `/<any owner>/<name>`. Its submodules are paths with URLs. */
function serve(name: string, submodules: Readonly<Record<string, string>> = {}): void {
  using source = new Repository(name, { "a.txt": name });
  addSubmodules(source, submodules);
  execFileSync("git", ["clone", "--quiet", "--bare", source.path, join(dirname(shop.path), name)]);
}

/** Records submodules in the next commit, at any commit of theirs. */
function addSubmodules(repository: Repository, submodules: Readonly<Record<string, string>>): void {
  const entries = Object.entries(submodules);
  if (entries.length === 0) return;
  const sections = entries.map(([path, url]) => `[submodule "${path}"]\n\tpath = ${path}\n\turl = ${url}\n`);
  repository.commit({ ".gitmodules": sections.join("") });
  for (const [path, url] of entries) {
    const place = join(dirname(shop.path), /([^/]+?)(?:\.git)?\/?$/.exec(url)?.[1] ?? "");
    const head = existsSync(place) ? execFileSync("git", ["-C", place, "rev-parse", "HEAD"], { encoding: "utf8" }) : "";
    repository.git("update-index", "--add", "--cacheinfo", `160000,${head.trim() || "1".repeat(40)},${path}`);
  }
  repository.git("commit", "--quiet", "--message=submodules");
}

const url = (owner = "acme", name = "shop") => `${server.origin}/${owner}/${name}`;
const clone = (more: Partial<RepositoryConfig> = {}, named: readonly NamedRepository[] = []) =>
  cloneRepository(
    "it",
    { url: url(), submodules: true, ...more },
    { workspace, etc: workspace, timeoutMs: 120_000, signal: new AbortController().signal, token: TOKEN, named },
  );
const readClone = (path: string) => readFileSync(join(workspace, "it", path), "utf8");

describe("the submodules of a repository", () => {
  it("are cloned with their own submodules and the token of the repository, if they have the same owner", async () => {
    serve("inner");
    serve("lib", { deep: "../inner" });
    serve("tools");
    addSubmodules(shop, { "vendor/lib": "../lib", "vendor/my tools": url("acme", "tools") });
    expect((await clone()).omissions).toEqual([]);
    expect([
      readClone("vendor/lib/a.txt"),
      readClone("vendor/lib/deep/a.txt"),
      readClone("vendor/my tools/a.txt"),
    ]).toEqual(["lib", "inner", "tools"]);
    const config = readClone(".git/config") + readClone(".git/modules/vendor/lib/config");
    expect(config).toContain(url("acme", "lib"));
    expect(config).not.toContain(TOKEN);
  });

  it("have the depth of the repository", async () => {
    using lib = new Repository("lib", { "a.txt": "1" });
    for (const text of ["2", "3"]) lib.commit({ "a.txt": text });
    execFileSync("git", ["clone", "--quiet", "--bare", lib.path, join(dirname(shop.path), "lib")]);
    addSubmodules(shop, { lib: "../lib" });
    expect((await clone({ depth: 1 })).omissions).toEqual([]);
    const counted = execFileSync("git", ["-C", join(workspace, "it/lib"), "rev-list", "--count", "HEAD"]);
    expect(counted.toString()).toBe("1\n");
  });

  it("are left out, reported and sent no token, if they have another owner, server or protocol", async () => {
    serve("lib");
    await using other = await GitServer.start(shop, certificate, () => false);
    addSubmodules(shop, {
      owner: url("other", "lib"),
      dots: `${server.origin}/acme/%2e%2e/other/lib`,
      relative: "../../other/lib",
      server: `${other.origin}/acme/lib`,
      ssh: "git@127.0.0.1:acme/lib",
      file: `file://${shop.path}`,
      user: url("acme", "lib").replace("https://", "https://me:pass@"),
    });
    const before = server.seen.length;
    const { omissions } = await clone();
    const foreign = `${url("other", "lib")} has another owner: add it to the repositories of the run`;
    expect(omissions).toEqual([
      `submodule owner (${foreign})`,
      `submodule dots (${foreign})`,
      `submodule relative (${foreign})`,
      `submodule server (${other.origin}/acme/lib has another owner: add it to the repositories of the run)`,
      "submodule ssh (git@127.0.0.1:acme/lib is not an https URL without credentials)",
      `submodule file (file://${shop.path} is not an https URL without credentials)`,
      `submodule user (${url("acme", "lib").replace("https://", "https://***@")} is not an https URL without credentials)`,
    ]);
    expect(other.seen).toEqual([]);
    expect(server.seen.slice(before).filter(({ path }) => !path.startsWith("/acme/shop"))).toEqual([]);
  });

  it("are cloned with the token of a repository that the run names, however its URL is written", async () => {
    serve("lib");
    addSubmodules(shop, { lib: url("other", "lib") });
    const named = [{ url: `${url("other", "lib")}.git/`, token: TOKEN }];
    expect((await clone({}, named)).omissions).toEqual([]);
    expect(readClone("lib/a.txt")).toBe("lib");
    rmSync(join(workspace, "it"), { recursive: true });
    const withoutToken = [{ url: url("other", "lib"), token: undefined }];
    expect((await clone({}, withoutToken)).omissions).toEqual([
      expect.stringMatching(/^submodule lib \(.*other\/lib: /),
    ]);
  });

  it("are reported when they cannot be cloned, and other parts remain", async () => {
    serve("lib");
    addSubmodules(shop, { gone: "../gone", lib: "../lib" });
    expect((await clone()).omissions).toEqual([expect.stringMatching(/^submodule gone \(.*\/acme\/gone: .*gone/)]);
    expect(readClone("lib/a.txt")).toBe("lib");
  });

  // @contract runs.config.submodules: submodules of a repository are cloned where they are wanted.
  it("are reported when they are not wanted", async () => {
    addSubmodules(shop, { lib: "../lib" });
    expect((await clone({ submodules: false })).omissions).toEqual([
      "submodule lib (set submodules of the repository)",
    ]);
  });

  it("run no command that the repository names", async () => {
    serve("lib");
    addSubmodules(shop, { lib: "../lib" });
    const modules = readFileSync(join(shop.path, ".gitmodules"), "utf8");
    shop.commit({ ".gitmodules": `${modules}\tupdate = !touch ${folder}/touched\n` });
    shop.git("update-index", "--add", "--cacheinfo", `160000,${"1".repeat(40)},lib`);
    shop.git("commit", "--quiet", "--amend", "--no-edit");
    expect((await clone()).omissions).toHaveLength(1);
    expect(existsSync(join(folder, "touched"))).toBe(false);
  });

  it("are in the timeline of the run where they are left out", async () => {
    addSubmodules(shop, { lib: url("other", "lib") });
    const repositories = [{ url: url(), submodules: true }];
    const tokens = [{ url: url(), token: TOKEN, expires_at: new Date(Date.now() + 3_600_000).toISOString() }];
    const context = { agent_config: { repositories }, repository_tokens: tokens };
    await using plane = await FakeControlPlane.start({ prompt: "```sh\ncat a.txt\n```", context });
    await runHarness(plane, { GIT_SSL_CAINFO: certificate.file });
    expect(plane.outcome).toMatchObject({ success: true });
    const clones = plane.events.filter(({ event_name }) => event_name === "setup_repo_clone");
    expect(clones.map(({ payload }) => payload?.detail)).toEqual([
      `${url()}; left out: submodule lib (${url("other", "lib")} has another owner: add it to the repositories of the run)`,
    ]);
  });
});
