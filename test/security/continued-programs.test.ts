import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openProcessGroup } from "#harness/isolation/process-group.ts";
import { freezeProcesses } from "#harness/isolation/process-states.ts";
import { createWatch } from "#harness/isolation/resource-watch.ts";

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
/** Writes all the time how often it has written, and lets a timer of the kernel send it SIGCONT: timer_create(2) of a struct sigevent. */
const EVADE = `
import ctypes, os, signal, struct, sys
signal.signal(signal.SIGCONT, lambda *_: None)
libc = ctypes.CDLL(None)
timer = ctypes.c_void_p()
event = ctypes.create_string_buffer(struct.pack("qii", 0, signal.SIGCONT, 0), 64)
assert libc.timer_create(1, event, ctypes.byref(timer)) == 0
every = int(sys.argv[2]) * 1_000_000
assert libc.timer_settime(timer, 0, ctypes.create_string_buffer(struct.pack("qqqq", 0, every, 0, every)), None) == 0
count = 0
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
while True:
    os.pwrite(file, b"%012d" % (count := count + 1), 0)
    if count == 1: print("began", flush=True)
`;

let folder = "";
let child: ChildProcess | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "continued-"));
});
afterEach(() => {
  child?.kill("SIGKILL");
  rmSync(folder, { recursive: true });
});

/** Starts a program that evades SIGSTOP after as many milliseconds. Returns its process, and what tells how often it has written. */
async function startEvader(everyMs: number, enter: readonly string[] = []) {
  const file = join(folder, "count");
  const [program = "", ...args] = [...enter, "python3", "-c", EVADE, file, String(everyMs)];
  const started = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
  child = started;
  await once(started.stdout, "data");
  return { pid: started.pid ?? 0, readWrites: () => Number(readFileSync(file, "latin1")) };
}

async function countWrites(read: () => number): Promise<number> {
  const before = read();
  await sleep(200);
  return read() - before;
}

/** The state of a process, as in /proc/PID/stat: T for one that is stopped. */
const readState = (pid: number) => /^\d+ \(.*\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, "latin1"))?.[1];

describe("a program that lets a timer send it SIGCONT", () => {
  it("writes nothing while its group is stopped, and goes on afterwards", async () => {
    const group = openProcessGroup({ processes: 50, memoryBytes: GIB });
    // Only root, or a user to whom the system has delegated one, can have a group.
    if (group?.freeze === undefined) return expect(process.getuid?.()).not.toBe(0);
    const { readWrites } = await startEvader(1, group.enter);
    const thaw = group.freeze();
    // The kernel stops processes at their next system call.
    await expect.poll(() => countWrites(readWrites)).toBe(0);
    for (let tries = 0; tries < 3; tries++) expect(await countWrites(readWrites)).toBe(0);
    thaw();
    await expect.poll(() => countWrites(readWrites)).toBeGreaterThan(0);
    child?.kill("SIGKILL");
    await group.close();
  });

  it("is stopped again each time where there is no group", async () => {
    const { pid, readWrites } = await startEvader(500);
    const thaw = await freezeProcesses(() => [pid], false);
    for (let tries = 0; tries < 5; tries++) {
      process.kill(pid, "SIGCONT");
      await expect.poll(() => readState(pid)).toBe("T");
    }
    thaw();
    await expect.poll(() => countWrites(readWrites)).toBeGreaterThan(0);
  });

  it("is stopped as a group while files are counted, and goes on to be killed before files are removed", async () => {
    const { pid } = await startEvader(1);
    mkdirSync(join(folder, "files"));
    for (let index = 0; index < 20; index++) writeFileSync(join(folder, "files", `${index}`), "");
    const steps: string[] = [];
    const freeze = () => {
      steps.push("stopped");
      return () => void steps.push("let go on");
    };
    const shrink = async () => void steps.push("removed");
    const limits = { memoryBytes: GIB, processes: 50, diskBytes: GIB, files: 10, descriptors: 1 };
    const disk = { memoryBytes: 100 * GIB, availableBytes: 50 * GIB, tasks: 100, diskBytes: 50 * GIB };
    const measures = [{ ...disk, files: 1_000 }];
    const measure = () => measures.pop() ?? { ...disk, files: 900 };
    const watch = createWatch({ limits, folder: join(folder, "files"), measure, freeze, shrink });
    const stop = watch.command(pid, () => void steps.push("killed"));
    await expect.poll(() => steps).toContain("removed");
    await stop();
    expect(steps.slice(0, 4)).toEqual(["stopped", "killed", "let go on", "removed"]);
  });
});
