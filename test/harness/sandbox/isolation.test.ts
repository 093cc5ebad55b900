import { spawn } from "node:child_process";
import { once } from "node:events";
import fs, {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir, totalmem } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createBubblewrapSandbox } from "#harness/isolation/bubblewrap.ts";
import { createDevices } from "#harness/isolation/devices.ts";
import { chooseIsolation, readTriedNetwork } from "#harness/isolation/isolation.ts";
import { startLaunch } from "#harness/isolation/launch.ts";
import { formatUlimits, readLimits } from "#harness/isolation/limits.ts";
import { type Network, openNetwork } from "#harness/isolation/network.ts";
import { readProcFile } from "#harness/isolation/proc-files.ts";
import { listParents, openProcessGroup, type ProcessGroup } from "#harness/isolation/process-group.ts";
import { findProgram } from "#harness/isolation/programs.ts";
import { createPlainSandbox, type SandboxOptions } from "#harness/isolation/sandbox.ts";
import { createWorkspace, type Workspace } from "#harness/isolation/workspace.ts";
import { listOwnAddresses, METADATA } from "#harness/network/blocked-addresses.ts";

const MIB = 1024 * 1024;
const limits = readLimits({});

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

describe("chooseIsolation", () => {
  it.each(["bubblewrap", "bubblewrap-unfiltered", "machine", "none"])("returns the setting %s", (setting) => {
    vi.stubEnv("RUNYARD_SANDBOX", setting);
    expect(chooseIsolation()).toBe(setting);
  });

  it.each([undefined, ""])(
    "returns bubblewrap for the setting %j if bwrap is installed, and none otherwise",
    (setting) => {
      vi.stubEnv("RUNYARD_SANDBOX", setting);
      expect(chooseIsolation()).toBe("bubblewrap");
      vi.stubEnv("PATH", "/nowhere");
      expect(chooseIsolation()).toBe("none");
    },
  );

  it("returns none if the system is not Linux, even if bwrap is installed", () => {
    vi.stubEnv("RUNYARD_SANDBOX", undefined);
    vi.spyOn(process, "platform", "get").mockReturnValue("darwin");
    expect(chooseIsolation()).toBe("none");
  });

  it("throws for any other setting, with those that are allowed", () => {
    vi.stubEnv("RUNYARD_SANDBOX", "bublewrap");
    expect(() => chooseIsolation()).toThrow(
      'RUNYARD_SANDBOX takes one of bubblewrap, bubblewrap-unfiltered, machine, none, not "bublewrap"',
    );
  });
});

describe("readTriedNetwork", () => {
  it.each([
    ["network", true],
    ["no-network", false],
    [undefined, undefined],
    ["", undefined],
    ["yes", undefined],
  ])("reads %j as %j", (setting, expected) => {
    vi.stubEnv("RUNYARD_SANDBOX_TRIED", setting);
    expect(readTriedNetwork()).toBe(expected);
  });
});

describe("readLimits", () => {
  it("uses half of the machine's memory, at most 8 GiB, if nothing is set", () => {
    const constrained = process.constrainedMemory();
    const memory = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
    expect(readLimits({ RUNYARD_COMMAND_PROCESSES: "", RUNYARD_RUN_FILES: undefined })).toEqual({
      memoryBytes: Math.min(8_192, Math.floor(memory / MIB / 2)) * MIB,
      processes: 1_024,
      diskBytes: 10_240 * MIB,
      files: 1_000_000,
      descriptors: 8_192,
    });
  });

  it.each([
    [2_048 * MIB, 1_024],
    [3_001 * MIB - 1, 1_500],
    [2 ** 60, "that of the machine"],
    [0, "that of the machine"],
  ])("takes half of a container's memory of %i bytes: %s MiB", (constrained, expected) => {
    vi.spyOn(process, "constrainedMemory").mockReturnValue(constrained);
    const machine = Math.min(8_192, Math.floor(totalmem() / MIB / 2));
    expect(readLimits({}).memoryBytes / MIB).toBe(typeof expected === "number" ? expected : machine);
  });

  it("takes each setting", () => {
    const settings = {
      RUNYARD_COMMAND_MEMORY_MIB: "1",
      RUNYARD_COMMAND_PROCESSES: "20",
      RUNYARD_RUN_DISK_MIB: "300",
      RUNYARD_RUN_FILES: "999999999999",
    };
    expect(readLimits(settings)).toMatchObject({
      memoryBytes: MIB,
      processes: 20,
      diskBytes: 300 * MIB,
      files: 999_999_999_999,
    });
  });

  it.each(["0", "-1", "1.5", "1e3", "a1", "1a", " 1", "01", "1000000000000"])(
    "refuses %j, and names the setting",
    (value) => {
      expect(() => readLimits({ RUNYARD_RUN_FILES: value })).toThrow(
        "RUNYARD_RUN_FILES must be a whole number above 0",
      );
    },
  );
});

