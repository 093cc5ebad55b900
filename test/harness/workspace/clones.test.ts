import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as v from "valibot";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { assignClonePaths, cloneRepository } from "#harness/git/clone.ts";
import { findCredentials } from "#harness/git/repository-access.ts";
import { writeGitConfig } from "#harness/git/run-git.ts";
import { loadSkill } from "#harness/skills/skills.ts";
import { maskUrlUsers } from "#shared/wire/repository-url.ts";
import { Repository } from "../support/repository.ts";

let workspace: string;
beforeEach(async () => {
  workspace = mkdtempSync(join(tmpdir(), "harness-test-"));
  await writeGitConfig(workspace);
});
afterEach(() => rmSync(workspace, { recursive: true, force: true }));

const options = () => ({ workspace, etc: workspace, timeoutMs: 20_000, signal: new AbortController().signal });
const clone = (repository: { url: string; ref?: string }, place = "it") =>
  cloneRepository(place, repository, options());

describe("cloneRepository", () => {
  // @contract runs.config.clone-name: A clone is known as owner/repo by the end of its URL.
  it("clones the whole history with the URL as origin", async () => {
    using repository = new Repository("things", { "a.txt": "one" });
    const commit = repository.commit({ "a.txt": "two" });
    const it = await clone({ url: repository.url });
    expect(it).toMatchObject({ name: "things", path: "it", commit });
    expect(it.owner).toMatch(/^harness-test-/);
    expect(readFileSync(join(workspace, "it/a.txt"), "utf8")).toBe("two");
    expect(existsSync(join(workspace, "it/.git/shallow"))).toBe(false);
  });

  it("checks out a branch, a tag, a commit, and a ref that plain clones omit", async () => {
    using repository = new Repository("things", { "a.txt": "first" });
    const first = repository.git("rev-parse", "HEAD");
    repository.git("tag", "v1");
    repository.git("checkout", "--quiet", "-b", "feature/x");
    repository.commit({ "a.txt": "branch" });
    repository.git("checkout", "--quiet", "--detach", "main");
    const hidden = repository.commit({ "a.txt": "hidden" });
    repository.git("update-ref", "refs/pull/7/head", hidden);
    repository.git("checkout", "--quiet", "main");
    for (const [index, [ref, text]] of [
      ["feature/x", "branch"],
      ["v1", "first"],
      [first, "first"],
      ["refs/pull/7/head", "hidden"],
    ].entries()) {
      await clone({ url: repository.url, ref: ref ?? "" }, `clone-${index}`);
      expect(readFileSync(join(workspace, `clone-${index}/a.txt`), "utf8")).toBe(text);
    }
    const readHead = (clone: string) => readFileSync(join(workspace, clone, ".git/HEAD"), "utf8");
    expect(readHead("clone-0"), "a branch stays one").toBe("ref: refs/heads/feature/x\n");
    expect(readHead("clone-2"), "a commit is detached").toBe(`${first}\n`);
    await expect(clone({ url: repository.url, ref: "nowhere" }, "last")).rejects.toThrow(/there is no ref "nowhere"/);
  });

  it("notes the commit that changes are compared with, and none of an empty repository", async () => {
    using repository = new Repository("things", { "a.txt": "one" });
    using empty = new Repository("empty", {});
    empty.git("update-ref", "-d", "HEAD");
    const readBase = (clone: string) => readFileSync(join(workspace, clone, ".git/runyard-base"), "utf8");
    const { commit } = await clone({ url: repository.url });
    expect([commit, readBase("it")]).toEqual([repository.git("rev-parse", "HEAD"), `${commit}\n`]);
    expect((await clone({ url: empty.url }, "none")).commit).toBe("");
    expect(readBase("none")).toBe("\n");
  });

  it("reports git's error", async () => {
    await expect(clone({ url: "file:///nowhere/at/all" })).rejects.toThrow(
      /cloning file:\/\/\/nowhere\/at\/all failed: .*does not/,
    );
  });

  it("runs no hook and uses no other transport", async () => {
    using repository = new Repository("things", { "a.txt": "one" });
    await expect(clone({ url: "ext::sh -c touch% /tmp/pwned" })).rejects.toThrow(/not allowed/);
    await clone({ url: repository.url });
    expect(existsSync(join(workspace, "it/.git/hooks"))).toBe(false);
  });

  it("ends at its time limit", async () => {
    using repository = new Repository("things", { "a.txt": "one" });
    const limited = cloneRepository("it", { url: repository.url }, { ...options(), timeoutMs: 1 });
    await expect(limited).rejects.toThrow("git did not end within");
  });

  it("ends at its time limit if the server never responds, with all processes that git has started", async () => {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    await using server = createServer(
      (socket) =>
        void socket
          .on("close", resolve)
          .on("error", () => undefined)
          .resume(),
    );
    await once(server.listen(0, "127.0.0.1"), "listening");
    const address = v.parse(v.object({ port: v.number() }), server.address());
    const url = `https://127.0.0.1:${address.port}/acme/shop`;
    const limited = cloneRepository("it", { url }, { ...options(), timeoutMs: 5_000 });
    await expect(limited).rejects.toThrow("git did not end within 5 s");
    // A child process of git has the connection.
    await closed;
  });

  it("never shows a URL's credential", () => {
    const url = "https://user:p%40ss-word@example.com/o/r.git";
    expect(maskUrlUsers(`fatal: ${url} not found`)).toBe("fatal: https://***@example.com/o/r.git not found");
    expect(findCredentials(url)).toContain("p@ss-word");
  });
});

