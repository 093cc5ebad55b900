import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import fs, { mkdirSync, mkdtempSync, readFileSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from "vitest";
import type { Limits } from "#harness/isolation/limits.ts";
import { type Machine, measureTrees, measureUnnamed } from "#harness/isolation/machine.ts";
import { freezeProcesses } from "#harness/isolation/process-states.ts";
import { createWatch } from "#harness/isolation/resource-watch.ts";

const GIB = 1024 ** 3;
const limits: Limits = { memoryBytes: 4 * GIB, processes: 5_000, diskBytes: GIB, files: 100, descriptors: 1 };
const idle: Machine = {
  ...{ memoryBytes: 100 * GIB, availableBytes: 50 * GIB, tasks: 100 },
  ...{ diskBytes: 50 * GIB, files: 1_000 },
};

let folder = "";
const started: ChildProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "file-watch-"));
});
afterEach(() => {
  vi.useRealTimers();
  for (const child of started.splice(0)) child.kill("SIGKILL");
  rmSync(folder, { recursive: true });
});

async function startSleep(): Promise<number> {
  const child = spawn("sh", ["-c", "echo; exec sleep 600"], { stdio: ["ignore", "pipe", "inherit"] });
  started.push(child);
  await once(child.stdout, "readable");
  return child.pid ?? 0;
}

/** The state of a process, as in /proc/PID/stat: T for one that is stopped. */
const readState = (pid: number) => /^\d+ \(.*\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, "latin1"))?.[1];

/** Whether a process that only sleeps is stopped, or about to stop, which it does not do asleep. */
const isHeld = (pid: number) => readState(pid) !== "S";

const writeFiles = (from: number, to: number) => {
  for (let index = from; index < to; index++) writeFileSync(join(folder, `${index}`), "");
};

/** Watches commands on a machine whose disk has as many files left as `place.files` says. */
async function watchCommands({ commands = 1, shrink = async () => {}, limit = limits.files, free = idle.files }) {
  const place = { files: free };
  const pids = await Promise.all(Array.from({ length: commands }, startSleep));
  /** When the machine was measured, and whether all commands were stopped then. */
  const measured: { readonly at: number; readonly areHeld: boolean }[] = [];
  const reasons: string[] = [];
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "setTimeout", "clearTimeout", "performance"] });
  const beganAt = performance.now();
  const measure = () => {
    measured.push({ at: performance.now() - beganAt, areHeld: pids.every(isHeld) });
    return { ...idle, files: place.files };
  };
  const watch = createWatch({ limits: { ...limits, files: limit }, folder, measure, shrink });
  const stops = pids.map((pid) => watch.command(pid, (why) => reasons.push(why)));
  return { place, pids, measured, reasons, stop: () => Promise.all(stops.map((stop) => stop())) };
}

/** Watches a command whose files have just been counted, which took long. */
async function watchAfterSlowCount() {
  const watched = await watchCommands({});
  watched.place.files = 899;
  const countSlowly = vi.spyOn(performance, "now");
  let endedAt = performance.now();
  countSlowly.mockImplementation(() => {
    endedAt += 20;
    return endedAt;
  });
  vi.advanceTimersByTime(100);
  await expect.poll(() => watched.pids.map(isHeld)).toEqual([false]);
  countSlowly.mockRestore();
  return { ...watched, endedAt };
}

it("counts the run's files once for all commands, which are stopped meanwhile", async () => {
  writeFiles(0, 40);
  const { place, pids, measured, stop } = await watchCommands({ commands: 3 });
  await expect.poll(() => pids.map(isHeld)).toEqual([false, false, false]);
  measured.length = 0;
  place.files = 899;
  vi.advanceTimersByTime(100);
  await setImmediate();
  // Three looks, the first of which stops the commands, and one count.
  expect(measured.slice(0, 4).map(({ areHeld }) => areHeld)).toEqual([false, true, true, true]);
  // They go on: others use the disk.
  await expect.poll(() => pids.map(isHeld)).toEqual([false, false, false]);
  await stop();
});

