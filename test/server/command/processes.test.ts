import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { RotatingLog } from "#server/command/rotating-log.ts";
import { findProcess, forgetProcess, recordProcess } from "#server/command/service-process.ts";
import { abortOnSignals } from "#server/command/stop-signals.ts";
import { useDataDirectory } from "../support/data-directory.ts";

const data = useDataDirectory();
const ABOUT = { local_url: "http://127.0.0.1:4500", isolation: "none", concurrency: 4 };

describe("the record of the process that serves a data directory", () => {
  it("names this process until it is removed, and is accessible only to the owner of the directory", async () => {
    const directory = data.directory();
    expect(await findProcess(directory)).toBeUndefined();
    await recordProcess(directory, { ...ABOUT, max_disk_bytes: 5 });
    const found = await findProcess(directory);
    expect(found).toMatchObject({ isRunning: true, service: { ...ABOUT, max_disk_bytes: 5 } });
    expect(found?.service.process.pid).toBe(process.pid);
    expect(Math.abs(Date.parse(found?.service.started_at ?? "") - Date.now())).toBeLessThan(3_600_000);
    expect(statSync(path.join(directory, "server.json")).mode & 0o777).toBe(0o600);
    await forgetProcess(directory);
    await forgetProcess(directory);
    expect(await findProcess(directory)).toBeUndefined();
  });

  it("does not match a later process with the same number", async () => {
    const directory = data.directory();
    await recordProcess(directory, ABOUT);
    const file = path.join(directory, "server.json");
    const record = JSON.parse(readFileSync(file, "utf8"));
    const earlier = { ...record.process, started: "earlier" };
    writeFileSync(file, JSON.stringify({ ...record, process: earlier }));
    expect(await findProcess(directory)).toMatchObject({ isRunning: false, service: { process: earlier } });
    writeFileSync(file, "{");
    expect(await findProcess(directory)).toBeUndefined();
  });
});

describe("the log of the server", () => {
  it("appends to the file of an earlier start, and writes lines together", () => {
    const file = path.join(data.directory(), "logs/server.log");
    mkdirSync(path.dirname(file));
    writeFileSync(file, "before\n");
    const log = new RotatingLog(file);
    log.write("one\n");
    log.write("two\n");
    expect(readFileSync(file, "utf8")).toBe("before\n");
    log.flush();
    log.flush();
    expect(readFileSync(file, "utf8")).toBe("before\none\ntwo\n");
  });

  it("counts what the file of an earlier start has, and keeps the older lines in their order", () => {
    const file = path.join(data.directory(), "server.log");
    writeFileSync(file, "x".repeat(10 * 1024 * 1024 + 1));
    writeFileSync(`${file}.1`, "older");
    const log = new RotatingLog(file);
    log.write("new\n");
    log.flush();
    expect(readdirSync(path.dirname(file)).toSorted()).toEqual(["server.log", "server.log.1", "server.log.2"]);
    expect([readFileSync(file, "utf8"), readFileSync(`${file}.2`, "utf8")]).toEqual(["new\n", "older"]);
    expect(statSync(`${file}.1`).size).toBe(10 * 1024 * 1024 + 1);
  });

  it("is not rotated at its limit, but above it", () => {
    const file = path.join(data.directory(), "server.log");
    writeFileSync(file, "x".repeat(10 * 1024 * 1024));
    const log = new RotatingLog(file);
    log.write("more\n");
    log.flush();
    expect(readdirSync(path.dirname(file))).toEqual(["server.log"]);
  });

  it("writes more than 1 MiB at once, and lines within a fifth of a second", async () => {
    const file = path.join(data.directory(), "server.log");
    const log = new RotatingLog(file);
    log.write("x".repeat(1024 * 1024));
    expect(statSync(file).size).toBe(0);
    log.write("\n");
    expect(statSync(file).size).toBe(1024 * 1024 + 1);
    log.write("later\n");
    await expect.poll(() => statSync(file).size).toBe(1024 * 1024 + 7);
  });
});

describe("a signal to end", () => {
  const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  const before = new Map(SIGNALS.map((signal) => [signal, process.listeners(signal)]));
  beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));
  afterEach(() => {
    for (const signal of SIGNALS) {
      for (const listener of process.listeners(signal)) {
        if (before.get(signal)?.includes(listener) !== true) process.removeListener(signal, listener);
      }
    }
    vi.useRealTimers();
    vi.restoreAllMocks();
  });
  /** Calls the listeners that `abortOnSignals` has added. */
  const send = (signal: (typeof SIGNALS)[number]) => {
    for (const listener of process.listeners(signal)) {
      if (before.get(signal)?.includes(listener) !== true) listener(signal);
    }
  };

  it.each(SIGNALS)("%s aborts once, and one that comes more than 1.5 seconds later ends the process", (signal) => {
    const exit = vi.spyOn(process, "exit").mockImplementation((): never => {
      throw new Error("the process ends");
    });
    const stop = abortOnSignals();
    expect(stop.aborted).toBe(false);
    send(signal);
    expect([stop.aborted, exit.mock.calls]).toEqual([true, []]);
    vi.setSystemTime(Date.now() + 1_500);
    send("SIGINT");
    expect(exit.mock.calls).toEqual([]);
    vi.setSystemTime(Date.now() + 1);
    expect(() => send("SIGTERM")).toThrow("the process ends");
    expect(exit.mock.calls).toEqual([[130]]);
  });
});