it("formatUlimits lowers dumps, processes, the size of a file in KiB and descriptors, and never fails", () => {
  expect(formatUlimits({ memoryBytes: 1, processes: 20, diskBytes: 3 * MIB + 1, files: 4, descriptors: 50 })).toBe(
    "{ ulimit -c 0; ulimit -u 20; ulimit -f 3072; ulimit -n 50; } 2>/dev/null || :;",
  );
});

describe("findProgram", () => {
  it("takes the first executable in an absolute folder of PATH", () => {
    const folder = mkdtempSync(join(tmpdir(), "programs-"));
    for (const name of ["first", "second"]) mkdirSync(join(folder, name));
    for (const name of ["first", "second"]) writeFileSync(join(folder, name, "tool"), "");
    chmodSync(join(folder, "second", "tool"), 0o755);
    vi.stubEnv("PATH", `:relative:${folder}/first:${folder}/second`);
    expect(findProgram("tool")).toBe(`${folder}/second/tool`);
    expect(findProgram("other")).toBeUndefined();
    vi.stubEnv("PATH", undefined);
    expect(findProgram("tool")).toBeUndefined();
    expect(findProgram("chroot"), "in a system folder").toMatch(/^\/(usr\/)?sbin\/chroot$/);
    rmSync(folder, { recursive: true });
  });
});

describe("a plain sandbox", () => {
  it("gives a command its own variables, the secrets and PATH, and nothing else of the harness", () => {
    vi.stubEnv("PATH", "/tools");
    const host = { workspace: "/w", home: "/h", tmp: "/t", output: "/w/output", steps: "/s" };
    const options = { host, runId: "run-1", marker: { MARK: "1" }, secrets: { TOKEN: "x", HOME: "/taken" } };
    const sandbox = createPlainSandbox({ ...options, programs: "/p" }, "machine");
    expect(sandbox).toMatchObject({ kind: "machine", paths: host, node: process.execPath, programs: "/p" });
    expect(sandbox).toMatchObject({ network: true, contained: false });
    expect(sandbox.limits).toBeUndefined();
    const own = {
      HOME: "/h",
      TMPDIR: "/t",
      LANG: "C.UTF-8",
      TERM: "dumb",
      SHELL: "/bin/bash",
      USER: "agent",
      LOGNAME: "agent",
      RUNYARD_WORKSPACE: "/w",
      RUNYARD_ATTACHMENTS: "/w/attachments",
      RUNYARD_OUTPUT: "/w/output",
      RUNYARD_RUN_ID: "run-1",
      MARK: "1",
      PATH: "/tools",
    };
    const args = ["-eo", "pipefail", "/s/a.sh"];
    expect(sandbox.launch("a.sh")).toEqual({ file: "bash", args, env: { ...own, TOKEN: "x" }, cwd: "/w" });
    expect(sandbox.launch("a.sh", { OTHER: "y" }).env).toEqual({ ...own, OTHER: "y" });
    vi.stubEnv("PATH", undefined);
    expect(createPlainSandbox(options, "none").launch("a.sh").env["PATH"]).toBe("/usr/local/bin:/usr/bin:/bin");
  });
});

describe("a workspace", () => {
  it("is removed with everything that commands left, even without write permission", async () => {
    const { root, paths, etc, remove } = createWorkspace();
    expect(readdirSync(root).sort()).toEqual(["etc", "home", "steps", "tmp", "workspace"]);
    expect(readdirSync(paths.workspace)).toEqual(["output"]);
    expect([paths, etc]).toEqual([
      {
        workspace: join(root, "workspace"),
        home: join(root, "home"),
        tmp: join(root, "tmp"),
        steps: join(root, "steps"),
        output: join(root, "workspace/output"),
      },
      join(root, "etc"),
    ]);
    mkdirSync(join(paths.home, "kept/below"), { recursive: true });
    chmodSync(join(paths.home, "kept"), 0);
    await remove();
    expect(() => readdirSync(root)).toThrow("ENOENT");
  });

  it("is removed with directories that nobody may enter", async () => {
    const { root, paths, remove } = createWorkspace();
    const [kept, below] = [join(paths.home, "kept"), join(paths.home, "kept/below")];
    mkdirSync(below, { recursive: true });
    for (const path of [below, kept, paths.home]) chmodSync(path, 0);
    await remove();
    expect(existsSync(root)).toBe(false);
  });
});