it("ends all commands before it removes files, and stops them until then", async () => {
  writeFiles(0, 120);
  const states: string[] = [];
  const shrink = async () => {
    states.push(`${pids.map(isHeld).join()} ${reasons.length}`);
    for (let index = 90; index < 120; index++) unlinkSync(join(folder, `${index}`));
  };
  const { place, pids, reasons } = await watchCommands({ commands: 2, shrink });
  place.files = 880;
  vi.advanceTimersByTime(100);
  const why = "the run had more than 100 files; what changed last was removed";
  await expect.poll(() => reasons).toEqual([why, why]);
  await expect.poll(() => states).toEqual(["true,true 2"]);
  await expect.poll(() => pids.map(isHeld)).toEqual([false, false]);
});

it("counts files again at once if they exceed a limit after others were removed", async () => {
  writeFiles(0, 120);
  const pids = [await startSleep(), await startSleep()];
  const files = { left: 880 };
  const shrink = async () => {
    for (let index = 90; index < 120; index++) rmSync(join(folder, `${index}`), { force: true });
    files.left = 910;
  };
  const reasons: string[] = [];
  const measures = [idle];
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  const measure = () => measures.pop() ?? { ...idle, files: files.left };
  const watch = createWatch({ limits, folder, measure, shrink });
  await watch.command(pids[0] ?? 0, (why) => reasons.push(why))();
  expect(reasons).toHaveLength(1);
  expect(files.left).toBe(910);
  writeFiles(90, 115);
  // Fewer than before the first removal, but too many.
  files.left = 885;
  await watch.command(pids[1] ?? 0, (why) => reasons.push(why))();
  expect(reasons).toHaveLength(2);
});

it("stops commands that come near the limit again right after a count, until the next one", async () => {
  writeFiles(0, 40);
  const { place, pids, measured, stop } = await watchAfterSlowCount();
  measured.length = 0;
  place.files = 830;
  vi.advanceTimersByTime(100);
  await setImmediate();
  // An early look and a regular one, and no count.
  expect([pids.map(isHeld), measured.length]).toEqual([[true], 2]);
  await stop();
});

it("counts them again at once if the run itself uses more than half of the limit", async () => {
  writeFiles(0, 60);
  const { place, pids, measured, endedAt, stop } = await watchAfterSlowCount();
  vi.advanceTimersByTime(endedAt - performance.now());
  measured.length = 0;
  place.files = 830;
  vi.advanceTimersByTime(100);
  // They go on after the count, although no time has passed.
  await expect.poll(() => pids.map(isHeld)).toEqual([false]);
  expect(measured.length).toBeGreaterThan(2);
  await stop();
});

it("looks again right after a count, which takes long", async () => {
  writeFiles(0, 60);
  const { place, pids, measured, stop } = await watchCommands({});
  place.files = 899;
  vi.advanceTimersByTime(100);
  measured.length = 0;
  // Until the count is over; no time passes.
  while (pids.some(isHeld)) await setImmediate();
  await setImmediate();
  expect(measured.map(({ at }) => Math.floor(at))).toEqual([100]);
  // The run may have 39 files more.
  vi.advanceTimersByTime(7);
  expect(measured.map(({ at }) => Math.floor(at))).toEqual([100, 102, 104, 106]);
  await stop();
});

it("stops commands that come near the limit while a count takes place", async () => {
  writeFiles(0, 40);
  const { place, pids, stop } = await watchCommands({});
  // After a minute, the files are counted even if the disk has lost nothing.
  vi.advanceTimersByTime(60_100);
  expect(pids.map(isHeld)).toEqual([false]);
  place.files = 899;
  vi.advanceTimersByTime(100);
  expect(pids.map(isHeld)).toEqual([true]);
  await expect.poll(() => pids.map(isHeld)).toEqual([false]);
  await stop();
});

