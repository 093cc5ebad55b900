import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import * as v from "valibot";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { ScanResult } from "#shared/wire/scan.ts";
import { Repository } from "../support/repository.ts";

const Module = v.object({ runSandbox: v.function() });
let folder: string;
let runSandbox: (...args: unknown[]) => unknown;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "scan-test-"));
  await build({
    entryPoints: { index: "functions/executions/run-sandbox.ts", scan: "harness/scan-main.ts" },
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
  });
  ({ runSandbox } = v.parse(Module, await import(pathToFileURL(join(folder, "index.mjs")).href)));
});
beforeEach(() => {
  mkdirSync(join(folder, "tmp"), { recursive: true });
  vi.stubEnv("TMPDIR", join(folder, "tmp"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(() => vi.unstubAllEnvs());

/** Scans a repository by the sandbox function, with the real program. */
async function scan(url: string, more: { ref?: string; time_limit_ms?: number } = {}): Promise<ScanResult> {
  const response = await runSandbox({ v: 1, kind: "scan", url, time_limit_ms: 15_000, ...more });
  const left = readdirSync(join(folder, "tmp")).filter((name) => name.startsWith("runyard-"));
  expect(left, "nothing is left behind").toEqual([]);
  return v.parse(ScanResult, response);
}
const pathsIn = (response: ScanResult): string[] =>
  response.outcome === "found" ? response.files.map(({ path }) => path) : [];
const text = "---\nname: fix\ndescription: Fixes\n---\nFix it: ä€😀\n";

describe("a scan", () => {
  it("finds the skills of a repository, with their texts, and nothing else", async () => {
    using repository = new Repository(
      "tools",
      {
        ".warp/skills/last/SKILL.md": "last",
        ".agents/skills/fix/SKILL.md": text,
        ".agents/skills/same/SKILL.md": text,
        ".agents/skills/fix/more/SKILL.md": "too deep",
        "skills/top/SKILL.md": "top",
        "elsewhere/skills/a/SKILL.md": "elsewhere",
      },
      { ".claude/skills": "../.agents/skills", ".codex/skills/passwd/SKILL.md": "/etc/passwd" },
    );
    const response = await scan(repository.url);
    const sha = expect.stringMatching(/^[0-9a-f]{40}$/);
    expect(response).toEqual({
      outcome: "found",
      files: [
        { path: ".agents/skills/fix/SKILL.md", sha, text },
        { path: ".agents/skills/same/SKILL.md", sha, text },
        { path: ".warp/skills/last/SKILL.md", sha, text: "last" },
        { path: "skills/top/SKILL.md", sha, text: "top" },
      ],
      left_out: 0,
    });
  });

  it("reads a branch, a tag or a commit, and reports an unknown ref", async () => {
    using repository = new Repository("tools", { ".agents/skills/one/SKILL.md": "one" });
    const first = repository.git("rev-parse", "HEAD");
    repository.git("tag", "v1");
    repository.git("checkout", "--quiet", "-b", "feature/x");
    repository.commit({ ".agents/skills/two/SKILL.md": "two" });
    for (const ref of ["main", "v1", first, first.slice(0, 10)]) {
      expect(pathsIn(await scan(repository.url, { ref })), ref).toEqual([".agents/skills/one/SKILL.md"]);
    }
    expect(pathsIn(await scan(repository.url, { ref: "feature/x" }))).toHaveLength(2);
    expect(await scan(repository.url, { ref: "none" })).toMatchObject({ outcome: "failed", reason: "unreadable" });
  });

  it("finds nothing in a repository without skills, and in one without a commit", async () => {
    using plain = new Repository("plain", { "README.md": "hello" });
    using empty = new Repository("empty", {});
    empty.git("update-ref", "-d", "HEAD");
    expect(await scan(plain.url)).toEqual({ outcome: "found", files: [], left_out: 0 });
    expect(await scan(empty.url)).toEqual({ outcome: "found", files: [], left_out: 0 });
  });

  it("reads up to its limits, and reports the rest as existing", async () => {
    const many = Object.fromEntries(
      Array.from({ length: 205 }, (_, at) => [`.claude/skills/s${at}/SKILL.md`, `${at}`]),
    );
    const large = {
      ".agents/skills/huge/SKILL.md": "x".repeat(262_145),
      ".agents/skills/large/SKILL.md": "x".repeat(262_144),
    };
    using repository = new Repository("tools", { ...many, ...large });
    const response = await scan(repository.url);
    expect(response).toMatchObject({ outcome: "found", left_out: 7 });
    expect(pathsIn(response)).toHaveLength(200);
    const first = response.outcome === "found" ? response.files.slice(0, 3) : [];
    const text = "x".repeat(262_144);
    expect(first).toMatchObject([{ problem: "is larger than 262144 bytes" }, { text }, { text: "0" }]);
  });

  it("lists a skill whose path has 1,024 characters, and omits one with more, which a response cannot contain", async () => {
    using repository = new Repository("tools", { "README.md": "hello" });
    const blob = repository.git("rev-parse", "HEAD:README.md");
    const around = ".agents/skills//SKILL.md".length;
    const [longest, longer] = [1024, 1025].map((length) => `.agents/skills/${"x".repeat(length - around)}/SKILL.md`);
    for (const path of [longest, longer]) {
      repository.git("update-index", "--add", "--cacheinfo", `100644,${blob},${path}`);
    }
    repository.git("commit", "--quiet", "-m", "long");
    expect(pathsIn(await scan(repository.url))).toEqual([longest]);
  });

  it("reads 2 MiB of a repository's skills, and reports the rest as existing", async () => {
    const names = Array.from({ length: 34 }, (_, at) => `.agents/skills/s${String(at).padStart(2, "0")}/SKILL.md`);
    const large = Object.fromEntries(names.map((name, at) => [name, String(at).padEnd(65_536, "x")]));
    using repository = new Repository("tools", large);
    const response = await scan(repository.url);
    const files = response.outcome === "found" ? response.files : [];
    expect(files.map(({ text: read, problem }) => [read?.length, problem])).toEqual([
      ...Array.from({ length: 32 }, () => [65_536, undefined]),
      ...Array.from({ length: 2 }, () => [undefined, "was omitted: the skills before it have 2097152 bytes in total"]),
    ]);
  });

  it("runs nothing from the repository", async () => {
    const proof = join(folder, "proof");
    using repository = new Repository("tools", {
      ".agents/skills/fix/SKILL.md": text,
      ".gitattributes": "* filter=evil",
      ".gitmodules": `[submodule "a"]\n\tpath = a\n\turl = ext::sh -c touch% ${proof}`,
    });
    repository.git("config", "filter.evil.smudge", `touch ${proof}`);
    expect(pathsIn(await scan(repository.url))).toHaveLength(1);
    expect(existsSync(proof)).toBe(false);
  });

  it("reports why a repository cannot be read, without the credential in its URL", async () => {
    const response = await scan("https://someone:hush@127.0.0.1:1/a/b.git");
    expect(response).toMatchObject({ outcome: "failed", reason: "unreadable" });
    expect(JSON.stringify(response)).not.toContain("hush");
  });

  it("connects only to the addresses of the host that were checked", async () => {
    const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
    const bin = join(folder, "bin");
    const noted = join(folder, "git-calls");
    mkdirSync(bin);
    const script = `#!/bin/sh\nprintf '%s\\n' "$*" >> '${noted}'\nexec '${real}' "$@"\n`;
    writeFileSync(join(bin, "git"), script, { mode: 0o755 });
    vi.stubEnv("PATH", `${bin}:${process.env["PATH"] ?? ""}`);
    vi.stubEnv("HTTPS_PROXY", "");
    expect(await scan("https://localhost:1/a/b.git", { ref: "v1" })).toMatchObject({ reason: "unreadable" });
    const fetches = readFileSync(noted, "utf8")
      .split("\n")
      .filter((line) => line.includes(" fetch "));
    expect(fetches).toHaveLength(2);
    const pinned = /^-c http\.curloptResolve=localhost:1:\S*(127\.0\.0\.1|\[::1\])\S* fetch /;
    for (const line of fetches) expect(line).toMatch(pinned);
  });

  it("gives up on an unresponsive server", async () => {
    const server = createServer(() => {});
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const address = server.address();
      const port = typeof address === "object" ? address?.port : undefined;
      const response = await scan(`https://127.0.0.1:${port}/a/b.git`, { time_limit_ms: 1_500 });
      expect(response).toMatchObject({ outcome: "failed", reason: "too_late" });
    } finally {
      server.close();
    }
  });

  it("reports a missing git", async () => {
    vi.stubEnv("PATH", join(folder, "tmp"));
    expect(await scan("https://git.test/a/b")).toMatchObject({ outcome: "failed", reason: "no_git" });
  });

  it("is refused for an invalid repository URL", async () => {
    await expect(runSandbox({ v: 1, kind: "scan", url: "ext::sh -c id", time_limit_ms: 1_000 })).rejects.toThrow("URL");
  });
});
