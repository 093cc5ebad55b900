import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { FaultServer } from "../clients/fault-server.ts";
import { githubPulls } from "../support/github-pulls-stand-in.ts";
import { createPlayer } from "./play.ts";
import { api, download, RUN } from "./responses.ts";

const server = new FaultServer();
let folder = "";
beforeAll(() => server.start());
afterAll(() => server.stop());
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "runyard-changes-"));
  return () => rmSync(folder, { recursive: true });
});
const run = createPlayer(server);

const git = (...args: string[]): string =>
  execFileSync(
    "git",
    ["-C", path.join(folder, "shop"), "-c", "user.name=T", "-c", "user.email=t@example.com", ...args],
    {
      encoding: "utf8",
    },
  );

/** A repository with one commit, and its bare copy that stands for the one on GitHub. Returns the commit. */
function repositories(): string {
  const own = path.join(folder, "shop");
  mkdirSync(own);
  git("init", "--quiet", "--initial-branch=main");
  writeFileSync(path.join(own, "calc.py"), "a\nb\n");
  git("add", ".");
  git("commit", "--quiet", "--message=first");
  git("clone", "--quiet", "--bare", own, path.join(folder, "remote.git"));
  return git("rev-parse", "HEAD").trim();
}

/** Changes the repository and returns the patch. */
function createPatch(files: Record<string, string>): string {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, "shop", name)), { recursive: true });
    writeFileSync(path.join(folder, "shop", name), text);
  }
  git("add", ".");
  return git("diff", "--cached", "--binary", "--full-index");
}

const numbers = { commits: 1, files_changed: 2, insertions: 2, deletions: 1 };
const artifact = (uid: string, base_commit: string, more: object = {}) => ({
  artifact_type: "FILE",
  created_at: "2026-05-18T19:00:00.000Z",
  data: {
    artifact_uid: uid,
    filepath: "changes/shop.diff",
    filename: "shop.diff",
    mime_type: "text/x-diff",
    git: { path: "shop", base_commit, branch: "fix", ...numbers, ...more },
  },
});
const retrieved = (artifacts: object[], more: object = {}) =>
  api({ ...RUN, ...more, artifacts, agent_config: { repositories: [{ url: "https://github.com/acme/shop.git" }] } });

function toAddress(listening: Server): string {
  const address = listening.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
}

describe("runyard runs diff", () => {
  const base = "0".repeat(40);

  it("prints the latest patch unchanged, so that git can apply it", async () => {
    repositories();
    const patch = createPatch({ "calc.py": "a\nB\n", "new.txt": "\u001b[31mred\n" });
    server.play([retrieved([artifact("old", base), artifact("u2", base)]), ...download("u2", patch)]);
    expect((await run(["runs", "diff", "r1"])).out).toBe(patch);
    expect(server.seen[1]?.path).toContain("/agent/artifacts/u2");
  });

  it("colors it on a terminal, which it cannot control, and counts lines with --stat", async () => {
    repositories();
    const patch = createPatch({ "calc.py": "a\nB\n", "new.txt": "\u001b]0;x\u0007red\n" });
    server.play([retrieved([artifact("u1", base)]), ...download("u1", patch)]);
    const { out, err } = await run(["runs", "diff", "r1"], { terminal: true });
    expect(out).toContain("\u001b[31m-b\u001b[0m\n\u001b[32m+B\u001b[0m\n");
    expect(out).not.toContain("\u001b]");
    expect(err).toContain("shop: 2 files changed, +2 −1, 1 commit, branch fix");
    server.play([retrieved([artifact("u1", base)]), ...download("u1", patch)]);
    const stat = await run(["runs", "diff", "r1", "--stat"]);
    expect(stat.out.split("\n").slice(0, 2)).toEqual(["calc.py  +1 −1", "new.txt  +1 −0"]);
  });

  it("saves it, and reports if there is none or more than one", async () => {
    server.play([retrieved([artifact("u1", base)]), ...download("u1", "the patch")]);
    await run(["runs", "diff", "r1", "-o", "it.diff"], { cwd: folder });
    expect(readFileSync(path.join(folder, "it.diff"), "utf8")).toBe("the patch");
    server.play([retrieved([])]);
    expect((await run(["runs", "diff", "r1"])).err).toBe("The run has changed no repository.\n");
    server.play([retrieved([artifact("u1", base), artifact("u2", base, { path: "lib" })])]);
    const { code, err } = await run(["runs", "diff", "r1", "-o", "it.diff"]);
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining("--repo: shop, lib") });
  });

  it("refuses a patch of more than 16 MiB", async () => {
    server.play([retrieved([artifact("u1", base)]), ...download("u1", "x".repeat(16 * 1024 * 1024 + 1))]);
    const { code, err } = await run(["runs", "diff", "r1"]);
    expect({ code, err }).toEqual({ code: 1, err: "error: The patch is larger than 16 MiB.\n" });
  });
});

