import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findLimitedFiles, limitToDisk } from "#harness/isolation/machine.ts";
import { FakeControlPlane } from "../../../lab/fake-control-plane.ts";

const MIB = 1024 * 1024;
const harness = (file: string) => join(import.meta.dirname, "../../../harness", file);

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "limited-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs a program of the harness whose temporary directory is a file system of this size. */
async function runOnDisk(file: string, limits: { mib: number; files: number }, input = "") {
  const mount = `mount -t tmpfs -o size=70m,nr_inodes=2000 tmpfs ${folder} && exec "$@"`;
  const args = ["--user", "--map-root-user", "--mount", "sh", "-c", mount, "sh", process.execPath, harness(file)];
  const env = {
    PATH: process.env["PATH"] ?? "",
    TMPDIR: folder,
    RUNYARD_SANDBOX: "bubblewrap",
    RUNYARD_RUN_DISK_MIB: String(limits.mib),
    RUNYARD_RUN_FILES: String(limits.files),
  };
  const child = spawn("unshare", args, { env, stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.end(input);
  const [output] = await Promise.all([text(child.stdout), once(child, "close")]);
  return output;
}

describe("limitToDisk", () => {
  it.each([
    ["the limits, on a large disk", { blocks: 1_000, bfree: 900, bavail: 850, files: 10_000 }, 100 * MIB, 1_000],
    [
      "95 % of what is left of a small one to its users",
      { blocks: 100, bfree: 90, bavail: 70, files: 500 },
      76 * MIB,
      475,
    ],
    [
      "the limit of files, where the disk has none",
      { blocks: 1_000, bfree: 900, bavail: 850, files: 0 },
      100 * MIB,
      1_000,
    ],
  ])("returns %s", (_, disk, diskBytes, files) => {
    const limits = { diskBytes: 100 * MIB, files: 1_000 };
    expect(limitToDisk("/", limits, () => ({ ...disk, bsize: MIB }))).toEqual({ diskBytes, files });
  });
});

describe("the limits of a run's files", () => {
  const measured = (blocks: number, files: number) =>
    findLimitedFiles("/", { diskBytes: 100 * MIB, files: 1_000 }, () => ({ blocks, bsize: MIB, files }));

  it.each([
    [110, 1_100, ["disk", "files"]],
    [111, 1_101, []],
    [50, 0, ["disk"]],
  ])("with a file system of %i MiB and %i files are held by the kernel: %j", (blocks, files, expected) => {
    expect(measured(blocks, files)).toEqual(expected);
  });

  it.each([
    [{ mib: 64, files: 2_000 }, "kernel", "kernel"],
    [{ mib: 60, files: 1_500 }, "harness", "harness"],
  ])("%j are reported as those of the file system of executions", async (limits, disk, files) => {
    const report: unknown = JSON.parse(await runOnDisk("isolation-main.ts", limits));
    expect(report).toMatchObject({ isolation: "bubblewrap", limits: { disk, files } });
  });
});

it("a run that fills its file system ends its command and reports why", async () => {
  const fill = "for i in $(seq 200); do head -c 1M /dev/zero > $i 2>/dev/null || :; done; sleep 600";
  await using plane = await FakeControlPlane.start({ prompt: `\`\`\`sh\n${fill}\n\`\`\`` });
  await runOnDisk("main.ts", { mib: 64, files: 2_000 }, JSON.stringify(plane.envelope));
  const reason = "the run's files took more than 64 MiB; what changed last was removed";
  expect(plane.outcome?.summary).toContain(`was ended: ${reason} (exit code 137)`);
});

it("a repository that does not fit into the file system of its run fails the setup, which says what a run may have", async () => {
  const source = mkdtempSync(join(tmpdir(), "large-"));
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", source, "-c", "user.name=A", "-c", "user.email=a@b", ...args]);
  git("init", "--quiet");
  for (let index = 0; index < 2_100; index++) writeFileSync(join(source, `file-${index}`), "");
  git("add", ".");
  git("commit", "--quiet", "--message", "files");
  const repositories = [{ url: `file://${source}` }];
  await using plane = await FakeControlPlane.start({ prompt: "x", context: { agent_config: { repositories } } });
  await runOnDisk("main.ts", { mib: 64, files: 2_000 }, JSON.stringify(plane.envelope));
  rmSync(source, { recursive: true });
  expect(plane.everything).toContain("a run may have 64 MiB and 2000 files; set depth or sparse_paths");
});