describe("assignClonePaths", () => {
  it("uses the URL's last segment or the given path", () => {
    const places = assignClonePaths([
      { url: "https://example.com/o/one.git" },
      { url: "git@example.com:o/two.git" },
      { url: "file:///srv/three/.git" },
      { url: "https://example.com/o/four/", path: "deep/four" },
    ]);
    expect([...places.keys()]).toEqual(["one", "two", "three", "deep/four"]);
  });

  it("rejects two repositories in one path, and reserved paths", () => {
    const twice = [{ url: "https://a.example/o/r" }, { url: "https://b.example/o/r" }];
    expect(() => assignClonePaths(twice)).toThrow(/"r" is taken/);
    expect(() => assignClonePaths([{ url: "https://a.example/o/output" }])).toThrow(/"output" is taken/);
    const nested = [{ url: "https://a.example/o/r" }, { url: "https://b.example/o/s", path: "r/s" }];
    expect(() => assignClonePaths(nested)).toThrow(/"r\/s" is taken/);
    expect(() => assignClonePaths(nested.toReversed())).toThrow(/"r" is taken/);
    expect(assignClonePaths([{ url: "https://a.example/o/r" }, { url: "https://b.example/o/r2" }]).size).toBe(2);
  });
});

describe("loadSkill", () => {
  const skillFile = "---\nname: review\ndescription: Looks at things.\n---\n# Review\n\ntext\n";
  const files = {
    ".claude/skills/review/SKILL.md": skillFile,
    "docs/how/SKILL.md": "No front matter.\n",
    ".agents/skills/broken/SKILL.md": "---\nname: [\n---\nbody\n",
    ".agents/skills/typed/SKILL.md": "---\nname: 7\n---\nbody\n",
  };
  const links = { ".agents/skills/escape/SKILL.md": "/etc/passwd" };

  async function cloned() {
    const repository = new Repository("tools", files, links);
    const it = await clone({ url: repository.url });
    return {
      repository,
      it,
      load: (spec: string) => loadSkill(spec, [it], workspace),
      [Symbol.dispose]: () => repository[Symbol.dispose](),
    };
  }

  // @contract skills.places
  it("finds a skill by name or path, with or without the owner", async () => {
    using at = await cloned();
    const { owner } = at.it;
    const path = ".claude/skills/review/SKILL.md";
    for (const spec of [
      "tools:review",
      `${owner}/tools:review`,
      `tools:${path}`,
      `${owner}/tools:${path}`,
      "tools:.claude/skills/review",
    ]) {
      expect(await at.load(spec)).toEqual({
        name: "review",
        description: "Looks at things.",
        id: `${owner}/tools:${path}`,
        body: "# Review\n\ntext\n",
      });
    }
  });

  // @contract skills.front-matter: A skill's front matter has its name and description.
  it("names a skill without front matter by its directory", async () => {
    using at = await cloned();
    expect(await at.load("tools:docs/how")).toMatchObject({ name: "how", body: "No front matter.\n" });
  });

  it("lists the existing skills when it is not found", async () => {
    using at = await cloned();
    await expect(at.load("tools:absent")).rejects.toThrow(
      /has no such skill; skills there: broken, escape, review, typed/,
    );
    await expect(at.load("other:review")).rejects.toThrow(new RegExp(`was not cloned; cloned: ${at.it.owner}/tools`));
    await expect(at.load("someone/tools:review")).rejects.toThrow(/was not cloned/);
  });

  it("follows no link and no path out of the clone", async () => {
    using at = await cloned();
    await expect(at.load("tools:escape")).rejects.toThrow(/no such skill/);
    await expect(at.load("tools:../../../../etc/passwd.md")).rejects.toThrow(/no such skill/);
  });

  // @contract skills.front-matter
  it("names a skill whose front matter is malformed by its directory, or by what is readable", async () => {
    using at = await cloned();
    expect(await at.load("tools:broken")).toMatchObject({ name: "broken", body: "body\n" });
    expect(await at.load("tools:typed")).toMatchObject({ name: "7" });
  });
});