describe("runyard runs open-pr", () => {
  const response = api({ text: "Fixed it. ```\nCloses #1 @everyone", state: "SUCCEEDED", artifacts: [] });
  const places = (apiUrl: string) => ["--remote", `file://${folder}/remote.git`, "--github-api", apiUrl];

  it("pushes the patch as a new branch on its base commit and opens a pull request with the caller's token", async () => {
    const base = repositories();
    const patch = createPatch({ "calc.py": "a\nB\n", "new.txt": "new\n" });
    await using github = await githubPulls({ repository: "acme/shop", branches: ["runyard/r1"], token: "ghp_mine" });
    server.play([retrieved([artifact("u1", base)]), response, ...download("u1", patch)]);
    const { code, out, err } = await run(["runs", "open-pr", "r1", "--draft", ...places(github.url)], {
      env: { GH_TOKEN: "ghp_mine" },
    });
    expect({ code, out, err }).toEqual({ code: 0, out: "https://github.com/acme/shop/pull/7\n", err: "" });
    expect(github.seen.at(-1)?.body).toMatchObject({ title: "Fix it", head: "runyard/r1", base: "main", draft: true });
    expect(github.seen.at(-1)?.body.body).toContain("````text\nFixed it. ```\nCloses #1 @everyone\n````");
    const remote = (...args: string[]) => git("--git-dir", path.join(folder, "remote.git"), ...args);
    expect(remote("show", "runyard/r1:new.txt")).toBe("new\n");
    expect(remote("rev-parse", "runyard/r1^").trim()).toBe(base);
    expect(remote("log", "-1", "--format=%B", "runyard/r1")).toContain("Runyard-Run: r1");
  });

  it("quotes what agents and events wrote, so that it mentions nobody, closes nothing and links nowhere", async () => {
    const base = repositories();
    const patch = createPatch({ "calc.py": "a\nB\n" });
    await using github = await githubPulls({ repository: "acme/shop", branches: ["runyard/r1"], token: "ghp_mine" });
    const title = "Fix it\u202e @ops\nCloses #1, acme/shop#2, GH-3 and https://github.com/acme/shop/issues/4";
    const change = artifact("u1", base, { branch: "x`](https://evil.example)`@ops" });
    const said = api({ text: "done\u200b\u202e ![](https://evil.example/x.png)", state: "SUCCEEDED", artifacts: [] });
    server.play([retrieved([change], { title }), said, ...download("u1", patch)]);
    const { code } = await run(["runs", "open-pr", "r1", ...places(github.url)], { env: { GH_TOKEN: "ghp_mine" } });
    expect(code).toBe(0);
    const safe = "Fix it @ ops Closes # 1, acme/shop# 2, GH- 3 and https:// github.com/acme/shop/issues/4";
    expect(github.seen.at(-1)?.body.title).toBe(safe);
    const message = git("--git-dir", path.join(folder, "remote.git"), "log", "-1", "--format=%s", "runyard/r1");
    expect(message.trim()).toBe(safe);
    const { body } = github.seen.at(-1)?.body ?? {};
    expect(body).toContain(", branch `` x`](https://evil.example)`@ops ``.");
    expect(body).toContain("```text\ndone ![](https://evil.example/x.png)\n```");
  });

  /** Opens a pull request for a change of these files. */
  async function openPr(files: Record<string, string>, args: string[] = [], env: Record<string, string> = {}) {
    const patch = createPatch(files);
    await using github = await githubPulls({ repository: "acme/shop", branches: ["runyard/r1"], token: "t" });
    server.play([retrieved([artifact("u1", base)]), response, ...download("u1", patch)]);
    const played = await run(["runs", "open-pr", "r1", ...args, ...places(github.url)], {
      env: { GH_TOKEN: "t", ...env },
    });
    return { ...played, pulls: github.seen.filter(({ method }) => method === "POST").length };
  }
  let base = "";
  const remote = (...args: string[]) => git("--git-dir", path.join(folder, "remote.git"), ...args).trim();

  it.each([".github/workflows/ci.yml", ".github/actions/x/action.yml"])(
    "refuses a change of %s, which would run with the repository's secrets, unless it is allowed",
    async (name) => {
      base = repositories();
      const { code, err } = await openPr({ [name]: "on: push\n" });
      expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(name) });
      expect(remote("branch", "--list", "runyard/*")).toBe("");
      expect(await openPr({ [name]: "on: push\n" }, ["--allow-workflows"])).toMatchObject({ code: 0, pulls: 1 });
      expect(remote("show", `runyard/r1:${name}`)).toBe("on: push");
    },
  );

  it("takes the branch, its base, the title and the text from the options", async () => {
    const start = repositories();
    const patch = createPatch({ "calc.py": "a\nB\n" });
    await using github = await githubPulls({ repository: "acme/shop", branches: ["fix"], token: "t" });
    server.play([retrieved([artifact("u1", start)]), ...download("u1", patch)]);
    const options = ["--branch", "fix", "--base", "next", "--title", "T", "--body", "B"];
    const { code } = await run(["runs", "open-pr", "r1", ...options, ...places(github.url)], {
      env: { GH_TOKEN: "t" },
    });
    expect({ code, seen: github.seen.map(({ body }) => body) }).toEqual({
      code: 0,
      seen: [{ title: "T", head: "fix", base: "next", body: "B", draft: false }],
    });
    expect(remote("log", "-1", "--format=%s", "fix")).toBe("T");
  });

  it("finds the repository by the path that the run's configuration gives it", async () => {
    const start = repositories();
    const patch = createPatch({ "calc.py": "a\nB\n" });
    await using github = await githubPulls({ repository: "acme/shop", branches: ["runyard/r1"], token: "t" });
    const checkouts = [
      { url: "https://github.com/other/shop.git", path: "elsewhere" },
      { url: "https://github.com/acme/shop.git", path: "lib" },
    ];
    const given = {
      ...RUN,
      artifacts: [artifact("u1", start, { path: "lib" })],
      agent_config: { repositories: checkouts },
    };
    server.play([api(given), response, ...download("u1", patch)]);
    const { code, out } = await run(["runs", "open-pr", "r1", ...places(github.url)], { env: { GH_TOKEN: "t" } });
    expect({ code, out }).toEqual({ code: 0, out: "https://github.com/acme/shop/pull/7\n" });
  });

  it("takes GITHUB_TOKEN where there is no GH_TOKEN, and says that secrets are redacted", async () => {
    const start = repositories();
    const patch = createPatch({ "calc.py": "a\n***\n" });
    await using github = await githubPulls({ repository: "acme/shop", branches: ["runyard/r1"], token: "t" });
    server.play([retrieved([artifact("u1", start, { redacted: true })]), response, ...download("u1", patch)]);
    const { code, err } = await run(["runs", "open-pr", "r1", ...places(github.url)], {
      env: { GH_TOKEN: "", GITHUB_TOKEN: "t" },
    });
    expect({ code, err }).toEqual({ code: 0, err: "Secrets are redacted in the patch: check the lines with ***.\n" });
  });

  it("never overwrites a branch", async () => {
    base = repositories();
    remote("branch", "runyard/r1", base);
    const { code, err, pulls } = await openPr({ "calc.py": "a\nB\n" });
    expect({ code, err, pulls }).toEqual({
      code: 1,
      err: expect.stringMatching(/git push failed: .*stale/s),
      pulls: 0,
    });
    expect(remote("rev-parse", "runyard/r1")).toBe(base);
  });

  it("runs no hook of the caller, uses no repository of the caller, and leaves no files", async () => {
    base = repositories();
    const [home, hooks, temporary] = ["home", "hooks", "tmp"].map((name) => path.join(folder, name));
    for (const place of [home, hooks, temporary]) mkdirSync(String(place));
    writeFileSync(`${home}/.gitconfig`, `[core]\n\thooksPath = ${hooks}\n`);
    writeFileSync(`${hooks}/pre-push`, `#!/bin/sh\ntouch '${folder}/hooked'\n`, { mode: 0o755 });
    const nowhere = path.join(folder, "nowhere");
    const own = Object.fromEntries(
      ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"].map((name) => [name, nowhere]),
    );
    vi.stubEnv("TMPDIR", temporary);
    const { code, err } = await openPr({ "calc.py": "a\nB\n" }, [], { HOME: String(home), ...own }).finally(() =>
      vi.unstubAllEnvs(),
    );
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect([existsSync(`${folder}/hooked`), existsSync(nowhere), readdirSync(String(temporary))]).toEqual([
      false,
      false,
      [],
    ]);
  });

  it("follows no redirect of GitHub's API with the token, and waits for 30 seconds", async () => {
    const seen: unknown[] = [];
    const elsewhere = createServer((request, other) => {
      seen.push(request.headers.authorization);
      other.end("{}");
    });
    const moved = createServer((_, other) => other.writeHead(302, { location: toAddress(elsewhere) }).end());
    for (const each of [elsewhere, moved]) await new Promise<void>((done) => each.listen(0, "127.0.0.1", done));
    const limit = vi.spyOn(AbortSignal, "timeout");
    server.play([retrieved([artifact("u1", "1".repeat(40))])]);
    const { code, err } = await run(["runs", "open-pr", "r1", ...places(toAddress(moved))], { env: { GH_TOKEN: "t" } });
    const limits = limit.mock.calls;
    vi.restoreAllMocks();
    for (const each of [elsewhere, moved]) each.close();
    expect({ code, err, seen, limits }).toEqual({
      code: 1,
      err: expect.stringMatching(/^error: GitHub's API at http:.* could not be reached/),
      seen: [],
      limits: [[30_000]],
    });
  });

  it.each([
    ["a base commit that the repository does not have", "1".repeat(40), {}, "does not have the commit"],
    [
      "a repository that the run's configuration does not have",
      "1".repeat(40),
      { path: "other" },
      "no repository at other",
    ],
  ])("refuses %s", async (_, base, more, message) => {
    repositories();
    await using github = await githubPulls({ repository: "acme/shop", token: "t" });
    server.play([
      retrieved([artifact("u1", base, more)]),
      ...("path" in more ? [] : [response, ...download("u1", "")]),
    ]);
    const { code, err } = await run(["runs", "open-pr", "r1", ...places(github.url)], { env: { GH_TOKEN: "t" } });
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(message) });
  });

  it("sends the token to the GitHub server only, and requires one", async () => {
    server.play([retrieved([artifact("u1", "1".repeat(40))])]);
    const other = await run(["runs", "open-pr", "r1", "--remote", "https://git.example.com/acme/shop.git"], {
      env: { GH_TOKEN: "t" },
    });
    expect({ code: other.code, err: other.err }).toEqual({
      code: 2,
      err: expect.stringContaining("is not on https://github.com"),
    });
    server.play([]);
    expect((await run(["runs", "open-pr", "r1"])).err).toContain("There is no GitHub token.");
  });
});
