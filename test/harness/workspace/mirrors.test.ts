import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type CloneOptions, cloneRepository } from "#harness/git/clone.ts";
import { enclose } from "#harness/git/mirror.ts";
import { writeGitConfig } from "#harness/git/run-git.ts";
import { findProgram } from "#harness/isolation/programs.ts";
import { createWorkspace } from "#harness/isolation/workspace.ts";
import { createCertificate } from "../../../lab/git/certificate.ts";
import { GitServer } from "../support/git-server.ts";
import { Repository } from "../support/repository.ts";

vi.setConfig({ testTimeout: 120_000 });

const TOKEN = "ghs_0123456789abcdefghijklmnopqrstuvwxyz";
let folder: string;
let repository: Repository;
let server: GitServer;
let mirrors: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "mirrors-"));
  mirrors = join(folder, "mirrors");
  const certificate = createCertificate(folder);
  vi.stubEnv("GIT_SSL_CAINFO", certificate.file);
  repository = new Repository("shop", { "a.txt": "a" });
  server = await GitServer.start(repository, certificate, (_, password) => password === TOKEN);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await server[Symbol.asyncDispose]();
  repository[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** Clones the repository as an execution does, and returns the clone and the requests for it. */
async function clone(more: Partial<CloneOptions> = {}, scope = "ours") {
  const workspace = createWorkspace();
  const before = server.seen.length;
  await writeGitConfig(workspace.etc);
  try {
    const { signal } = new AbortController();
    const place = { workspace: workspace.paths.workspace, etc: workspace.etc };
    const kept = { directory: mirrors, scope, credential: more.token ?? "" };
    const made = await cloneRepository(
      "shop",
      { url: `${server.origin}/acme/shop` },
      { ...place, timeoutMs: 100_000, signal, token: TOKEN, mirrors: kept, ...more },
    );
    const directory = join(workspace.paths.workspace, "shop");
    const inClone = (...args: string[]) => repository.git("-C", directory, ...args);
    return {
      ...made,
      requests: server.seen.slice(before).map(({ path }) => path),
      files: readdirSync(directory).toSorted(),
      remote: inClone("config", "remote.origin.url"),
      branches: inClone("for-each-ref", "--format=%(refname) %(objectname)").split("\n"),
      alternates: existsSync(join(directory, ".git/objects/info/alternates")),
    };
  } finally {
    await workspace.remove();
  }
}
const names = () => readdirSync(mirrors).filter((name) => name.endsWith(".git"));

describe("a clone on a machine with mirrors", () => {
  it("comes from the mirror, equals one that comes from the server, and fetches only what is new", async () => {
    repository.git("branch", "next");
    repository.git("tag", "v1");
    const direct = await clone({ mirrors: undefined });
    const first = await clone();
    expect([direct.isFromMirror, first.isFromMirror]).toEqual([false, true]);
    const { requests: _, isFromMirror: __, ...whole } = first;
    expect(direct).toMatchObject(whole);
    expect(first.alternates).toBe(false);
    const unchanged = await clone();
    expect([unchanged.isFromMirror, unchanged.commit]).toEqual([true, first.commit]);
    const commit = repository.commit({ "b.txt": "b" });
    repository.git("branch", "--delete", "--force", "next");
    const second = await clone();
    expect(second).toMatchObject({ commit, files: [".git", "a.txt", "b.txt"], remote: `${server.origin}/acme/shop` });
    expect(second.branches.join()).not.toContain("next");
    expect(names()).toHaveLength(1);
  });

  it("proves its access with its own token before it gets anything", async () => {
    await clone();
    const refused = clone({ token: "ghs_another", mirrors: { directory: mirrors, scope: "ours", credential: "" } });
    await expect(refused).rejects.toThrow(/cloning .* failed/);
  });

  it("shares its mirror with runs of the same owner and credential only", async () => {
    await clone();
    await clone({}, "theirs");
    await clone({ mirrors: { directory: mirrors, scope: "ours", credential: "app" } });
    expect(names()).toHaveLength(3);
    const shown = await clone({}, "theirs");
    expect(shown.isFromMirror).toBe(true);
    expect(names()).toHaveLength(3);
  });

  it("comes from the server if the mirror is damaged", async () => {
    const { commit } = await clone();
    writeFileSync(join(mirrors, names()[0] ?? "", "config"), "[core\n");
    expect(await clone()).toMatchObject({ commit, isFromMirror: false, files: [".git", "a.txt"] });
  });

  it("is updated in a sandbox that has the mirror, and no other files of this machine or of runs", () => {
    const [mirror, etc] = ["mirror", "etc"].map((name) => join(folder, name));
    for (const place of [mirror, etc]) mkdirSync(place ?? "");
    const look = `ls -a ${folder}; ls /root /home /etc/shadow /proc | grep -v '^[0-9]' ; touch ${etc}/written ${mirror}/written`;
    const seen = spawnSync(findProgram("bwrap") ?? "", [...enclose(mirror ?? "", etc ?? ""), "bash", "-c", look], {
      encoding: "utf8",
    });
    expect(seen.stdout.split("\n").slice(0, 5)).toEqual([".", "..", "cert.pem", "etc", "mirror"]);
    expect(seen.stderr).toMatch(/\/root'?: No such file.*\/home'?: No such file.*shadow'?: No such file/s);
    expect(seen.stderr).toMatch(/etc\/written'?: Read-only file system/);
    expect([existsSync(`${mirror}/written`), existsSync(`${etc}/written`)]).toEqual([true, false]);
  });
});
