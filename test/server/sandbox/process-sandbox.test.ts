import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import os, { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Database } from "#server/database/database.ts";
import { executionLog } from "#server/sandbox/execution-log.ts";
import { ProcessSandbox, type ProcessSandboxOptions } from "#server/sandbox/process-sandbox.ts";
import { StartDeferred } from "#shared/sandbox/sandbox.ts";
import { useDataDirectory } from "../support/data-directory.ts";

const data = useDataDirectory();
const folder = mkdtempSync(path.join(tmpdir(), "runyard-sandbox-"));
const NOW = Date.parse("2026-05-18T19:00:00Z");
/**
 * A harness that prints its envelope with its process id, and executes until SIGTERM. While it runs, a file
 * named after its process id exists.
 */
const program = { file: path.join(folder, "harness.cjs") };
writeFileSync(
  program.file,
  `const fs = require("node:fs");
   const mark = __dirname + "/" + process.pid;
   process.on("exit", () => fs.rmSync(mark, { force: true }));
   process.on("SIGTERM", () => process.exit(0));
   // Last: who sees the file may end the process at once.
   fs.writeFileSync(mark, "");
   let text = "";
   process.stdin.on("data", (chunk) => { text += chunk; });
   process.stdin.on("end", () => {
     if (text === "") process.exit(0);
     console.log(JSON.stringify({ ...JSON.parse(text), pid: process.pid }));
     setInterval(() => {}, 1000);
   });`,
);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let database: Database;
let log: ReturnType<typeof executionLog>;
/** The envelopes that harnesses got, with their process ids, by their execution. */
let started: Map<string, { readonly run_id: string; readonly pid: number; readonly deadline_at?: number }>;
let rooms: number;
let sandbox: ProcessSandbox;
/** Those of the test, each of which offers room at intervals until it is closed. */
const sandboxes: ProcessSandbox[] = [];
const make = (options: Partial<ProcessSandboxOptions> = {}) => {
  sandbox = new ProcessSandbox({
    program: () => program,
    concurrency: 2,
    log,
    print(line) {
      const { execution_id, ...envelope } = JSON.parse(line);
      started.set(execution_id, envelope);
    },
    onRoom: () => void rooms++,
    ...options,
  });
  sandboxes.push(sandbox);
};
beforeEach(() => {
  // However slow the machine is, room is offered at intervals only where a test lets time pass.
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  database = data.open();
  log = executionLog(database);
  [started, rooms] = [new Map(), 0];
  make();
});
afterEach(async () => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  await Promise.all(sandboxes.splice(0).map((one) => one.close()));
});

const urls = { base_url: "http://127.0.0.1:9", model_url: "http://127.0.0.1:9" };
const start = (execution_id: string, run_id = `run of ${execution_id}`) =>
  sandbox.start({ version: 1, ...urls, run_id, execution_id, key: "the-key" });
const startedIds = () => [...started.keys()].toSorted();
const isStopped = (executionId: string) => sandbox.stop({ provider: "lambda", executionId });
/** Starts an execution of an owner, and returns the process id of its harness. */
async function startFor(owner: string, id: string): Promise<number | undefined> {
  sandbox.expect(`run of ${id}`, owner);
  await start(id);
  sandbox.forget(`run of ${id}`);
  await expect.poll(startedIds).toContain(id);
  return started.get(id)?.pid;
}
const harnesses = () => readdirSync(folder).filter((name) => /^\d+$/.test(name));

describe("an execution", () => {
  it("is started once, and recorded while it executes", async () => {
    await start("a");
    await start("a");
    await expect.poll(startedIds).toEqual(["a"]);
    expect(log.all()).toEqual([{ id: "a", run_id: "run of a" }]);
    expect([sandbox.isRunning("run of a"), sandbox.isRunning("run of b")]).toEqual([true, false]);
    expect(await isStopped("a")).toBe(false);
    await expect.poll(() => isStopped("a")).toBe(true);
    expect([log.all(), sandbox.isRunning("run of a"), rooms]).toEqual([[], false, 1]);
  });

  it("gets another harness where the one that was started ahead has ended", async () => {
    sandbox.prepare();
    await expect.poll(harnesses).toHaveLength(1);
    const pid = Number(harnesses()[0]);
    process.kill(pid, "SIGTERM");
    // The process exists until its parent has noticed its end.
    await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);
    await start("a");
    await expect.poll(startedIds).toEqual(["a"]);
  });

  it("has a deadline, if there is one", async () => {
    await start("a");
    await expect.poll(startedIds).toEqual(["a"]);
    expect(started.get("a")).not.toHaveProperty("deadline_at");
    await sandbox.close();
    vi.useFakeTimers({ now: NOW, toFake: ["Date"] });
    make({ seconds: 60 });
    await start("b");
    await expect.poll(startedIds).toEqual(["a", "b"]);
    expect(started.get("b")).toMatchObject({ deadline_at: NOW + 60_000 });
  });

  it("is ended at once if its run was cancelled or has another execution, and otherwise later", async () => {
    make({ concurrency: 4 });
    for (const id of ["a", "b", "c"]) await start(id, "run");
    await start("d");
    await expect.poll(startedIds).toEqual(["a", "b", "c", "d"]);
    sandbox.endRun("run", { isCancelled: false, current: "b" });
    await expect.poll(() => log.all().map(({ id }) => id)).toEqual(["b", "d"]);
    sandbox.endRun("run", { isCancelled: true, current: "b" });
    await expect.poll(() => log.all().map(({ id }) => id)).toEqual(["d"]);
    expect(sandbox.isRunning("run of d")).toBe(true);
  });

  it("leaves its place, and lets the server stop, where the data directory cannot be written when it ends", async () => {
    const printed = vi.spyOn(process.stdout, "write").mockReturnValue(true);
    for (const id of ["a", "b"]) await start(id);
    await expect.poll(startedIds).toEqual(["a", "b"]);
    database.statement("PRAGMA query_only = 1").run();
    await isStopped("a");
    await expect.poll(() => [sandbox.isRunning("run of a"), rooms]).toEqual([false, 1]);
    await sandbox.close();
    expect([rooms, log.all()]).toEqual([2, expect.arrayContaining([{ id: "a", run_id: "run of a" }])]);
    expect(printed.mock.calls.join("\n")).toContain("was not removed from the log of executions");
  });

  it("is ended with the server, which starts no other one and leaves no harness", async () => {
    await start("a");
    await start("b");
    await expect.poll(startedIds).toEqual(["a", "b"]);
    // The third is started ahead.
    await expect.poll(harnesses).toHaveLength(3);
    await sandbox.close();
    expect([log.all(), harnesses()]).toEqual([[], []]);
    await expect(start("c")).rejects.toThrow(StartDeferred);
    expect([sandbox.hasRoom(0), sandbox.hasRoomFor("owner", 0, 0)]).toEqual([false, false]);
  });
});

