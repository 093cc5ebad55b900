import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { createRedactor } from "#harness/redaction/redactor.ts";
import { createChangeCollector } from "#harness/reporting/change-collector.ts";
import { FakeControlPlane } from "../../../lab/fake-control-plane.ts";
import { Repository } from "../support/repository.ts";
import { runHarness } from "../support/run-harness.ts";

const SECRET = "planted-value-0001";
const FILES = { "calc.py": "def add(a, b):\n    return a - b\n", ".gitignore": "*.log\n", "same.txt": "same\n" };

/** Executes a runbook in a clone and returns its patches with their details. */
async function recordChanges(script: string, { repository = new Repository("shop", FILES), more = {} } = {}) {
  using source = repository;
  const agent_config = { repositories: [{ url: source.url }] };
  const secrets = [{ name: "TOKEN", value: SECRET }];
  const prompt = `\`\`\`sh\n${script}\n\`\`\``;
  await using plane = await FakeControlPlane.start({ prompt, context: { agent_config, secrets, ...more } });
  const { log } = await runHarness(plane);
  // biome-ignore lint/suspicious/noExplicitAny: tests look into reports of every shape.
  const reports: any[] = plane.callsTo("report-artifact").map(({ body }) => body["data"]);
  return {
    plane,
    log,
    git: reports[0]?.git,
    patch: plane.artifacts.get("changes/shop.diff"),
    base: source.git("rev-parse", "main"),
  };
}

/** Applies a patch to a new clone of the same files and returns the tree of the result. */
function apply(patch: Buffer | undefined): string {
  using target = new Repository("target", FILES);
  execFileSync("git", ["apply", "--index", "--binary"], { cwd: target.path, input: patch });
  return target.git("ls-files", "--stage");
}

describe("a run that changes a repository", () => {
  it("has a patch of commits, changes and new files as an artifact, without ignored files", async () => {
    const { plane, git, patch, base } = await recordChanges(
      [
        "git checkout -qb fix && sed -i s/-/+/ calc.py",
        "git -c user.name=a -c user.email=a@b commit -qam fix",
        "printf 'new\\n' > 'nöw file.txt'; printf '\\0\\1' > data.bin; rm same.txt; echo x > debug.log",
      ].join("\n"),
    );
    expect(plane.outcome).toMatchObject({ success: true });
    expect(git).toEqual({
      path: "shop",
      base_commit: base,
      head_commit: expect.stringMatching(/^[0-9a-f]{40}$/),
      branch: "fix",
      commits: 1,
      files_changed: 4,
      insertions: 2,
      deletions: 2,
    });
    expect(
      apply(patch)
        .split("\n")
        .map((line) => line.split("\t")[1]),
    ).toEqual([".gitignore", "calc.py", "data.bin", '"n\\303\\266w file.txt"']);
  });

  it("has the lines between two changes of a file that are at most 40 lines apart", async () => {
    const lines = Array.from({ length: 120 }, (_, at) => `line ${at}\n`).join("");
    const repository = new Repository("shop", { ...FILES, "list.txt": lines });
    const { patch } = await recordChanges("sed -i 's/line \\(10\\|50\\|110\\)$/changed/' list.txt", { repository });
    const hunks = String(patch).split(/^@@.*@@.*$/m);
    expect(hunks).toHaveLength(3);
    expect(hunks[1]).toContain("\n line 30\n");
    expect(hunks[1]?.match(/^ /gm), "three lines before and after them").toHaveLength(3 + 39 + 3);
  });

  it("has one if it fails, and none if nothing changed", async () => {
    const failed = await recordChanges("echo more >> calc.py; exit 3");
    expect(failed.plane.outcome).toMatchObject({ success: false });
    expect(failed.git).toMatchObject({ commits: 0, files_changed: 1, insertions: 1, deletions: 0, branch: "main" });
    const unchanged = await recordChanges("cat calc.py; echo x > debug.log");
    expect(unchanged.patch).toBeUndefined();
    expect(unchanged.plane.callsTo("report-artifact")).toEqual([]);
  });

  it("has one without the run's secrets, with a note", async () => {
    const { git, patch } = await recordChanges('printf "key=%s\\n" "$TOKEN" > settings.ini');
    expect(git).toMatchObject({ files_changed: 1, redacted: true });
    expect(patch?.toString()).toContain("+key=***\n");
    expect(patch?.toString()).not.toContain(SECRET);
  });

  it("omits large files with their number", async () => {
    const { git, patch } = await recordChanges("head -c 6000000 /dev/urandom > big.bin; echo y >> calc.py");
    expect(git).toMatchObject({ files_changed: 1, files_omitted: 1 });
    expect(patch?.toString()).not.toContain("big.bin");
  });

  it("has one of what can be read, and names the rest", async () => {
    const { plane, git, patch } = await recordChanges(
      "echo more >> calc.py; echo x > locked; mkdir closed; echo y > closed/file; chmod 0 locked closed",
    );
    expect([git, plane.outcome]).toMatchObject([{ files_changed: 1 }, { success: true }]);
    expect(patch?.toString()).toContain("+more");
    expect(plane.texts.at(-1)).toContain("the change of shop/locked: it cannot be read");
    expect(plane.texts.at(-1)).toContain("the change of shop/closed/: it cannot be read");
  });

  it("has one of a shallow clone and of the directories that are checked out", async () => {
    const repository = new Repository("shop", { "top.txt": "1\n", "api/a.txt": "1\n", "web/b.txt": "1\n" });
    repository.commit({ "top.txt": "2\n" });
    const more = { agent_config: { repositories: [{ url: repository.url, depth: 1, sparse_paths: ["api"] }] } };
    const script = "test ! -e web; git rev-list --count HEAD; echo 2 > api/a.txt; echo 1 > api/new.txt";
    const { plane, git, patch } = await recordChanges(script, { repository, more });
    expect(plane.outputs).toEqual(["1\n"]);
    expect(git).toMatchObject({ files_changed: 2, insertions: 2, deletions: 1, commits: 0 });
    expect(patch?.toString().match(/^diff .*$/gm)).toEqual([
      "diff --git a/api/a.txt b/api/a.txt",
      "diff --git a/api/new.txt b/api/new.txt",
    ]);
  });

  it("runs no program that the repository's configuration names", async () => {
    const { plane, git, patch } = await recordChanges(
      [
        "evil=$HOME/evil.sh; printf '#!/bin/sh\\ntouch \"$RUNYARD_OUTPUT/ran\"\\ncat\\n' > $evil; chmod +x $evil",
        "echo '*.py filter=evil diff=evil merge=evil' > .gitattributes; echo z >> calc.py",
        "for key in filter.evil.clean filter.evil.process diff.evil.textconv diff.evil.command diff.external core.fsmonitor core.pager core.editor core.sshCommand; do git config $key $evil; done",
        "for hook in post-index-change pre-commit post-checkout reference-transaction fsmonitor-watchman; do cp $evil .git/hooks/$hook; done",
        "rm -f $RUNYARD_OUTPUT/ran",
      ].join("\n"),
    );
    expect(git).toMatchObject({ files_changed: 2, insertions: 2 });
    expect(patch?.toString()).toContain("+z\n");
    expect([...plane.artifacts.keys()]).toEqual(["changes/shop.diff"]);
  });
});

