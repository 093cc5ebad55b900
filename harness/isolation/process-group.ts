import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, rmdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readProcFile } from "./proc-files.ts";

/** A group of processes whose number or memory the kernel limits, and which it can stop. */
export interface ProcessGroup {
  /** Program and arguments that run a command as a member of the group. */
  readonly enter: readonly [string, ...string[]];
  /** What the kernel limits for all processes of the group together. */
  readonly limited: readonly Controller[];
  /** Counts the processes that the kernel has killed since the group was created, because its memory was used up. */
  countKills(): number;
  /**
   * Stops all processes of the group, whatever signals they get: one that is killed meanwhile may end only when they go on. Undefined where
   * the kernel cannot do that.
   * @returns lets them go on
   */
  readonly freeze?: () => () => void;
  close(): Promise<void>;
}

export type Controller = "memory" | "pids";
/** What a group is for: to limit something, or to be stopped as a whole. */
type Purpose = Controller | "freezer";

interface GroupLimits {
  readonly processes: number;
  readonly memoryBytes: number;
}

/** Bubblewrap itself takes one or two processes. */
const OWN_PROCESSES = 4;
/** The harness ends a command that exceeds its memory, and says so; the kernel kills a process that is faster than that. */
const MEMORY_FACTOR = 11 / 10;
const CGROUPS = "/sys/fs/cgroup";
const NAME = /^runyard-(\d+)$/;

/** The files of a limit, in version 2 and version 1 (cgroups(7)); those behind the first may be missing. */
const LIMIT_FILES = {
  memory: [
    ["memory.max", "memory.swap.max"],
    ["memory.limit_in_bytes", "memory.memsw.limit_in_bytes"],
  ],
  pids: [["pids.max"]],
  freezer: [["cgroup.freeze"], ["freezer.state"]],
} as const;
/** What to write there to stop a group, and to let it go on. */
const FREEZE = { "cgroup.freeze": ["1", "0"], "freezer.state": ["FROZEN", "THAWED"] } as const;

/**
 * Creates cgroups that limit the memory and the number of processes. The kernel's limit per user does not apply to root, but root may create
 * a cgroup, whose limit applies to all. Other users may create one for memory where the system has delegated its parent to them.
 * @param own the harness's cgroups, as in /proc/self/cgroup
 * @param list lists the directories to create one in, in the order in which they are tried
 * @returns undefined if no cgroup can be created: the harness then measures memory, and counts the processes of root
 */
export function openProcessGroup(
  limits: GroupLimits,
  own = readProcFile("/proc/self/cgroup"),
  list = listParents,
): ProcessGroup | undefined {
  if (process.platform !== "linux") return undefined;
  const isRoot = process.getuid?.() === 0;
  const groups = new Map<Controller, string>();
  for (const controller of isRoot ? (["memory", "pids"] as const) : (["memory"] as const)) {
    const group = openGroup(controller, limits, list(own, controller), [...groups.values()]);
    if (group !== undefined) groups.set(controller, group);
  }
  // In version 2, a process has one group only.
  const freezer = [...groups.values()].find(thaw) ?? openGroup("freezer", limits, list(own, "freezer"), []);
  const folders = [...new Set([...(freezer === undefined ? [] : [freezer]), ...groups.values()])];
  if (folders.length === 0) return undefined;
  const memory = groups.get("memory");
  const members = folders.map((folder) => join(folder, "cgroup.procs"));
  const enterAll = members.map((_, index) => `echo $$ > "$${index}"`).join(" && ");
  const skip = members.length > 1 ? `shift ${members.length - 1} && ` : "";
  return {
    enter: ["/bin/sh", "-c", `${enterAll} && ${skip}exec "$@"`, ...members],
    limited: [...groups.keys()],
    ...(freezer === undefined ? {} : { freeze: () => freeze(freezer) }),
    countKills: () => (memory === undefined ? 0 : readKills(memory)),
    close: async () => {
      for (const folder of folders) thaw(folder);
      await Promise.all(folders.map(remove));
    },
  };
}

/**
 * Creates a group in the first directory that allows it, and limits it.
 * @param own the groups that limit something else already; in version 2, one limits both
 */