const few = { processes: 10, memoryBytes: 100 * MIB };

describe("openProcessGroup", () => {
  it("limits processes other than the two of bubblewrap, and leaves no group of its own or of an ended harness", async () => {
    const [ended, alive, foreign] = ["runyard-4194305", "runyard-1", "runyard-other"];
    const first = openProcessGroup(few);
    const group = dirname(first?.enter.at(-1) ?? "/none/none");
    const others = first === undefined ? [] : [ended, alive, foreign].map((name) => join(dirname(group), name));
    for (const other of others) mkdirSync(other);
    const most = first === undefined ? "14\n" : readFileSync(join(group, "pids.max"), "utf8");
    await first?.close();
    const second = openProcessGroup(few);
    const left = others.map((other) => existsSync(other));
    await second?.close();
    for (const other of others) if (existsSync(other)) rmdirSync(other);
    expect(most).toBe("14\n");
    expect(left).toEqual(first === undefined ? [] : [false, true, true]);
    expect(existsSync(group)).toBe(false);
  });

  it("runs a command as a member of the group, with its arguments and exit code", async () => {
    const group = openProcessGroup(few);
    const [file, ...enter] = group?.enter ?? (["/usr/bin/env"] as const);
    const child = spawn(file, [...enter, "sh", "-c", 'cat /proc/self/cgroup; echo "$1"; exit 7', "sh", "two words"]);
    const [printed, [code]] = await Promise.all([text(child.stdout), once(child, "close")]);
    await group?.close();
    expect([printed.includes(`/runyard-${process.pid}\n`), code]).toEqual([group !== undefined, 7]);
    expect(printed.split("\n").at(-2)).toBe("two words");
  });

  describe("with the files that the kernel creates for a group", () => {
    const [abandoned, alive, foreign] = ["runyard-4194305", "runyard-1", "runyard-other"];
    const similar = ["my-runyard-4194305", "runyard-4194305-too"];
    let parent: string;
    let limit: string;
    let procs: string;

    beforeEach(() => {
      parent = mkdtempSync(join(tmpdir(), "cgroups-"));
      for (const name of [abandoned, alive, foreign, ...similar]) mkdirSync(join(parent, name));
      const group = join(parent, `runyard-${process.pid}`);
      [limit, procs] = [join(group, "pids.max"), join(group, "cgroup.procs")];
      const { mkdirSync: mkdir } = fs;
      vi.spyOn(fs, "mkdirSync").mockImplementation((path) => {
        mkdir(path);
        for (const file of path === group ? [limit, procs] : []) writeFileSync(file, "");
        return undefined;
      });
      syncBuiltinESMExports();
    });
    afterEach(() => rmSync(parent, { recursive: true }));

    const open = (platform: NodeJS.Platform, user: number) => {
      vi.spyOn(process, "getuid").mockReturnValue(user);
      vi.spyOn(process, "platform", "get").mockReturnValue(platform);
      return openProcessGroup(few, "", (_, controller) =>
        controller === "pids" ? [join(parent, "missing"), parent] : [],
      );
    };

    it("limits the processes of root on Linux, lets commands enter, and removes the group once it is empty", async () => {
      const group = open("linux", 0);
      expect(readFileSync(limit, "utf8")).toBe("14");
      const [file, ...enter] = group?.enter ?? (["/bin/false"] as const);
      const child = spawn(file, [...enter, "sh", "-c", 'echo "$1"; exit 7', "sh", "two words"]);
      const [printed, [code]] = await Promise.all([text(child.stdout), once(child, "close")]);
      expect([printed, code, readFileSync(procs, "utf8")]).toEqual(["two words\n", 7, `${child.pid}\n`]);
      const closing = group?.close();
      const whileClosing = readdirSync(parent).length;
      for (const made of [limit, procs]) rmSync(made);
      await closing;
      expect([whileClosing, readdirSync(parent).toSorted()]).toEqual([5, [alive, foreign, ...similar].toSorted()]);
    });

    it("gives up on removing a group that is never empty after forty tries", async () => {
      const group = open("linux", 0);
      const removing = vi.spyOn(fs, "rmdirSync");
      syncBuiltinESMExports();
      await group?.close();
      expect(removing.mock.calls).toEqual(Array.from({ length: 40 }, () => [dirname(limit)]));
    });

    it("creates none on macOS", () => {
      expect(open("darwin", 0)).toBeUndefined();
      expect(readdirSync(parent).toSorted()).toEqual([alive, abandoned, foreign, ...similar].toSorted());
    });

    it("creates none for another user if it would limit processes only", () => {
      expect(open("linux", 1000)).toBeUndefined();
    });
  });

  it("creates none in a directory that is not a cgroup, and leaves nothing there", () => {
    const folder = mkdtempSync(join(tmpdir(), "no-cgroup-"));
    expect(openProcessGroup(few, "", () => [join(folder, "missing"), folder])).toBeUndefined();
    expect(readdirSync(folder)).toEqual([]);
    rmdirSync(folder);
  });

  it.each([
    ["0::/\n", []],
    ["0::/system.slice/a.service\n", ["/sys/fs/cgroup/system.slice/a.service", "/sys/fs/cgroup/system.slice"]],
    ["9:name=systemd:/x\n8:pids:/a/b\n4:memory:/m\n", ["/sys/fs/cgroup/pids/a/b", "/sys/fs/cgroup/pids/a"]],
    ["3:cpu,pids:/a/b:c\n", ["/sys/fs/cgroup/pids/a/b:c", "/sys/fs/cgroup/pids/a"]],
    ["12:pids:/\n0::/u/v\n", ["/sys/fs/cgroup/pids", "/sys/fs/cgroup/u/v", "/sys/fs/cgroup/u"]],
    ["5:devices:/\n", []],
    ["", []],
  ])("is tried for the cgroups %j in %j, and then in the roots", (own, parents) => {
    const roots = ["/sys/fs/cgroup", "/sys/fs/cgroup/pids"];
    expect(listParents(own, "pids")).toEqual([...new Set([...parents, ...roots])]);
  });

  it("does not limit the processes of a harness that is not root, since the limit per user applies", async () => {
    vi.spyOn(process, "getuid").mockReturnValue(1000);
    const group = openProcessGroup(few);
    await group?.close();
    expect(group?.limited ?? []).not.toContain("pids");
  });

  it("limits memory to a tenth more than the harness does, and counts what the kernel kills", async () => {
    const group = openProcessGroup(few);
    if (group === undefined || !group.limited.includes("memory"))
      return expect(readProcFile("/proc/self/cgroup")).toBeDefined();
    const [file, ...enter] = group.enter;
    const fill = (mib: number) => `import os; kept = b"x" * (${mib} * ${MIB}); os.write(1, b"kept")`;
    const killed = [];
    for (const mib of [60, 150]) {
      const child = spawn(file, [...enter, "python3", "-c", fill(mib)]);
      const [printed, [code, signal]] = await Promise.all([text(child.stdout), once(child, "close")]);
      killed.push([printed, code, signal, group.countKills()]);
    }
    await group.close();
    expect(killed).toEqual([
      ["kept", 0, null, 0],
      ["", null, "SIGKILL", 1],
    ]);
  });

  describe.each([
    ["version 2", ["memory.max", "memory.swap.max"], ["115343360", "0"], "memory.events", "low 0\noom 3\noom_kill 2\n"],
    [
      "version 1",
      ["memory.limit_in_bytes", "memory.memsw.limit_in_bytes"],
      ["115343360", "115343360"],
      "memory.oom_control",
      "under_oom 0\noom_kill 2\n",
    ],
  ])("with the files of %s", (_, limitFiles, expected, killFile, kills) => {
    it.each([0, 1000])("limits memory for user %i, and counts kills", async (user) => {
      const parent = mkdtempSync(join(tmpdir(), "cgroups-"));
      const group = join(parent, `runyard-${process.pid}`);
      const { mkdirSync: mkdir } = fs;
      vi.spyOn(fs, "mkdirSync").mockImplementation((path) => {
        mkdir(path);
        for (const file of [...limitFiles, "cgroup.procs"]) writeFileSync(join(group, file), "");
        return undefined;
      });
      vi.spyOn(process, "getuid").mockReturnValue(user);
      syncBuiltinESMExports();
      const opened = openProcessGroup(few, "", (_own, controller) => (controller === "memory" ? [parent] : []));
      const written = limitFiles.map((file) => readFileSync(join(group, file), "utf8"));
      writeFileSync(join(group, killFile), kills);
      const counted = opened?.countKills();
      rmSync(parent, { recursive: true });
      await opened?.close();
      expect([opened?.limited, written, counted]).toEqual([["memory"], expected, 2]);
    });
  });
});

