import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import fs, { linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { getPriority, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Limits, putBehindHarness } from "#harness/isolation/limits.ts";
import { type Machine, measureFiles, measureMachine, measureTrees } from "#harness/isolation/machine.ts";
import { createWatch } from "#harness/isolation/resource-watch.ts";

const MIB = 1024 * 1024;
const folder = mkdtempSync(join(tmpdir(), "watch-"));
afterAll(() => rmSync(folder, { recursive: true }));

const started: ChildProcess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
});

/** Starts a program that prints a line when it is ready and then waits. */
async function start(file: string, ...args: string[]): Promise<number> {
  const child = spawn(file, args, { detached: true, stdio: ["ignore", "pipe", "inherit"], cwd: folder });
  started.push(child);
  await once(child.stdout, "readable");
  return child.pid ?? 0;
}
const python = (...lines: string[]) =>
  start(
    "python3",
    "-c",
    ["import os, threading, time", ...lines, "print(1, flush=True)", "time.sleep(600)"].join("\n"),
  );

/** Resolves when a program sleeps, so that its memory no longer changes. */
const fallAsleep = (pid: number) =>
  expect.poll(() => readFileSync(`/proc/${pid}/stat`, "latin1")).toMatch(/^\d+ \((sleep|python3.*)\) S /);

/** An unnamed file: in memory, or on the disk of the folder. */
const unnamed = (kind: "memory" | "disk", mib: number) => [
  kind === "memory" ? "file = os.memfd_create('x')" : "file = os.open('.', os.O_TMPFILE | os.O_RDWR)",
  `for i in range(${mib}): os.write(file, b'x' * ${MIB})`,
];

