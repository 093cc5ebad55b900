import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { cloneRepository } from "#harness/git/clone.ts";
import { writeGitConfig } from "#harness/git/run-git.ts";
import { findProgram } from "#harness/isolation/programs.ts";
import type { Repository as RepositoryConfig } from "#shared/wire/config.ts";
import { Repository } from "../support/repository.ts";

let workspace: string;
beforeEach(async () => {
  workspace = mkdtempSync(join(tmpdir(), "harness-test-"));
  await writeGitConfig(workspace);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(workspace, { recursive: true, force: true });
});

const clone = (repository: RepositoryConfig) =>
  cloneRepository("it", repository, {
    workspace,
    etc: workspace,
    timeoutMs: 120_000,
    signal: new AbortController().signal,
  });
const inClone = (...args: string[]) =>
  execFileSync("git", ["-C", join(workspace, "it"), ...args], { encoding: "utf8" }).trim();
const countCommits = () => Number(inClone("rev-list", "--count", "HEAD"));

describe("the depth of a repository", () => {
  // @contract runs.config.depth: depth of a repository limits its commits.
  it("limits the commits of the default branch, and of a ref of any kind", async () => {
    using repository = new Repository("things", { "a.txt": "one" });
    for (const text of ["two", "three"]) repository.commit({ "a.txt": text });
    repository.git("tag", "v3");
    const tagged = repository.git("rev-parse", "HEAD");
    repository.git("checkout", "--quiet", "-b", "feature/x");
    for (const text of ["four", "five"]) repository.commit({ "a.txt": text });
    repository.git("update-ref", "refs/pull/7/head", "HEAD");
    repository.git("checkout", "--quiet", "main");
    for (const [ref, text] of [
      [undefined, "three"],
      ["v3", "three"],
      ["feature/x", "five"],
      [tagged, "three"],
      ["refs/pull/7/head", "five"],
    ]) {
      rmSync(join(workspace, "it"), { recursive: true, force: true });
      await clone({ url: repository.url, depth: 2, ...(ref === undefined ? {} : { ref }) });
      expect([ref, readFileSync(join(workspace, "it/a.txt"), "utf8"), countCommits()]).toEqual([ref, text, 2]);
    }
    await expect(clone({ url: repository.url, path: "x", depth: 1, ref: "nowhere" })).rejects.toThrow(
      /cloning .* failed/,
    );
  });

  it("leaves the branch of a shallow clone a branch", async () => {
    using repository = new Repository("things", { "a.txt": "one" });
    repository.git("branch", "feature/x");
    await clone({ url: repository.url, depth: 1, ref: "feature/x" });
    expect(inClone("symbolic-ref", "--short", "HEAD")).toBe("feature/x");
  });
});

describe("the directories of a repository", () => {
  const FILES = { "top.txt": "0", "api/a.txt": "1", "api/deep/b.txt": "2", "web/c.txt": "3", "docs/d.txt": "4" };

  // @contract runs.config.sparse: sparse_paths of a repository are checked out besides the files at its top.
  it("are checked out besides the files at the top, and absent ones are reported", async () => {
    using repository = new Repository("things", FILES);
    const { omissions } = await clone({ url: repository.url, sparse_paths: ["api/deep", "docs/", "none"] });
    const files = readdirSync(join(workspace, "it"), { recursive: true, encoding: "utf8" });
    expect(files.filter((name) => name.endsWith(".txt")).sort()).toEqual([
      "api/a.txt",
      "api/deep/b.txt",
      "docs/d.txt",
      "top.txt",
    ]);
    expect(inClone("status", "--porcelain")).toBe("");
    expect(omissions).toEqual(["directory none (the commit does not have it)"]);
  });

  it("are those of the ref", async () => {
    using repository = new Repository("things", FILES);
    repository.git("checkout", "--quiet", "-b", "other");
    repository.commit({ "new/e.txt": "5" });
    repository.git("checkout", "--quiet", "main");
    const { omissions } = await clone({ url: repository.url, ref: "other", depth: 1, sparse_paths: ["new"] });
    expect([existsSync(join(workspace, "it/new/e.txt")), existsSync(join(workspace, "it/web"))]).toEqual([true, false]);
    expect(omissions).toEqual([]);
  });

  it("cannot be files", async () => {
    using repository = new Repository("things", FILES);
    await expect(clone({ url: repository.url, sparse_paths: ["api/a.txt"] })).rejects.toThrow(
      /sparse_paths: .*api\/a.txt/,
    );
  });
});

describe("files in Git LFS", () => {
  const FILES = {
    ".gitattributes": "*.txt text\n",
    "assets/.gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n",
  };

  /** Makes a directory the only one with programs: git, what it needs, and perhaps git-lfs. */
  function useProgramsOf(lfs: string | undefined) {
    const bin = join(workspace, "bin");
    mkdirSync(bin);
    for (const name of ["git", "sh", "bash"]) {
      const program = findProgram(name);
      if (program !== undefined) execFileSync("ln", ["-s", program, join(bin, name)]);
    }
    if (lfs !== undefined) writeFileSync(join(bin, "git-lfs"), `#!/bin/bash\n${lfs}\n`, { mode: 0o755 });
    vi.stubEnv("PATH", bin);
  }

  // @contract runs.config.lfs: lfs of a repository downloads its large files.
  it("stay pointers unless the repository asks for them, which is reported", async () => {
    using repository = new Repository("things", FILES);
    using without = new Repository("plain", { ".gitattributes": "*.txt text\n" });
    expect((await clone({ url: repository.url })).omissions).toEqual([
      "the contents of files in Git LFS (set lfs of the repository to download them)",
    ]);
    rmSync(join(workspace, "it"), { recursive: true });
    expect((await clone({ url: without.url, lfs: true })).omissions).toEqual([]);
  });

  it("are reported as left out where git-lfs is not installed", async () => {
    using repository = new Repository("things", FILES);
    useProgramsOf(undefined);
    expect((await clone({ url: repository.url, lfs: true })).omissions).toEqual([
      "the contents of files in Git LFS (git-lfs is not installed where runs are set up)",
    ]);
  });

  it("are pulled by git-lfs in the clone, and its error is reported", async () => {
    using repository = new Repository("things", FILES);
    useProgramsOf(`echo "$PWD $*" >> "${workspace}/called"; [ "$1" != pull ] || { echo no space left >&2; exit 2; }`);
    expect((await clone({ url: repository.url, lfs: true })).omissions).toEqual([
      "the contents of files in Git LFS (no space left)",
    ]);
    expect(readFileSync(join(workspace, "called"), "utf8")).toBe(
      ["version", "install --local --skip-repo", "pull"].map((args) => `${join(workspace, "it")} ${args}\n`).join(""),
    );
  });
});