function openGroup(purpose: Purpose, limits: GroupLimits, parents: readonly string[], own: readonly string[]) {
  for (const parent of parents) {
    const group = join(parent, `runyard-${process.pid}`);
    try {
      removeAbandoned(parent);
      if (!own.includes(group)) mkdirSync(group);
    } catch {
      continue;
    }
    if (prepareGroup(group, purpose, limits) && canEnter(group)) return group;
    // Without the controller, or outside of the file system of cgroups, it is just a directory.
    if (!own.includes(group)) rmdirSync(group);
  }
  return undefined;
}

function prepareGroup(group: string, purpose: Purpose, limits: GroupLimits): boolean {
  return purpose === "freezer" ? thaw(group) : limitGroup(group, purpose, limits);
}

function freeze(group: string): () => void {
  writeState(group, 0);
  return () => void thaw(group);
}

const thaw = (group: string): boolean => writeState(group, 1);

const writeState = (group: string, index: 0 | 1): boolean =>
  LIMIT_FILES.freezer.some(([file]) => writeControl(join(group, file), FREEZE[file][index]));

function limitGroup(group: string, controller: Controller, { processes, memoryBytes }: GroupLimits): boolean {
  const limit = controller === "pids" ? processes + OWN_PROCESSES : Math.round(memoryBytes * MEMORY_FACTOR);
  for (const [file, swap] of LIMIT_FILES[controller]) {
    if (!writeControl(join(group, file), String(limit))) continue;
    // Version 1 limits memory and swap together.
    if (swap !== undefined) writeControl(join(group, swap), swap === "memory.swap.max" ? "0" : String(limit));
    return true;
  }
  return false;
}

/** The kernel has made the file; in a plain directory it must not be created. */
function writeControl(file: string, content: string): boolean {
  try {
    writeFileSync(file, content, { flag: "r+" });
    return true;
  } catch {
    return false;
  }
}

/** Whether a process may be moved to the group. For root it is; for others it depends on the directories above it too. */
const canEnter = (group: string): boolean =>
  process.getuid?.() === 0 ||
  spawnSync("/bin/sh", ["-c", 'echo $$ > "$0"', join(group, "cgroup.procs")], { stdio: "ignore" }).status === 0;

const readKills = (group: string): number =>
  ["memory.events", "memory.oom_control"].reduce((sum, file) => {
    const [, kills] = /^oom_kill (\d+)$/m.exec(readProcFile(join(group, file))) ?? [];
    return sum + Number(kills ?? 0);
  }, 0);

/**
 * Lists where a group may be created: in the harness's own cgroup, next to it if that one may have no children, or in the root of the
 * hierarchy, which is the own cgroup of a container although it has another path.
 * @param own the harness's cgroups, as in /proc/self/cgroup (cgroups(7)): of version 2, or of version 1 with the controller
 */
export function listParents(own: string, controller: Purpose): string[] {
  const roots = [CGROUPS, join(CGROUPS, controller)];
  const paths = own.split("\n").flatMap((line) => {
    const [, controllers = "", path = ""] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (path === "") return [];
    if (controllers === "") return [resolve(CGROUPS, `.${path}`)];
    return controllers.split(",").includes(controller) ? [resolve(CGROUPS, controller, `.${path}`)] : [];
  });
  const near = paths.flatMap((path) => (roots.includes(path) ? [path] : [path, dirname(path)]));
  return [...new Set([...near, ...roots])];
}

/** Removes the groups of killed harnesses. */
function removeAbandoned(parent: string): void {
  for (const name of readdirSync(parent)) {
    const [, pid] = NAME.exec(name) ?? [];
    if (pid === undefined || readProcFile(`/proc/${pid}/stat`) !== "") continue;
    // Killed processes of a group that is stopped end now.
    thaw(join(parent, name));
    try {
      rmdirSync(join(parent, name));
    } catch {
      // The group still has a process.
    }
  }
}

/** How often a group is tried to be removed, and the delay between two tries. */
const MAX_TRIES = 40;
const RETRY_MS = 25;

/** Removes a group, which is possible once the parent has reaped its last process. */
async function remove(group: string): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    try {
      rmdirSync(group);
      return;
    } catch {
      await sleep(RETRY_MS);
    }
  }
}