describe("measureTrees", () => {
  it("counts the threads and the memory of a process and its descendants", async () => {
    const pid = await python(
      "for i in range(3): threading.Thread(target=time.sleep, args=(600,), daemon=True).start()",
      "ready, done = os.pipe()",
      "if os.fork() == 0: kept = b'x' * 60_000_000; os.write(done, b'.'); time.sleep(600)",
      "os.read(ready, 1)",
    );
    const { tasks, memoryBytes, unnamedBytes } = measureTrees([pid], 100, 1_000 * MIB);
    expect([tasks, unnamedBytes]).toEqual([5, 0]);
    expect(memoryBytes).toBeGreaterThan(60_000_000);
    expect(memoryBytes).toBeLessThan(200_000_000);
    expect(measureTrees([pid], 4, 1_000 * MIB), "stops above the limit").toMatchObject({
      memoryBytes: 0,
      unnamedBytes: 0,
    });
    const most = measureTrees([pid], 5, 1_000 * MIB);
    expect([most.tasks, most.memoryBytes > 60_000_000], "measures all at the limit").toEqual([5, true]);
  });

  it("counts memory that forked processes share once if the sum is above the limit", async () => {
    const pid = await python(
      "kept = b'x' * 50_000_000",
      "for i in range(3):",
      "    if os.fork() == 0: time.sleep(600)",
    );
    await expect.poll(() => measureTrees([pid], 100, 1_000 * MIB).memoryBytes).toBeGreaterThan(200_000_000);
    expect(measureTrees([pid], 100, 100 * MIB).memoryBytes).toBeLessThan(150_000_000);
    expect(measureTrees([pid], 100, 100 * MIB).memoryBytes).toBeGreaterThan(50_000_000);
  });

  it("counts files without a name, in memory and on disk, once for all descriptors", async () => {
    const pid = await python(...unnamed("memory", 60), "os.dup(file)", ...unnamed("disk", 20), "os.dup(file)");
    const { memoryBytes, unnamedBytes } = measureTrees([pid], 100, 1_000 * MIB);
    expect(memoryBytes).toBe(60 * MIB);
    expect(unnamedBytes).toBe(20 * MIB);
  });

  it("counts files that only a mapping holds, in memory and on disk", async () => {
    const pid = await python(
      // Python's own mmap keeps a descriptor.
      "import ctypes; mmap = ctypes.CDLL(None).mmap",
      "mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]",
      ...unnamed("memory", 60),
      "mmap(None, 4096, 1, 1, file, 0); os.close(file)",
      ...unnamed("disk", 20),
      "mmap(None, 4096, 1, 1, file, 0); os.close(file)",
    );
    expect(measureTrees([pid], 100, 1_000 * MIB)).toMatchObject({
      ...{ memoryBytes: 60 * MIB, unnamedBytes: 20 * MIB, unnamedFiles: 1, isHidden: false },
    });
  });

  it("counts memory that belongs to files and memory that belongs to processes together", async () => {
    const pid = await python("kept = b'x' * 60_000_000", ...unnamed("memory", 60));
    expect(measureTrees([pid], 100, 100 * MIB).memoryBytes).toBeGreaterThan(115 * MIB);
  });

  it("measures a process whose first thread has ended, and one that has stopped", async () => {
    const threaded = await python(
      "import ctypes",
      ...unnamed("disk", 20),
      "def work(): global kept; kept = b'x' * 80_000_000; print(1, flush=True); time.sleep(600)",
      "threading.Thread(target=work).start()",
      `ctypes.CDLL(None).syscall(${process.arch === "arm64" ? 93 : 60}, 0)`,
    );
    const plain = await python("kept = b'x' * 80_000_000", ...unnamed("disk", 20));
    process.kill(plain, "SIGSTOP");
    await expect.poll(() => readFileSync(`/proc/${threaded}/stat`, "latin1")).toContain(" Z ");
    for (const pid of [threaded, plain]) {
      const { memoryBytes, unnamedBytes } = measureTrees([pid], 100, 1_000 * MIB);
      expect([memoryBytes > 80_000_000, unnamedBytes]).toEqual([true, 20 * MIB]);
    }
  });

  it("counts the descriptors of a thread that has its own, if it is to", async () => {
    const pid = await python(
      "import ctypes; ready = threading.Event()",
      "def work():",
      "    ctypes.CDLL(None).unshare(0x400)",
      ...unnamed("disk", 20).map((line) => `    ${line}`),
      "    ready.set(); time.sleep(600)",
      "threading.Thread(target=work).start(); ready.wait()",
    );
    const measured = (["none", "processes", "threads"] as const).map((files) =>
      measureTrees([pid], 100, 1_000 * MIB, files),
    );
    expect(measured.map(({ unnamedBytes }) => unnamedBytes)).toEqual([0, 0, 20 * MIB]);
  });

  it.each([
    ["a connected", "one, other = socket.socketpair(); one.sendmsg([b'x'], [descriptor])"],
    [
      "a listening",
      "one = socket.socket(socket.AF_UNIX); one.bind('\\0' + str(os.getpid())); one.listen(); other = socket.socket(socket.AF_UNIX); other.connect(one.getsockname()); other.sendmsg([b'x'], [descriptor]); other.close()",
    ],
  ])("says that files may be hidden in the queue of %s socket", async (_, send) => {
    const queue = [
      "import array, socket",
      ...unnamed("disk", 1),
      "descriptor = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [file]))",
    ];
    const [with_, without] = [await python(...queue, send), await python(...queue)];
    expect([with_, without].map((pid) => measureTrees([pid], 100, 1_000 * MIB).isHidden)).toEqual([true, false]);
  });

  it("says that files may be hidden behind mappings that it may not examine, unless they are memory", async () => {
    const map = (kind: "memory" | "disk") =>
      python("import mmap", ...unnamed(kind, 1), "mapped = mmap.mmap(file, 4096); os.close(file)");
    const [memory, disk] = [await map("memory"), await map("disk")];
    const { statSync: real } = fs;
    vi.spyOn(fs, "statSync").mockImplementation((path) => {
      if (String(path).includes("map_files")) throw Object.assign(new Error("EPERM"), { code: "EPERM" });
      return real(path);
    });
    syncBuiltinESMExports();
    const hidden = [memory, disk].map((pid) => measureTrees([pid], 100, 1_000 * MIB).isHidden);
    vi.restoreAllMocks();
    syncBuiltinESMExports();
    expect(hidden).toEqual([false, true]);
  });

  it("examines no more than 20,000 descriptors", async () => {
    const pid = await python(
      "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (12_000, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))",
      "for i in range(11_000): os.dup(0)",
      "if os.fork() == 0: time.sleep(600)",
    );
    await expect.poll(() => measureTrees([pid], 100, 1_000 * MIB).isHidden).toBe(true);
  });

  it("does not count files that still have a name", async () => {
    const pid = await python(
      "file = os.open('named (deleted)', os.O_CREAT | os.O_RDWR)",
      `os.write(file, b'x' * ${MIB})`,
    );
    expect(measureTrees([pid], 100, 1_000 * MIB).unnamedBytes).toBe(0);
  });

  it("measures memory exactly only if the sum is above the limit", async () => {
    const pid = await start("sh", "-c", "echo; exec sleep 600");
    await fallAsleep(pid);
    const { memoryBytes: sum } = measureTrees([pid], 100, 1_000 * MIB);
    expect(measureTrees([pid], 100, sum).memoryBytes).toBe(sum);
    expect(measureTrees([pid], 100, sum - 1).memoryBytes).toBeLessThan(sum);
  });

  it("adds files without a name to the memory that it compares with the limit", async () => {
    const pid = await python(...unnamed("memory", 1));
    await fallAsleep(pid);
    const { memoryBytes: sum } = measureTrees([pid], 100, 1_000 * MIB);
    expect(sum).toBeGreaterThan(2 * MIB);
    expect(measureTrees([pid], 100, sum + MIB).memoryBytes).toBe(sum);
    expect(measureTrees([pid], 100, sum + MIB - 1).memoryBytes).toBeLessThan(sum);
  });

  it.each([100, -1])("measures an ended process as zero if %i bytes are enough", (enough) => {
    expect(measureTrees([2 ** 22 + 1], 100, enough)).toEqual({
      ...{ tasks: 0, memoryBytes: 0, unnamedBytes: 0, unnamedFiles: 0 },
      isHidden: false,
    });
  });
});