describe("a process group that the kernel can stop", () => {
  it.each([
    ["in version 2, as the group that limits memory", "cgroup.freeze", ["memory.max"], ["0", "1", "0"]],
    ["in version 1, as a group of its own", "freezer.state", [], ["THAWED", "FROZEN", "THAWED"]],
  ])("is stopped %s", async (_, file, limitFiles, expected) => {
    const parent = mkdtempSync(join(tmpdir(), "cgroups-"));
    const group = join(parent, `runyard-${process.pid}`);
    const { mkdirSync: mkdir } = fs;
    vi.spyOn(fs, "mkdirSync").mockImplementation((path) => {
      mkdir(path);
      for (const name of [...limitFiles, file, "cgroup.procs"]) writeFileSync(join(group, name), "");
      return undefined;
    });
    vi.spyOn(process, "getuid").mockReturnValue(0);
    syncBuiltinESMExports();
    const purpose = limitFiles.length === 0 ? "freezer" : "memory";
    // Another group of version 2 would take the processes out of the one that limits them.
    const other = purpose === "memory" ? [join(parent, "other")] : [];
    const opened = openProcessGroup(few, "", (_own, wanted) => (wanted === purpose ? [parent] : other));
    const read = () => readFileSync(join(group, file), "utf8");
    const states = [read()];
    const thaw = opened?.freeze?.();
    states.push(read());
    thaw?.();
    states.push(read());
    const members = opened?.enter.filter((argument) => argument.endsWith("cgroup.procs"));
    rmSync(parent, { recursive: true });
    await opened?.close();
    expect([states, members]).toEqual([expected, [join(group, "cgroup.procs")]]);
  });
});