describe("the patch of a repository", () => {
  /** Compares in this process without a sandbox, and returns the sizes of stored patches and the notes about others. */
  async function collect(repository: Repository, patchBytes?: number) {
    const commit = repository.git("rev-parse", "HEAD");
    const tmp = mkdtempSync(join(tmpdir(), "harness-test-"));
    const places = { workspace: dirname(repository.path), home: tmp, tmp, output: tmp, steps: tmp };
    const sizes: unknown[] = [];
    const collector = createChangeCollector({
      plane: {
        reportArtifact: async ({ data }) => {
          sizes.push("size_bytes" in data ? data.size_bytes : undefined);
          return { artifact_uid: "a" };
        },
      },
      redactor: createRedactor([]),
      runner: {
        run: async ({ command, workingDirectory }) => {
          const text = execFileSync("bash", ["-c", command], { cwd: workingDirectory, encoding: "utf8" });
          return { command, exitCode: 0, text, truncated: false, timedOut: false, durationMs: 1, workingDirectory };
        },
      },
      clones: [{ owner: "acme", name: "shop", path: "shop", commit }],
      host: places,
      seen: places,
      deadlineAt: Date.now() + 60_000,
      signal: new AbortController().signal,
      log: () => undefined,
      ...(patchBytes === undefined ? {} : { limits: { patchBytes } }),
    });
    try {
      return { sizes, left: await collector.collect(async () => undefined) };
    } finally {
      rmSync(tmp, { recursive: true });
    }
  }

  it("is stored up to the limit, and not beyond it", async () => {
    using repository = new Repository("shop", FILES);
    execFileSync("bash", ["-c", "echo more >> calc.py"], { cwd: repository.path });
    const { sizes, left } = await collect(repository);
    expect({ sizes, left }).toEqual({ sizes: [expect.any(Number)], left: [] });
    const bytes = Number(sizes[0]);
    expect(await collect(repository, bytes)).toEqual({ sizes: [bytes], left: [] });
    expect(await collect(repository, bytes - 1)).toEqual({
      sizes: [],
      left: [`the change of shop: the patch has more than ${bytes - 1} bytes`],
    });
  });
});