describe("measureFiles", () => {
  it("counts what is below directories deeper than the longest path, and names that are not UTF-8", async () => {
    const place = mkdtempSync(join(tmpdir(), "watch-"));
    const script = [
      'import os, sys; at = os.open(".", os.O_RDONLY)',
      "for _ in range(int(sys.argv[1])):",
      '  os.mkdir("d" * 200, dir_fd=at); below = os.open("d" * 200, os.O_RDONLY, dir_fd=at); os.close(at); at = below',
      'os.write(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=at), b"x" * 1000000)',
      'for name in [b"\\xff", b"\\xfe"]: os.mkdir(name); open(name + b"/a", "w").close()',
    ].join("\n");
    const make = (levels: number) => spawnSync("python3", ["-c", script, String(levels)], { cwd: place }).status;
    expect(make(100)).toBe(0);
    const { bytes, files } = await measureFiles(place, 1_000);
    expect(files).toBe(105);
    expect(bytes).toBeGreaterThanOrEqual(1_000_000);
    expect((await measureFiles(place, 50)).files).toBe(51);
    spawnSync("rm", ["-rf", place]);
  });

  it("counts files, directories and their blocks, and a file with three names once", async () => {
    const place = mkdtempSync(join(folder, "files-"));
    mkdirSync(join(place, "below"));
    writeFileSync(join(place, "below/a"), Buffer.alloc(MIB, "x"));
    for (const name of ["b", "d"]) linkSync(join(place, "below/a"), join(place, name));
    writeFileSync(join(place, "c"), Buffer.alloc(10_000, "x"));
    const blocks = ["below", "below/a", "c"].reduce((sum, name) => sum + statSync(join(place, name)).blocks, 0);
    expect(await measureFiles(place, 5)).toEqual({ bytes: blocks * 512, files: 5, isHidden: false });
    expect((await measureFiles(place, 2)).files, "stops above the limit").toBe(3);
    expect(await measureFiles(join(place, "missing"), 4)).toEqual({ bytes: 0, files: 0, isHidden: false });
  });
});