describe("createDevices", () => {
  const names = ["null", "zero", "full", "random", "urandom", "tty"];
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "devices-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it("creates the devices of commands if the harness is root and permitted, whatever its PATH is", async () => {
    vi.stubEnv("PATH", "/nowhere");
    const devices = await createDevices(folder);
    const own = process.getuid?.() === 0 ? names : [];
    expect(Object.entries(devices)).toEqual(own.map((name) => [name, join(folder, "dev", name)]));
    expect(existsSync(join(folder, "dev"))).toBe(own.length > 0);
    for (const [name, node] of Object.entries(devices)) expect(statSync(node).rdev).toBe(statSync(`/dev/${name}`).rdev);
  });

  it("creates none for a harness that is not root", async () => {
    vi.spyOn(process, "getuid").mockReturnValue(1000);
    expect([await createDevices(folder), readdirSync(folder)]).toEqual([{}, []]);
  });

  it("returns none if the file system does not allow opening them", async () => {
    const { openSync } = fs;
    vi.spyOn(fs, "openSync").mockImplementation((path, ...options) => {
      if (String(path).startsWith(folder)) throw new Error("EACCES");
      return openSync(path, ...options);
    });
    syncBuiltinESMExports();
    expect(await createDevices(folder)).toEqual({});
  });

  it.each(["null", "tty"])("returns none if one of them is not a device: %s", async (name) => {
    mkdirSync(join(folder, "dev", name), { recursive: true });
    expect(await createDevices(folder)).toEqual({});
  });
});