describe("the harness that was started ahead", () => {
  /** Starts one, and returns its process id. */
  async function prepare(): Promise<number> {
    const before = harnesses();
    sandbox.prepare();
    const find = () => harnesses().filter((pid) => !before.includes(pid));
    await expect.poll(find).toHaveLength(1);
    return Number(find()[0]);
  }

  it("is for the next execution, but is kept for an owner without any when one place is left", async () => {
    const first = await prepare();
    expect(await startFor("a", "1")).toBe(first);
    const kept = await prepare();
    expect(await startFor("a", "2")).not.toBe(kept);
    expect(await startFor("b", "3")).toBe(kept);
  });

  it("is for an owner with executions, too, where there are more places", async () => {
    make({ concurrency: 3 });
    await startFor("a", "1");
    const next = await prepare();
    expect(await startFor("a", "2")).toBe(next);
  });
});

it("an execution has a lower priority by 4 for each one that its owner has already, and by 12 at most", async () => {
  const setting = vi.spyOn(os, "setPriority").mockReturnValue();
  syncBuiltinESMExports();
  make({ concurrency: 8 });
  await startFor("b", "other");
  const pids: (number | undefined)[] = [];
  for (const id of ["1", "2", "3", "4", "5"]) {
    sandbox.prepare();
    pids.push(await startFor("a", id));
  }
  expect(setting.mock.calls).toEqual([4, 8, 12, 12].map((nicer, index) => [pids[index + 1], nicer]));
});

describe("the room of a machine", () => {
  it("is offered every ten seconds, as long as nothing has started or ended", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
    make();
    vi.advanceTimersByTime(10_000);
    expect(rooms).toBe(0);
    vi.advanceTimersByTime(20_000);
    expect(rooms).toBe(2);
    await sandbox.close();
    vi.advanceTimersByTime(60_000);
    expect(rooms).toBe(2);
  });

  it("does not count an execution whose owner is removed before it starts", async () => {
    make({ concurrency: 1 });
    sandbox.expect("run of 1", "a");
    sandbox.forget("run of 1");
    await start("1");
    expect(sandbox.hasRoomFor("a", 0, 0)).toBe(true);
  });

  it("is for `concurrency` executions, and for one more of an owner without any", async () => {
    expect([sandbox.hasRoom(2), sandbox.hasRoom(3)]).toEqual([true, false]);
    expect([sandbox.hasRoomFor("a", 1, 1), sandbox.hasRoomFor("a", 2, 1), sandbox.hasRoomFor("a", 2, 0)]).toEqual([
      ...[true, false, true],
    ]);
    for (const id of ["1", "2"]) await startFor("a", id);
    expect([sandbox.hasRoomFor("a", 0, 0), sandbox.hasRoomFor("b", 0, 0), sandbox.hasRoomFor("b", 0, 1)]).toEqual([
      ...[false, true, false],
    ]);
    expect([sandbox.hasRoom(0), sandbox.hasRoom(1)]).toEqual([true, false]);
  });

  it("grows by one where nothing has started or ended for ten seconds, up to four times as many", async () => {
    const began = performance.now();
    const clock = vi.spyOn(performance, "now");
    make({ concurrency: 1 });
    await start("1");
    clock.mockReturnValue(began + 3_600_000);
    for (const id of ["2", "3", "4"]) {
      expect([id, sandbox.hasRoomFor("a", 0, 1), sandbox.hasRoomFor("a", 1, 1)]).toEqual([id, true, false]);
      expect([sandbox.hasRoom(0), sandbox.hasRoom(1)]).toEqual([true, false]);
      await start(id);
      expect(sandbox.hasRoomFor("", 0, 1)).toBe(false);
      clock.mockReturnValue(performance.now() + 10_001);
    }
    expect(sandbox.hasRoom(0)).toBe(false);
  });
});