it("measureMachine reads memory, tasks and free disk", () => {
  const { memoryBytes, availableBytes, tasks, diskBytes, files } = measureMachine(folder);
  expect(Math.abs(memoryBytes - totalmem())).toBeLessThan(MIB);
  expect(availableBytes).toBeGreaterThan(MIB);
  expect(availableBytes).toBeLessThan(memoryBytes);
  expect(tasks).toBeGreaterThan(5);
  expect([diskBytes > MIB, files > 100]).toEqual([true, true]);
});

it("putBehindHarness makes the kernel prefer the harness for its processors and memory, and ignores a process that has ended", async () => {
  const pid = await start("sh", "-c", "echo; exec sleep 600");
  putBehindHarness(pid);
  expect(readFileSync(`/proc/${pid}/oom_score_adj`, "utf8")).toBe("1000\n");
  expect(getPriority(pid)).toBe(Math.min(getPriority() + 10, 19));
  expect(() => putBehindHarness(2 ** 22 + 1)).not.toThrow();
  expect(() => putBehindHarness(undefined)).not.toThrow();
});

describe("createWatch", () => {
  const plenty: Limits = {
    memoryBytes: 4_000 * MIB,
    processes: 5_000,
    diskBytes: 4_000 * MIB,
    files: 100_000,
    descriptors: 1,
  };

  /** Resolves with the reason for which the watch ends the process. */
  function watch(limits: Partial<Limits>, pid: number, place = folder): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>();
    const stop = createWatch({ limits: { ...plenty, ...limits }, folder: place, everyMs: 5 }).command(pid, resolve);
    return promise.finally(stop);
  }

  it("ends a command for its processes and threads", async () => {
    const pid = await python(
      "for i in range(8): threading.Thread(target=time.sleep, args=(600,), daemon=True).start()",
    );
    expect(await watch({ processes: 8 }, pid)).toBe("it had more than 8 processes and threads");
  });

  it("ends a command for its memory", async () => {
    const pid = await python("kept = b'x' * 80_000_000");
    expect(await watch({ memoryBytes: 40 * MIB }, pid)).toBe("it used more than 40 MiB of memory");
  });

  it("ends a command for files without a name", async () => {
    const pid = await python(...unnamed("disk", 30));
    expect(await watch({ diskBytes: 20 * MIB }, pid)).toBe("the run's files took more than 20 MiB");
  });

  it("ends a command for the run's files when the disk has lost as much", async () => {
    const place = mkdtempSync(join(folder, "run-"));
    const pid = await start("sh", "-c", "echo; exec sleep 600");
    const reason = watch({ diskBytes: 5 * MIB }, pid, place);
    // Other processes may free as much in the meantime, so it continues.
    const timer = setInterval(() => writeFileSync(join(place, `${Date.now()}`), Buffer.alloc(10 * MIB, "x")), 50);
    expect(await reason).toBe("the run's files took more than 5 MiB");
    clearInterval(timer);
    rmSync(place, { recursive: true });
  });

  it("ends a command for the number of the run's files", async () => {
    const place = mkdtempSync(join(folder, "many-"));
    const pid = await start("sh", "-c", "echo; exec sleep 600");
    const reason = watch({ files: 20 }, pid, place);
    let count = 0;
    const timer = setInterval(() => {
      for (let end = count + 50; count < end; count++) writeFileSync(join(place, `${count}`), "");
    }, 20);
    expect(await reason).toBe("the run had more than 20 files");
    clearInterval(timer);
  });

  it("does not end a command within its limits or a stopped one", async () => {
    const pid = await python("kept = b'x' * 80_000_000");
    const reasons: string[] = [];
    const watched = createWatch({ limits: plenty, folder, everyMs: 2 });
    const stop = watched.command(pid, (why) => reasons.push(why));
    await createWatch({ limits: { ...plenty, processes: 0 }, folder, everyMs: 2 }).command(pid, (why) =>
      reasons.push(why),
    )();
    // A third command shows that enough time has passed.
    expect(await watch({ memoryBytes: 40 * MIB }, pid)).toContain("memory");
    await stop();
    expect(reasons).toEqual([]);
  });

  it("reports a command that exceeds a limit once", async () => {
    const pid = await python("kept = b'x' * 80_000_000");
    const reasons: string[] = [];
    createWatch({ limits: { ...plenty, processes: 0 }, folder, everyMs: 1 }).command(pid, (why) => reasons.push(why));
    await watch({ memoryBytes: 40 * MIB }, pid);
    await watch({ memoryBytes: 40 * MIB }, pid);
    expect(reasons).toEqual(["it had more than 0 processes and threads"]);
  });

  describe("with given measurements of the machine", () => {
    const GIB = 1024 * MIB;
    const large: Machine = {
      memoryBytes: 100 * GIB,
      availableBytes: 50 * GIB,
      tasks: 100,
      diskBytes: 50 * GIB,
      files: 1_000,
    };
    beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] }));
    afterEach(() => void vi.useRealTimers());

    /** Watches a process of one task. Each measurement takes the next measures; the last ones stay. */
    async function watchMachine(
      limits: Partial<Limits>,
      measures: readonly Partial<Machine>[],
      place = folder,
      watched?: number,
    ) {
      const pid = watched ?? (await start("sh", "-c", "echo; exec sleep 600"));
      const left = [...measures];
      const folders: string[] = [];
      let last: Machine = large;
      const measure = (measured: string) => {
        folders.push(measured);
        last = { ...large, ...(left.shift() ?? last) };
        return last;
      };
      const reasons: string[] = [];
      const watch = createWatch({ limits: { ...plenty, ...limits }, folder: place, measure });
      const stop = watch.command(pid, (why) => reasons.push(why));
      return { reasons, folders, stop };
    }

    it("measures the machine ten times a second until it is stopped", async () => {
      const { folders, stop } = await watchMachine({}, []);
      vi.advanceTimersByTime(1_000);
      expect(folders).toEqual(Array.from({ length: 11 }, () => folder));
      void stop();
      vi.advanceTimersByTime(1_000);
      expect(folders, "and once more at the end").toHaveLength(12);
    });

    it("ends although the last measurement fails", async () => {
      let measured = 0;
      const measure = () => {
        if (++measured === 2) throw new Error("the folder is gone");
        return large;
      };
      const pid = await start("sh", "-c", "echo; exec sleep 600");
      const stop = createWatch({ limits: plenty, folder, measure }).command(pid, () => {});
      await expect(stop()).rejects.toThrow("the folder is gone");
      vi.advanceTimersByTime(1_000);
      expect(measured).toBe(2);
    });

    it("measures the command twice a second, even if the machine has lost nothing", async () => {
      const { reasons } = await watchMachine({ processes: 0 }, []);
      vi.advanceTimersByTime(499);
      expect(reasons).toEqual([]);
      vi.advanceTimersByTime(1);
      expect(reasons).toEqual(["it had more than 0 processes and threads"]);
    });

    it.each<[string, Partial<Machine>, Partial<Machine>]>([
      ["tasks than its limit", { tasks: 100 }, { tasks: 101 }],
      ["tasks than its limit since the minimum", { tasks: 90 }, { tasks: 91 }],
      ["memory than its limit", { availableBytes: 50 * GIB }, { availableBytes: 46 * GIB - 1 }],
      ["memory than its limit since the maximum", { availableBytes: 60 * GIB }, { availableBytes: 56 * GIB - 1 }],
    ])("measures the command at once if the machine has lost more %s", async (_, before, now) => {
      const { reasons } = await watchMachine({ processes: 0, memoryBytes: 4 * GIB }, [{}, before, now]);
      vi.advanceTimersByTime(100);
      expect(reasons).toEqual([]);
      vi.advanceTimersByTime(100);
      expect(reasons).toEqual(["it had more than 0 processes and threads"]);
    });

    it("does not measure the command if the machine has lost exactly its limits", async () => {
      const lost = { tasks: 100, availableBytes: 46 * GIB };
      const { reasons } = await watchMachine({ processes: 0, memoryBytes: 4 * GIB }, [{}, lost]);
      vi.advanceTimersByTime(400);
      expect(reasons).toEqual([]);
    });

    it("counts no kill by the kernel to a later command", async () => {
      const pid = await start("sh", "-c", "echo; exec sleep 600");
      let kills = 0;
      const { command } = createWatch({ limits: plenty, folder, measure: () => large, countKills: () => kills });
      const reasons: string[] = [];
      const stop = command(pid, (why) => reasons.push(why));
      kills++;
      vi.advanceTimersByTime(100);
      const why = "it used more than 4000 MiB of memory";
      expect(reasons).toEqual([why]);
      // Others of its processes are killed until they end, some after it.
      kills++;
      await stop();
      kills++;
      const stopLater = command(pid, (later) => reasons.push(later));
      vi.advanceTimersByTime(100);
      await stopLater();
      expect(reasons).toEqual([why]);
    });

    it("reads the open files of commands once for all of their watches", async () => {
      const pids = await Promise.all([1, 2, 3].map(() => start("sh", "-c", "echo; exec sleep 600")));
      const measures = [large, { ...large, availableBytes: 40 * GIB }];
      const measure = () => measures.shift() ?? { ...large, availableBytes: 40 * GIB };
      const { command } = createWatch({ limits: { ...plenty, memoryBytes: 4 * GIB }, folder, measure });
      const stops = pids.map((pid) => command(pid, () => {}));
      const list = vi.spyOn(fs, "readdirSync");
      syncBuiltinESMExports();
      vi.advanceTimersByTime(100);
      const listed = list.mock.calls.filter(([place]) => /^\/proc\/\d+\/fd$/.test(String(place)));
      vi.restoreAllMocks();
      syncBuiltinESMExports();
      expect(listed).toHaveLength(3);
      await Promise.all(stops.map((stop) => stop()));
    });

    it("ends a command for memory that belongs to no process once less than 5 % of the machine's memory is left", async () => {
      const enough = { availableBytes: 5 * GIB };
      const { reasons } = await watchMachine({ memoryBytes: 4 * GIB }, [{}, enough, { availableBytes: 5 * GIB - 1 }]);
      vi.advanceTimersByTime(100);
      expect(reasons).toEqual([]);
      vi.advanceTimersByTime(100);
      expect(reasons).toEqual(["it used more than 4096 MiB of memory"]);
    });

    it("does not end a command within its limit for the usage of other processes", async () => {
      const { reasons } = await watchMachine({ memoryBytes: 49 * GIB }, [{}, { availableBytes: GIB }]);
      vi.advanceTimersByTime(10_000);
      expect(reasons).toEqual([]);
    });

    it.each<[string, readonly Partial<Machine>[], Partial<Machine>, Partial<Machine>]>([
      ["bytes", [{ diskBytes: GIB }], { diskBytes: GIB - 5 * MIB - 1 }, { diskBytes: GIB - 4.8 * MIB }],
      [
        "bytes since the maximum",
        [{ diskBytes: GIB }, { diskBytes: 2 * GIB }],
        { diskBytes: 2 * GIB - 6 * MIB },
        { diskBytes: 2 * GIB },
      ],
      ["files", [{ files: 100 }], { files: 95 }, { files: 96 }],
      ["files since the maximum", [{ files: 100 }, { files: 200 }], { files: 195 }, { files: 196 }],
    ])(
      "counts the run's files only if the disk has lost nearly as many %s as its limit, or more",
      async (_, before, more, same) => {
        const place = mkdtempSync(join(folder, "lost-"));
        for (let index = 0; index < 6; index++) writeFileSync(join(place, `${index}`), "");
        const limits = { diskBytes: 5 * MIB, files: 5 };
        const within = await watchMachine(limits, [...before, same], place);
        const beyond = await watchMachine(limits, [...before, more], place);
        vi.advanceTimersByTime(200);
        await expect.poll(() => beyond.reasons).toEqual(["the run had more than 5 files"]);
        expect(within.reasons).toEqual([]);
      },
    );

    it.each([
      [6, ["it had more than 10 processes and threads"]],
      [2, []],
    ])(
      "measures a command with %i of 10 processes at the next measurement of the machine: %j",
      async (tasks, expected) => {
        const pid = await python(
          "import signal",
          "def fork(count):",
          "    for i in range(count):",
          "        if os.fork() == 0: signal.signal(signal.SIGUSR1, signal.SIG_IGN); time.sleep(600)",
          "signal.signal(signal.SIGUSR1, lambda *_: fork(12))",
          `fork(${tasks - 1})`,
        );
        const { reasons } = await watchMachine({ processes: 10 }, [], folder, pid);
        vi.advanceTimersByTime(500);
        expect(reasons).toEqual([]);
        process.kill(pid, "SIGUSR1");
        // A poll would advance the timers.
        while (measureTrees([pid], 100, GIB).tasks < tasks + 12) await setImmediate();
        // Measuring takes some time itself, ten times of which passes first.
        vi.advanceTimersByTime(400);
        expect(reasons).toEqual(expected);
      },
    );

    it("counts the run's files every minute, even if the disk has lost nothing", async () => {
      const place = mkdtempSync(join(folder, "minute-"));
      for (let index = 0; index < 6; index++) writeFileSync(join(place, `${index}`), "");
      const { reasons } = await watchMachine({ files: 5 }, [], place);
      vi.advanceTimersByTime(60_000);
      for (let read = 0; read < 20; read++) expect(await readdir(place)).toHaveLength(6);
      expect(reasons).toEqual([]);
      vi.advanceTimersByTime(100);
      await expect.poll(() => reasons).toEqual(["the run had more than 5 files"]);
    });

    it("reports a command that has filled the disk when it ends, before or while the files are counted", async () => {
      const place = mkdtempSync(join(folder, "ended-"));
      for (let index = 0; index < 6; index++) writeFileSync(join(place, `${index}`), "");
      const before = await watchMachine({ files: 5 }, [{}, { files: 10 }], place);
      await before.stop();
      expect(before.reasons).toEqual(["the run had more than 5 files"]);
      const meanwhile = await watchMachine({ files: 5 }, [{}, { files: 10 }], place);
      vi.advanceTimersByTime(100);
      await meanwhile.stop();
      expect(meanwhile.reasons).toEqual(["the run had more than 5 files"]);
      const within = await watchMachine({ files: 6 }, [{}, { files: 10 }], place);
      await within.stop();
      expect(within.reasons).toEqual([]);
    });

    it("removes files until the others are within the limits, before the command's result", async () => {
      const place = mkdtempSync(join(folder, "shrunk-"));
      for (let index = 0; index < 8; index++) writeFileSync(join(place, `${index}`), "");
      let calls = 0;
      const shrink = async () => rmSync(join(place, `${calls++}`));
      const reasons: string[] = [];
      let files = 100;
      const measure = () => {
        files -= 10;
        return { ...large, files };
      };
      const { command } = createWatch({ limits: { ...plenty, files: 5 }, folder: place, measure, shrink });
      const stop = command(await start("sh", "-c", "echo; exec sleep 600"), (why) => reasons.push(why));
      await stop();
      expect(reasons).toEqual(["the run had more than 5 files; what changed last was removed"]);
      expect(calls).toBe(3);
      expect(await readdir(place)).toHaveLength(5);
    });

    it("counts the run's files at the next measurement once the disk has lost what was left to the run", async () => {
      const place = mkdtempSync(join(folder, "urgent-"));
      for (let index = 0; index < 4; index++) writeFileSync(join(place, `${index}`), "");
      const now = { ...large, files: 80 };
      const reasons: string[] = [];
      let counts = 0;
      const measure = () => {
        counts++;
        return { ...now };
      };
      const { command } = createWatch({ limits: { ...plenty, files: 5 }, folder: place, measure });
      const stop = command(await start("sh", "-c", "echo; exec sleep 600"), (why) => reasons.push(why));
      now.files = 70;
      vi.advanceTimersByTime(100);
      // Uses the same queue as the count, so it completes after it.
      for (let read = 0; read < 20; read++) expect(await readdir(place)).toHaveLength(4);
      expect(reasons).toEqual([]);
      for (let index = 4; index < 8; index++) writeFileSync(join(place, `${index}`), "");
      now.files = 66;
      const from = counts;
      await expect
        .poll(() => {
          if (reasons.length === 0 && counts < from + 5) vi.advanceTimersByTime(100);
          return reasons;
        })
        .toEqual(["the run had more than 5 files"]);
      await stop();
    });

    it("counts the run's files with and without a name together", async () => {
      const place = mkdtempSync(join(folder, "together-"));
      writeFileSync(join(place, "named"), Buffer.alloc(3 * MIB, "x"));
      const pid = await python(...unnamed("disk", 3));
      const lost = { diskBytes: 50 * GIB - 6 * MIB };
      const { reasons } = await watchMachine({ diskBytes: 5 * MIB }, [{}, lost], place, pid);
      vi.advanceTimersByTime(100);
      await expect.poll(() => reasons).toEqual(["the run's files took more than 5 MiB"]);
    });

    it.each([
      ["bytes", { diskBytes: 50 * GIB - 6 * MIB }, "the run's files took more than 5 MiB"],
      ["files", { files: 990 }, "the run had more than 5 files"],
    ])(
      "ends a command that may hide files at two counts in a row if the disk has lost more %s",
      async (_, lost, why) => {
        const place = mkdtempSync(join(folder, "hidden-"));
        const pid = await python(
          "import array, socket",
          ...unnamed("disk", 6),
          "one, other = socket.socketpair()",
          "one.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [file]))]); os.close(file)",
        );
        const limits = { diskBytes: 5 * MIB, files: 5 };
        const hiding = await watchMachine(limits, [{}, lost], place, pid);
        const honest = await watchMachine(limits, [{}, lost], place);
        vi.advanceTimersByTime(100);
        for (let read = 0; read < 20; read++) expect(await readdir(place)).toEqual([]);
        expect(hiding.reasons, "after one count").toEqual([]);
        await expect
          .poll(() => {
            if (hiding.reasons.length === 0) vi.advanceTimersByTime(100);
            return hiding.reasons;
          })
          .toEqual([why]);
        expect(honest.reasons).toEqual([]);
      },
    );

    it("counts the run's files again after a second at the earliest", async () => {
      const place = mkdtempSync(join(folder, "again-"));
      const { reasons } = await watchMachine({ diskBytes: GIB, files: 5 }, [{}, { files: 10 }], place);
      vi.advanceTimersByTime(100);
      const firstAt = performance.now();
      // Uses the same queue as the first count, so it completes after it.
      for (let read = 0; read < 20; read++) expect(await readdir(place)).toEqual([]);
      for (let index = 0; index < 6; index++) writeFileSync(join(place, `${index}`), "");
      await expect
        .poll(() => {
          if (reasons.length === 0) vi.advanceTimersByTime(100);
          return reasons;
        })
        .toEqual(["the run had more than 5 files"]);
      expect(performance.now() - firstAt).toBeGreaterThan(1_000);
    });
  });
});
