import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Limits } from "#harness/isolation/limits.ts";
import { createPlainSandbox } from "#harness/isolation/sandbox.ts";
import { createShrinking } from "#harness/isolation/shrink-files.ts";

const MIB = 1024 * 1024;
const plenty: Limits = { memoryBytes: 1, processes: 1, diskBytes: 1_000 * MIB, files: 1_000, descriptors: 1 };

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "shrink-"));
  for (const name of ["workspace/output", "home", "tmp", "steps"]) mkdirSync(join(root, name), { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true }));

async function shrink(limits: Partial<Limits>): Promise<void> {
  const inside = (name: string) => join(root, name);
  const host = {
    ...{ workspace: inside("workspace"), home: inside("home"), tmp: inside("tmp") },
    ...{ output: inside("workspace/output"), steps: inside("steps") },
  };
  const sandbox = createPlainSandbox({ host, runId: "run", marker: {} }, "none");
  await createShrinking(sandbox, host, { ...plenty, ...limits })();
}

const write = (name: string, mib = 0) => writeFileSync(join(root, name), Buffer.alloc(mib * MIB, "x"));

/** Waits for the next tick of the file system's clock: what changes in the same one is of the same age. */
function waitForTick(): void {
  const probe = join(root, "steps/probe");
  const read = () => {
    writeFileSync(probe, "");
    return statSync(probe, { bigint: true }).ctimeNs;
  };
  for (const begin = read(); read() === begin; );
}

const list = () => execFileSync("find", [".", "-type", "f", "-printf", "%P\n"], { cwd: root, encoding: "utf8" });
const names = () =>
  list()
    .split("\n")
    .filter((name) => name !== "" && !name.startsWith("steps/"))
    .toSorted();

it("removes what changed last, in all places of a run, until the rest is within the limit of disk", async () => {
  write("workspace/1", 3);
  write("home/2", 3);
  waitForTick();
  write("tmp/3", 3);
  write("workspace/4", 3);
  await shrink({ diskBytes: 7 * MIB });
  expect(names()).toEqual(["home/2", "workspace/1"]);
});

it("removes directories and files until the rest is within the limit of files", async () => {
  for (let index = 0; index < 10; index++) write(`workspace/${index}`);
  waitForTick();
  for (let index = 0; index < 30; index++) mkdirSync(join(root, `tmp/a/${index}/b`), { recursive: true });
  await shrink({ files: 20 });
  expect(names()).toHaveLength(10);
  expect(existsSync(join(root, "tmp/a/29"))).toBe(false);
  expect(existsSync(join(root, "workspace/output")), "stays for later artifacts").toBe(true);
});

it("removes nothing within the limits", async () => {
  write("workspace/1", 3);
  write("workspace/2", 3);
  await shrink({ diskBytes: 8 * MIB, files: 20 });
  expect(names()).toEqual(["workspace/1", "workspace/2"]);
});

it("removes everything if the oldest file alone is too large", async () => {
  write("workspace/1", 9);
  write("workspace/2", 1);
  await shrink({ diskBytes: 5 * MIB });
  expect(names()).toEqual([]);
});

it("removes what lies deeper than the longest path and in directories without permissions, and follows no links", async () => {
  write("kept", 9);
  write("workspace/1", 1);
  symlinkSync(root, join(root, "workspace/link"));
  const deep = `cd tmp && for i in $(seq 60); do mkdir ${"d".repeat(200)} && cd ${"d".repeat(200)}; done && head -c 4M /dev/zero > end`;
  execFileSync("bash", ["-ec", deep], { cwd: root });
  mkdirSync(join(root, "workspace/closed"));
  write("workspace/closed/2", 4);
  chmodSync(join(root, "workspace/closed"), 0);
  await shrink({ diskBytes: 3 * MIB });
  expect(names()).toEqual(["kept", "workspace/1"]);
});

/** Puts a program before `find` that notes each call, and returns how many there were. */
async function countPasses(act: () => Promise<void>): Promise<number> {
  const { PATH = "" } = process.env;
  const log = join(root, "steps/passes");
  const find = execFileSync("sh", ["-c", "command -v find"], { encoding: "utf8" }).trim();
  mkdirSync(join(root, "steps/programs"));
  writeFileSync(join(root, "steps/programs/find"), `#!/bin/sh\necho >> ${log}\nexec ${find} "$@"\n`, { mode: 0o755 });
  vi.stubEnv("PATH", `${join(root, "steps/programs")}:${PATH}`);
  await act();
  vi.unstubAllEnvs();
  return readFileSync(log, "utf8").length;
}

it("passes over the files twice, to find out which exceed the limits and to remove them", async () => {
  write("workspace/1", 3);
  waitForTick();
  write("workspace/2", 3);
  expect(await countPasses(() => shrink({ diskBytes: 4 * MIB }))).toBe(2);
  expect(names()).toEqual(["workspace/1"]);
});

it("passes over the files three times where directories without permissions hide some", async () => {
  write("workspace/1", 3);
  waitForTick();
  mkdirSync(join(root, "workspace/closed"));
  write("workspace/closed/2", 3);
  chmodSync(join(root, "workspace/closed"), 0);
  // Permissions hide nothing from root.
  const passes = process.getuid?.() === 0 ? 2 : 3;
  expect(await countPasses(() => shrink({ diskBytes: 4 * MIB }))).toBe(passes);
  expect(names()).toEqual(["workspace/1"]);
});

it("removes files in directories that can be read and not written", async () => {
  write("workspace/1", 3);
  waitForTick();
  mkdirSync(join(root, "workspace/closed"));
  write("workspace/closed/2", 3);
  chmodSync(join(root, "workspace/closed"), 0o500);
  await shrink({ diskBytes: 4 * MIB });
  expect(names()).toEqual(["workspace/1"]);
});
