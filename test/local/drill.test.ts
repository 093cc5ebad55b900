import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { throwIfChanged } from "../../lab/drill/data.ts";
import { fillIn, NOT_RUN, readGuide, toRunnable } from "../../lab/drill/guide.ts";
import { checkOutRelease, copyCheckout, removeRelease, writeSettings } from "../../lab/drill/releases.ts";
import { root, runCommand } from "../../scripts/run-command.ts";

const HEADINGS = ["Deploy", "Check the deployment", "Upgrade", "Back up and restore", "Remove"];
const values = { baseUrl: "http://x/api/v1", apiKey: "ryp_1", restoreTime: "2030-01-01T00:00:00Z", bucket: "b" };

describe("the guide that npm run lab -- drill follows", () => {
  it("has commands on one line each, and values for all placeholders of those that run", () => {
    const commands = HEADINGS.flatMap((heading) => readGuide(heading));
    const run = commands.flatMap((command) => toRunnable(command) ?? []).map((command) => fillIn(command, values));
    expect(run).toContain(
      "aws dynamodb restore-table-to-point-in-time --source-table-name runyard --target-table-name runyard-restored " +
        "--restore-date-time 2030-01-01T00:00:00Z",
    );
    expect(run).toContain("npx cdk diff --all && npx cdk deploy --all");
    expect(run.filter((command) => /…|<|\\/.test(command))).toEqual([]);
    const skipped = commands.filter((command) => toRunnable(command) === undefined);
    for (const command of skipped) expect(NOT_RUN.map(([pattern]) => pattern.test(command))).toContain(true);
    expect(run.length).toBeGreaterThan(2 * skipped.length);
  });

  it("must have each heading", () => {
    expect(() => readGuide("Paint it")).toThrow('docs/aws.md has no heading "Paint it"');
  });
});

describe("the comparison of data before and after", () => {
  const before = { "/a": { id: "1", list: [{ n: 1 }], last_used_at: "then" } };

  it("accepts what a later release adds, and times of use", () => {
    const after = { "/a": { id: "1", list: [{ n: 1, more: true }], last_used_at: "now", new: null }, "/b": 1 };
    expect(() => throwIfChanged(before, after)).not.toThrow();
  });

  it.each([
    ["another value", { "/a": { id: "2", list: [{ n: 1 }] } }],
    ["a member that is gone", { "/a": { list: [{ n: 1 }] } }],
    ["a shorter list", { "/a": { id: "1", list: [] } }],
    ["a response that is gone", {}],
  ])("rejects %s", (_, after) => {
    expect(() => throwIfChanged(before, after)).toThrow("Data that existed before has changed.");
  });
});

describe("a release of the drill", () => {
  const folder = mkdtempSync(join(tmpdir(), "drill-test-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("is a commit in a worktree of its own, which is removed with its settings", async () => {
    const release = await checkOutRelease("HEAD", join(folder, "previous"));
    await writeSettings(release, { frontDoor: "false" });
    expect(existsSync(join(release.directory, "node_modules/.bin/cdk"))).toBe(true);
    expect(readFileSync(join(release.directory, "cdk.context.json"), "utf8")).toContain('"frontDoor": "false"');
    await removeRelease(release);
    expect(existsSync(release.directory)).toBe(false);
    expect((await runCommand("git", ["worktree", "list"])).output).not.toContain(folder);
  });

  it("is the checkout, with changes that are not committed, and without its generated files", async () => {
    const { directory } = await copyCheckout(join(folder, "current"));
    const read = (at: string) => readFileSync(join(at, "test/local/drill.test.ts"), "utf8");
    expect(read(directory)).toBe(read(root));
    expect(existsSync(join(directory, "dist/aws"))).toBe(false);
  });
});

describe("npm run lab -- drill", () => {
  const run = (...args: string[]) => runCommand(process.execPath, [join(root, "lab/drill.ts"), ...args]);

  it("prints its help, and rejects unknown options and commits", async () => {
    expect(await run("--help")).toMatchObject({ exitCode: 0, output: expect.stringContaining("--from COMMIT") });
    expect(await run("--fast")).toMatchObject({ exitCode: 2, output: expect.stringContaining("--fast") });
    const unknown = await run("--from", "no-such-commit");
    expect(unknown).toMatchObject({ exitCode: 1, output: expect.stringContaining("git worktree failed") });
  });
});