it("takes what the disk has lost for files in directories that it cannot read", async () => {
  writeFiles(0, 40);
  mkdirSync(join(folder, "closed"));
  const read = fs.opendirSync;
  vi.spyOn(fs, "opendirSync").mockImplementation((path, options) => {
    if (String(path).endsWith("closed")) throw Object.assign(new Error("forbidden"), { code: "EACCES" });
    return read(path, options);
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });
  const { place, pids, reasons } = await watchCommands({});
  place.files = 902;
  vi.advanceTimersByTime(100);
  expect(pids.map(isHeld)).toEqual([true]);
  while (pids.some(isHeld)) await setImmediate();
  await setImmediate();
  expect(reasons).toEqual([]);
  place.files = 899;
  vi.advanceTimersByTime(100);
  while (pids.some(isHeld)) await setImmediate();
  expect(reasons).toEqual(["the run had more than 100 files"]);
});

it("looks again when the limit would be reached at the present speed", async () => {
  const { place, measured, stop } = await watchCommands({ limit: 100_000, free: 1_000_000 });
  vi.advanceTimersByTime(100);
  place.files = 940_000;
  vi.advanceTimersByTime(100);
  place.files = 920_000;
  vi.advanceTimersByTime(99);
  // 60,000 files in 100 ms and 37,000 left until 97,000, then 20,000 in 61 ms and 17,000 left.
  expect(measured.map(({ at }) => Math.floor(at))).toEqual([0, 100, 200, 261]);
  place.files = 1_000_000;
  vi.advanceTimersByTime(201);
  expect(measured.slice(4).map(({ at }) => Math.floor(at))).toEqual([300, 312, 400, 500]);
  await stop();
});

it("looks ten times a second while the limit is far, and not after the last command", async () => {
  const { place, measured, stop } = await watchCommands({ limit: 100_000, free: 1_000_000 });
  vi.advanceTimersByTime(100);
  place.files = 960_000;
  vi.advanceTimersByTime(100);
  await stop();
  vi.advanceTimersByTime(1_000);
  expect(measured.map(({ at }) => at)).toEqual([0, 100, 200, 200]);
});

it("looks more often the less is left, although the run does not grow, from the beginning of a command", async () => {
  const { place, measured, stop } = await watchCommands({ limit: 10_000, free: 20_000 });
  place.files = 12_000;
  vi.advanceTimersByTime(60);
  place.files = 10_500;
  vi.advanceTimersByTime(10);
  // 9,700, 1,700 and then 200 files are left until 9,700, and 200,000 can be made in a second.
  expect(measured.map(({ at }) => Math.floor(at))).toEqual([0, 48, 56, 64, 66, 68, 70]);
  await stop();
});

it("freezeProcesses lets a process go on when all who stopped it do, and leaves one alone that had stopped by itself", async () => {
  const [pid, stopped] = [await startSleep(), await startSleep()];
  process.kill(stopped, "SIGSTOP");
  await expect.poll(() => readState(stopped)).toBe("T");
  const list = () => [pid, stopped];
  const thaws = [await freezeProcesses(list), await freezeProcesses(list)];
  expect(readState(pid)).toBe("T");
  thaws[0]?.();
  thaws[0]?.();
  expect(readState(pid)).toBe("T");
  thaws[1]?.();
  await expect.poll(() => readState(pid)).toBe("S");
  expect(readState(stopped)).toBe("T");
});

it("measureUnnamed stops after what is enough", async () => {
  const program =
    "import os, time\nfor _ in range(50): os.open('.', os.O_TMPFILE | os.O_RDWR)\nprint(1, flush=True); time.sleep(600)";
  const child = spawn("python3", ["-c", program], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  started.push(child);
  await once(child.stdout, "readable");
  const measure = (unnamedFiles: number) =>
    measureUnnamed([child.pid ?? 0], 100, { unnamedBytes: GIB, unnamedFiles }).unnamedFiles;
  expect([measure(10), measure(50)]).toEqual([11, 50]);
});

it("measureTrees pauses while it reads thousands of descriptors", async () => {
  const program =
    "import os, time\nfor _ in range(50): os.open('.', os.O_RDONLY)\nprint(1, flush=True); time.sleep(600)";
  const child = spawn("python3", ["-c", program], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  started.push(child);
  await once(child.stdout, "readable");
  let pauses = 0;
  measureTrees([child.pid ?? 0], 100, GIB, "processes", () => pauses++);
  expect(pauses).toBeGreaterThan(50);
});