describe("a command in bubblewrap", () => {
  let workspace: Workspace;
  let network: Network | undefined;
  let group: ProcessGroup | undefined;
  beforeAll(async () => {
    workspace = createWorkspace();
    network = await openNetwork();
    await network?.opened;
    group = openProcessGroup({ ...few, processes: 50 });
  });
  afterAll(async () => void (await Promise.all([network?.close(), group?.close(), workspace.remove()])));

  type Options = Partial<Parameters<typeof createBubblewrapSandbox>[0]>;

  async function make(options: Options = {}, run: Partial<SandboxOptions> = {}) {
    const { etc, paths: host } = workspace;
    const bwrap = findProgram("bwrap") ?? "";
    const shared = { bwrap, etc, limits, network: undefined, group: undefined, filtered: true };
    const sandbox = await createBubblewrapSandbox({ ...shared, ...options });
    return sandbox({ host, runId: "run-1", marker: { MARK: "1" }, ...run });
  }

  /** The lines that a script prints. */
  async function run(script: string, options?: Options, given?: Partial<SandboxOptions>): Promise<string[]> {
    writeFileSync(join(workspace.paths.steps, "step.sh"), `${script}\n`);
    const launched = startLaunch((await make(options, given)).launch("step.sh"));
    const [printed] = await Promise.all([...launched.output.map(text), once(launched.process, "close")]);
    return String(printed).split("\n").slice(0, -1);
  }

  it("is in the process group of the run's commands, unless it is to start where they have used up their processes", async () => {
    const enter = ["sh", "-c", "exec", "group"] as const;
    const grouped = await make({ group: { enter, limited: ["pids"], countKills: () => 0, close: async () => {} } });
    const start = (isLimited?: boolean) =>
      [grouped.launch("step.sh", {}, isLimited)].map(({ file, args }) => [file, ...args]);
    expect(start()[0]?.slice(0, 4)).toEqual(enter);
    expect(start(false)[0]?.slice(0, 1)).toEqual([findProgram("bwrap")]);
  });

  it("has its own namespaces, user, host name, capabilities and session", async () => {
    const names = ["user", "pid", "ipc", "uts", "net", "mnt", "cgroup"];
    const host = names.map((name) => `${name} ${readlinkSync(`/proc/self/ns/${name}`)}`);
    const [user, capabilities, filter, session, name, ...inside] = await run(
      [
        'echo "$(id -u):$(id -g) $(id -un):$(id -gn)"',
        "grep CapBnd /proc/self/status",
        "grep -E '^Seccomp:' /proc/self/status",
        "cut -d' ' -f6 /proc/1/stat",
        "hostname || cat /proc/sys/kernel/hostname",
        ...names.map((each) => `echo ${each} $(readlink /proc/self/ns/${each})`),
      ].join("\n"),
    );
    expect([user, capabilities, filter, name]).toEqual([
      "1000:1000 agent:agent",
      "CapBnd:\t0000000000000000",
      "Seccomp:\t2",
      "runyard",
    ]);
    expect(Number(session), "the terminal of the harness is another session's").toBeGreaterThan(0);
    expect(inside.filter((line) => host.includes(line))).toEqual([]);
    expect(inside).toHaveLength(names.length);
  });

  it("has no filter and no network if none is given", async () => {
    const script =
      "grep -E '^Seccomp:' /proc/self/status; tail -n +3 /proc/net/dev | cut -d: -f1; cat /etc/resolv.conf";
    expect((await run(script, { filtered: false })).map((line) => line.trim())).toEqual(["Seccomp:\t0", "lo"]);
    expect((await make()).network).toBe(false);
    expect(readFileSync(join(workspace.etc, "resolv.conf"), "utf8")).toBe("");
  });

  it("finds the links and folders of programs that the machine has, in a read-only root", async () => {
    vi.spyOn(fs, "existsSync").mockReturnValue(true);
    const { lstatSync } = fs;
    const real = lstatSync("/");
    vi.spyOn(fs, "lstatSync").mockImplementation((path) => (path === "/bin" ? lstatSync("/proc/self") : real));
    vi.spyOn(fs, "readlinkSync").mockReturnValue("usr/bin");
    syncBuiltinESMExports();
    const launch = (await make()).launch("step.sh");
    const args = [...launch.args, ...(launch.hidden ?? [])].join(" ");
    for (const path of ["/sbin", "/lib", "/lib32", "/lib64", "/libx32"])
      expect(args).toContain(` --ro-bind ${path} ${path} `);
    expect(args).toContain(" --symlink usr/bin /bin ");
    expect(args).toContain(" --ro-bind-try /nix/store /nix/store ");
    expect(args).toContain(" --remount-ro / ");
  });

  it("shares a network whose routes prohibit the host's addresses and cloud metadata", async () => {
    expect((await make({ network })).network).toBe(true);
    const printed = await run("ip -4 route; cat /etc/resolv.conf", { network });
    const own = listOwnAddresses().filter((address) => !address.startsWith("10.0.2."));
    for (const address of [...METADATA, ...own]) expect(printed).toContainEqual(`prohibit ${address} `);
    expect(printed).toContainEqual(expect.stringContaining("default via 10.0.2.2 dev tap0"));
    expect(printed.at(-1)).toBe("nameserver 10.0.2.3");
  });

  it("has its own environment, without the marker of the harness's processes", async () => {
    vi.stubEnv("PLANTED", "planted");
    const given = { secrets: { TOKEN: "two\nlines", HOME: "/taken" }, programs: workspace.paths.output };
    const printed = await run("env -0 | tr '\\n' '|' | tr '\\0' '\\n' | sort", {}, given);
    expect(printed.filter((line) => !/^(_|SHLVL|PWD|OLDPWD)=/.test(line))).toEqual([
      "HOME=/home/agent",
      "LANG=C.UTF-8",
      "LOGNAME=agent",
      "PATH=/opt/node/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
      "RUNYARD_ATTACHMENTS=/workspace/attachments",
      "RUNYARD_OUTPUT=/workspace/output",
      "RUNYARD_RUN_ID=run-1",
      "RUNYARD_WORKSPACE=/workspace",
      "SHELL=/bin/bash",
      "TERM=dumb",
      "TMPDIR=/tmp",
      "TOKEN=two|lines",
      "USER=agent",
    ]);
    expect(printed).toContain("PWD=/workspace");
  });

  it("passes secrets and paths of this machine by a descriptor, since programs can read arguments", async () => {
    const { args, env, cwd, hidden } = (await make({}, { secrets: { TOKEN: "hush" } })).launch("step.sh");
    expect(JSON.stringify([args, env])).not.toMatch(`hush|${workspace.root}`);
    expect([env, cwd]).toEqual([{ MARK: "1" }, "/"]);
    expect(hidden?.join(" ")).toContain(" --setenv TOKEN hush ");
    expect(hidden?.join(" ")).toContain(` --bind ${workspace.paths.workspace} /workspace `);
    const [printed] = await run('echo "$TOKEN"', { filtered: false }, { secrets: { TOKEN: "hush" } });
    expect(printed, "without a filter").toBe("hush");
  });

  it("sees only the files of /etc that programs need", async () => {
    const printed = await run("ls /etc; cat /etc/passwd /etc/group /etc/hosts; grep hosts: /etc/nsswitch.conf");
    for (const line of [
      "root:x:0:0:root:/root:/bin/bash",
      "agent:x:1000:1000:agent:/home/agent:/bin/bash",
      "nobody:x:65534:65534:nobody:/:/bin/false",
      "agent:x:1000:",
      "127.0.0.1 localhost runyard",
      "::1 localhost",
      "hosts: files dns",
      "ld.so.cache",
      "ssl",
    ]) {
      expect(printed).toContain(line);
    }
    const secret = /^(shadow|gshadow|sudoers|hostname|machine-id|crontab|fstab|ssh|mypython3|xmaven|mavenx)/;
    expect(printed.filter((line) => secret.test(line))).toEqual([]);
  });

  it("sees exactly these files of /etc, and the folders of programs that the machine has", async () => {
    const fixed = ["group", "hosts", "nsswitch.conf", "passwd", "resolv.conf", "ssl"];
    const shared = [
      ...[
        "alternatives",
        "ca-certificates",
        "debian_version",
        "ld.so.cache",
        "ld.so.conf",
        "ld.so.conf.d",
        "localtime",
      ],
      ...[
        "lsb-release",
        "magic",
        "maven",
        "mime.types",
        "os-release",
        "perl",
        "pki",
        "protocols",
        "services",
        "shells",
      ],
      "terminfo",
    ];
    const isShared = (name: string) => shared.includes(name) || /^(python3|java)/.test(name);
    const own = readdirSync("/etc").filter((name) => isShared(name) && existsSync(join("/etc", name)));
    expect(await run("ls -A /etc")).toEqual([...own, ...fixed].sort());
    const roots = ["/bin", "/lib", "/lib32", "/lib64", "/libx32", "/sbin", "/usr"];
    expect(await run(`ls -d ${roots.join(" ")} 2>/dev/null || true`)).toEqual(roots.filter((path) => existsSync(path)));
    expect(await run("ls -A /etc/ssl")).toEqual(
      ["certs", "openssl.cnf"].filter((name) => existsSync(`/etc/ssl/${name}`)),
    );
  });

  it("finds the Node of the harness, and its npm if it has one", async () => {
    const folder = mkdtempSync(join(tmpdir(), "node-"));
    const node = join(folder, "bin/node");
    const npm = join(folder, "lib/node_modules/npm");
    const own = process.execPath;
    const others: string[] = [];
    const describeNode = async (path: string) => {
      process.execPath = path;
      const sandbox = await make().finally(() => {
        process.execPath = own;
      });
      const args = sandbox.launch("step.sh").args.join(" ");
      const pattern = /--(ro-bind|symlink) \S+ \/opt\/node\S* /g;
      others.push(args.replaceAll(pattern, ""));
      return { node: sandbox.node, binds: (args.match(pattern) ?? []).map((bind) => bind.trimEnd()) };
    };
    const inside = "/opt/node/bin/node";
    expect(await describeNode("/usr/bin/node")).toEqual({ node: "/usr/bin/node", binds: [] });
    expect(await describeNode(node)).toEqual({ node: inside, binds: [`--ro-bind ${node} ${inside}`] });
    mkdirSync(npm, { recursive: true });
    expect(await describeNode(node)).toEqual({
      node: inside,
      binds: [
        `--ro-bind ${node} ${inside}`,
        `--ro-bind ${npm} /opt/node/lib/node_modules/npm`,
        "--symlink ../lib/node_modules/npm/bin/npm-cli.js /opt/node/bin/npm",
        "--symlink ../lib/node_modules/npm/bin/npx-cli.js /opt/node/bin/npx",
      ],
    });
    expect(others, "all other arguments are the same").toEqual([others[0], others[0], others[0]]);
    rmSync(folder, { recursive: true });
  });

  it("can read programs and its steps, and write nothing but its directories", async () => {
    const places =
      "/ /usr /etc /etc/passwd /proc/sys/kernel/hostname /dev /opt/programs /run/runyard /opt/node/bin/node";
    const script = `cd /; for p in ${places} /tmp /home/agent /workspace /dev/shm; do test -w $p && echo $p; done; npm --version; node -p 6*7; ls /opt`;
    const printed = await run(script, {}, { programs: workspace.paths.output });
    expect(printed.slice(0, 4)).toEqual(["/tmp", "/home/agent", "/workspace", "/dev/shm"]);
    expect(printed.slice(4)).toEqual([expect.stringMatching(/^\d+\.\d+\.\d+$/), "42", "node", "programs"]);
    expect((await make({}, { programs: "/x" })).programs).toBe("/opt/programs");
    expect((await make()).programs).toBeUndefined();
    expect(await run("touch /dev/shm/on-disk; ls /tmp/on-disk; rm /tmp/on-disk; ls /opt")).toEqual([
      "/tmp/on-disk",
      "node",
    ]);
  });

  it("has its own devices, so that changing their permissions does not affect the machine", async () => {
    const names = ["null", "zero", "full", "random", "urandom"];
    const printed = await run(
      `for d in ${names.join(" ")}; do test -c /dev/$d && stat -c '%n %d:%i' /dev/$d; done; head -c 2 /dev/zero | wc -c`,
    );
    expect(printed.map((line) => line.split(" ")[0])).toEqual([...names.map((name) => `/dev/${name}`), "2"]);
    const own = (name: string) => `/dev/${name} ${statSync(`/dev/${name}`).dev}:${statSync(`/dev/${name}`).ino}`;
    // Only root creates devices, and only root's commands would own the machine's. To be safe, nothing is changed.
    const host = process.getuid?.() === 0 ? names.map(own) : [];
    expect(printed.filter((line) => host.includes(line))).toEqual([]);
  });

  it("belongs to a process group whose size the kernel limits, if the harness may create one", async () => {
    // Bash would retry for 15 seconds.
    const script = [
      "import os, time",
      "running = 0",
      "try:",
      "    while running < 80:",
      "        if os.fork() == 0: time.sleep(60)",
      "        running += 1",
      "except OSError: pass",
      "print(running)",
    ];
    const [running] = await run(`python3 - <<'end'\n${script.join("\n")}\nend`, { group });
    expect(Number(running)).toBeGreaterThan(40);
    expect(Number(running)).toBeLessThanOrEqual(group === undefined ? 80 : 54);
    expect((await make({ group })).launch("step.sh").args).toContain("--die-with-parent");
  });

  it("describes itself as contained, with its limits", async () => {
    expect(await make()).toMatchObject({
      kind: "bubblewrap",
      contained: true,
      limits,
      paths: {
        workspace: "/workspace",
        home: "/home/agent",
        tmp: "/tmp",
        output: "/workspace/output",
        steps: "/run/runyard",
      },
    });
  });

  it("is not reached through a link that another run left", async () => {
    symlinkSync("/etc/shadow", join(workspace.paths.workspace, "link"));
    expect(await run("cat /workspace/link 2>/dev/null || echo none")).toEqual(["none"]);
  });
});
