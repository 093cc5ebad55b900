import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** A process group whose size the kernel limits. */
export interface ProcessGroup {
  /** Program and arguments that run a command as a member of the group. */
  readonly enter: readonly [string, ...string[]];
  close(): Promise<void>;
}

/** Bubblewrap itself takes one or two processes. */
const OWN_PROCESSES = 4;
const CGROUPS = "/sys/fs/cgroup";
const NAME = /^runyard-(\d+)$/;

/**
 * Creates a cgroup that limits the number of processes. The kernel's limit per user does not apply to root, but root may create a cgroup,
 * whose limit applies to all.
 * @returns undefined if the harness is not root, since the limit per user applies, or if no cgroup can be created: the harness then counts
 * processes itself
 */
export function openProcessGroup(most: number): ProcessGroup | undefined {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return undefined;
  for (const parent of listParents()) {
    const group = join(parent, `runyard-${process.pid}`);
    try {
      removeAbandoned(parent);
      mkdirSync(group);
    } catch {
      continue;
    }
    try {
      writeFileSync(join(group, "pids.max"), String(most + OWN_PROCESSES));
      const enter = ["/bin/sh", "-c", 'echo $$ > "$0" && exec "$@"', join(group, "cgroup.procs")] as const;
      return { enter, close: () => remove(group) };
    } catch {
      // Without the pids controller it is just a directory.
      rmdirSync(group);
    }
  }
  return undefined;
}

/** Lists where a group may be created: in the harness's own cgroup, or next to it if that one may have no children. */
function listParents(): string[] {
  const lines = readTextFile("/proc/self/cgroup").split("\n");
  const own = lines.flatMap((line) => {
    const [, controllers = "", path = ""] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (controllers === "") return [join(CGROUPS, path)];
    return controllers.split(",").includes("pids") ? [join(CGROUPS, "pids", path)] : [];
  });
  return own.flatMap((path) => (path === CGROUPS ? [path] : [path, dirname(path)]));
}

/** Removes the groups of killed harnesses. */
function removeAbandoned(parent: string): void {
  for (const name of readdirSync(parent)) {
    const [, pid] = NAME.exec(name) ?? [];
    if (pid === undefined || readTextFile(`/proc/${pid}/stat`) !== "") continue;
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

function readTextFile(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}
