import { spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { readLimits } from "#harness/isolation/limits.ts";
import { MIB, Probe, probe, processesNamed, python, watchRuns } from "./support/host.ts";

// Removing what a command has written takes a minute on a busy machine.
vi.setConfig({ testTimeout: 600_000 });

/** The limits of a run here, which are reached before the machine is affected. */
const small = {
  RUNYARD_COMMAND_MEMORY_MIB: "400",
  RUNYARD_COMMAND_PROCESSES: "200",
  RUNYARD_RUN_DISK_MIB: "300",
  RUNYARD_RUN_FILES: "20000",
};
/** How far usage may exceed a limit between two measurements. */
const MARGIN = { memoryMib: 3_000, tasks: 1_500, diskMib: 3_000 };

let runs: Awaited<ReturnType<typeof watchRuns>>;
beforeEach(async () => {
  runs = await watchRuns();
});
afterEach(async () => {
  const { memoryMib, tasks, diskMib } = await runs.stop();
  expect(memoryMib).toBeLessThan(400 + MARGIN.memoryMib);
  expect(tasks).toBeLessThan(200 + MARGIN.tasks);
  expect(diskMib).toBeLessThan(300 + MARGIN.diskMib);
});

/** Runs one command that must be ended, and returns its result. */
async function bomb(command: string, environment: Readonly<Record<string, string>> = small) {
  await using it = await probe([command], environment);
  expect(it.plane.outcome?.success).toBe(false);
  expect(await it.leftovers()).toEqual([]);
  const [result = {}] = it.plane.results;
  const [, why] = /\[the command was ended: (.*)\]/.exec(String(result["stdout"])) ?? [];
  if (why !== undefined) expect(it.plane.outcome?.summary).toContain(`was ended: ${why} (exit code 137)`);
  return result;
}

const over = (why: RegExp) => ({ exit_code: 137, stdout: expect.stringMatching(why) });

describe("the memory limit", () => {
  const tooMuch = over(/\[the command was ended: it used more than 400 MiB of memory\]\n$/);

  it("ends a command whose single process exceeds it, with a message", async () => {
    const fill = python("import time", "kept = []", "while True: kept.append(b'x' * 10_000_000); time.sleep(0.002)");
    expect(await bomb(fill)).toMatchObject(tooMuch);
  });

  it("counts the memory of all processes together", async () => {
    const part = "import time; kept = b'x' * 60_000_000; time.sleep(60)";
    expect(await bomb(`for i in $(seq 20); do python3 -c "${part}" & sleep 0.05; done; wait`)).toMatchObject(tooMuch);
  });

  it("counts unnamed files that no process maps", async () => {
    const fill = python(
      "import os, time",
      "fd = os.memfd_create('x')",
      "while True: os.write(fd, b'x' * 4_000_000); time.sleep(0.002)",
    );
    // The kernel's own limit on a file's size may come first.
    const { exit_code, stdout } = await bomb(fill, { ...small, RUNYARD_RUN_DISK_MIB: "2000" });
    expect({ exit_code, stdout }).toMatchObject(tooMuch);
  });

  it("counts shared memory of forked processes once", async () => {
    const share = python(
      "import os, time",
      "kept = b'x' * 200_000_000",
      "for i in range(6):",
      "    if os.fork() == 0: time.sleep(4); os._exit(0)",
      "time.sleep(4)",
    );
    await using it = await probe([share], small);
    expect(it.plane.outcome).toEqual({ success: true, summary: "Ran one command." });
  });
});

describe("the process limit", () => {
  it("ends its command, however fast processes multiply", async () => {
    const result = await bomb("bomb() { bomb | bomb & }; bomb; sleep 30");
    // The harness counts root's processes; the kernel limits those of all other users.
    expect(String(result["stdout"])).toMatch(/it had more than 200 processes and threads|Resource temporarily/);
  });

  it("is enforced by the kernel for users other than root", async () => {
    await using it = await Probe.of({
      prompt: `\`\`\`sh\nfor i in $(seq 400); do sleep 20 & done; jobs -r | wc -l\n\`\`\``,
    });
    chownSync(it.tmp, 65_534, 65_534);
    const main = join(import.meta.dirname, "../../harness/main.ts");
    const env = { PATH: process.env["PATH"] ?? "", TMPDIR: it.tmp, RUNYARD_SANDBOX: "bubblewrap", ...small };
    const isRoot = process.getuid?.() === 0;
    const harness = spawn(process.execPath, [main], { env, ...(isRoot ? { uid: 65_534, gid: 65_534 } : {}) });
    harness.stdin.end(JSON.stringify(it.plane.envelope));
    await once(harness, "close");
    expect(it.plane.outputs[0]).toContain("fork: retry: Resource temporarily unavailable");
    expect(await it.leftovers()).toEqual([]);
  });
});

describe("the disk limit", () => {
  const tooMuch = /(the run's files took more than 300 MiB|File size limit exceeded|No space left)/;

  it("ends a command that exceeds it with one file", async () => {
    expect(String((await bomb("dd if=/dev/zero of=big bs=1M count=4000 2>&1"))["stdout"])).toMatch(tooMuch);
  });

  it("ends a command that exceeds it with many files in any place", async () => {
    const fill =
      "for i in $(seq 100); do for d in /workspace /tmp /dev/shm ~; do head -c 20M /dev/zero > $d/f$i; done; done";
    expect(await bomb(fill)).toMatchObject(over(/the run's files took more than 300 MiB/));
  });

  it("ends a command that exceeds it with unnamed files", async () => {
    const fill = python(
      "import os, time, tempfile",
      "kept = []",
      "while True:",
      "    f = tempfile.TemporaryFile(dir='/workspace'); kept.append(f)",
      "    f.write(b'x' * 20_000_000); f.flush(); time.sleep(0.01)",
    );
    expect(await bomb(fill)).toMatchObject(over(/the run's files took more than 300 MiB/));
  });

  it("includes a limit on the number of files", async () => {
    const fill = python("i = 0", "while True:", "    open(f'/workspace/{i}', 'w').close(); i += 1");
    expect(await bomb(fill)).toMatchObject(over(/the run had more than 20000 files/));
  });
});

describe("limits of descriptors and output", () => {
  it("stop a process at a number of descriptors", async () => {
    await using it = await probe([
      python(
        "import os",
        "n = 0",
        "try:",
        "    while True: os.dup(0); n += 1",
        "except OSError as e: print(n < 8192, e.errno)",
      ),
    ]);
    expect(it.plane.outputs).toEqual(["True 24\n"]);
  });

  it("keep little of gigabytes of output", async () => {
    await using it = await probe(["head -c 2G /dev/zero; (yes || true) | head -c 1G; echo end"]);
    expect(it.plane.outcome?.success).toBe(true);
    expect(Buffer.byteLength(it.plane.outputs[0] ?? "")).toBeLessThan(20_000);
  });
});

describe("limits of artifacts", () => {
  it("exclude files of terabytes", async () => {
    await using it = await probe(
      ['cd "$RUNYARD_OUTPUT"; truncate -s 1T huge 2>/dev/null || truncate -s 250M large; echo small > small'],
      small,
    );
    expect([...it.plane.artifacts.keys()]).toHaveLength(2);
    expect(String(it.plane.artifacts.get("small"))).toBe("small\n");
    expect(it.plane.outcome?.summary).toMatch(/Not kept as artifacts: large: larger than 104857600 bytes/);
  });

  it("keep a hundred of hundreds of thousands", async () => {
    const many = python("for i in range(15_000): open(f'/workspace/output/{i}', 'w').write('x')");
    await using it = await probe([many], small);
    expect(it.plane.artifacts.size).toBeLessThanOrEqual(100);
    expect(it.plane.outcome?.summary.length).toBeLessThan(1_024);
  });
});

describe("the processes of a command", () => {
  const mark = `${process.pid}${Date.now() % 100_000}`;
  const stubborn = [
    `setsid sleep ${mark}1 & nohup sleep ${mark}1 >/dev/null 2>&1 & (sleep ${mark}1 & ) & disown -a`,
    `setsid bash -c "trap '' TERM HUP INT; sleep ${mark}1; sleep ${mark}1" &`,
    python(
      "import os",
      "if os.fork() == 0:",
      "    os.setsid()",
      `    if os.fork() == 0: os.execlp('sleep', 'sleep', '${mark}1')`,
    ),
    `(trap "setsid sleep ${mark}1 & sleep ${mark}1" EXIT TERM; sleep ${mark}1) &`,
  ];

  it("are gone when it ends", async () => {
    await using it = await probe([
      ...stubborn.map((command) => `${command}\ntrue`),
      "sleep 0.2; ps -e | grep -c sleep || true",
    ]);
    expect(it.plane.outputs.at(-1)).toBe("0\n");
    expect([processesNamed(`sleep ${mark}`), await it.leftovers()]).toEqual([0, []]);
  });

  it("are gone within ten seconds of a cancel's response", async () => {
    await using it = await Probe.of({
      prompt: `\`\`\`sh\n${stubborn.join("\n")}\ntrap '' TERM; sleep ${mark}1\n\`\`\``,
    });
    const harness = it.start();
    await expect.poll(() => processesNamed(`sleep ${mark}`)).toBeGreaterThan(4);
    it.plane.cancelled = true;
    const cancelledAt = Date.now();
    await expect.poll(() => processesNamed(`sleep ${mark}`)).toBe(0);
    expect(Date.now() - cancelledAt).toBeLessThan(10_000);
    await harness.ended;
    expect([it.plane.shutdown, await it.leftovers()]).toEqual([{}, []]);
  });

  it("cannot end the harness: a signal to all processes ends the command only", async () => {
    await using it = await probe(["kill -9 -1; sleep 5"]);
    expect(it.plane.outcome).toMatchObject({ success: false });
    expect(it.plane.shutdown).toBeUndefined();
    expect(await it.leftovers()).toEqual([]);
  });
});

describe("the resource limits", () => {
  it("come from the settings, or else from the machine's capacity", () => {
    expect(readLimits({ RUNYARD_COMMAND_MEMORY_MIB: "100", RUNYARD_COMMAND_PROCESSES: "7" })).toMatchObject({
      memoryBytes: 100 * MIB,
      processes: 7,
      diskBytes: 10_240 * MIB,
      files: 1_000_000,
    });
    const { memoryBytes, processes } = readLimits({});
    expect([memoryBytes <= 8_192 * MIB, memoryBytes > 0, processes]).toEqual([true, true, 1_024]);
  });

  it.each(["0", "-1", "1e9", "many", "1.5"])("cannot be %s", (value) => {
    expect(() => readLimits({ RUNYARD_RUN_DISK_MIB: value })).toThrow(/RUNYARD_RUN_DISK_MIB must be a whole number/);
  });
});
