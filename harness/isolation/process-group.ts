import { mkdirSync, readdirSync, rmdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readProcFile } from "./proc-files.ts";

/** A process group whose size the kernel limits. */
export interface ProcessGroup {
  /** Program and arguments that run a command as a member of the group. */
  readonly enter: readonly [string, ...string[]];
  close(): Promise<void>;
}

/** Bubblewrap itself takes one or two processes. */
const OWN_PROCESSES = 4;
const CGROUPS = "/sys/fs/cgroup";
/** The root of version 2, and of the hierarchy of version 1 that counts processes. */
const ROOTS: readonly string[] = [CGROUPS, join(CGROUPS, "pids")];
const NAME = /^runyard-(\d+)$/;

/**
 * Creates a cgroup that limits the number of processes. The kernel's limit per user does not apply to root, but root may create a cgroup,
 * whose limit applies to all.
 * @param parents directories to create it in, tried in their order
 * @returns undefined if the harness is not root, since the limit per user applies, or if no cgroup can be created: the harness then counts
 * processes itself
 */
export function openProcessGroup(
  most: number,
  parents = listParents(readProcFile("/proc/self/cgroup")),
): ProcessGroup | undefined {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return undefined;
  for (const parent of parents) {
    const group = join(parent, `runyard-${process.pid}`);
    try {
      removeAbandoned(parent);
      mkdirSync(group);
    } catch {
      continue;
    }
    try {
      // The kernel has made the file; in a plain directory it must not be created.
      writeFileSync(join(group, "pids.max"), String(most + OWN_PROCESSES), { flag: "r+" });
      const enter = ["/bin/sh", "-c", 'echo $$ > "$0" && exec "$@"', join(group, "cgroup.procs")] as const;
      return { enter, close: () => remove(group) };
    } catch {
      // Without the pids controller, or outside of the file system of cgroups, it is just a directory.
      rmdirSync(group);
    }
  }
  return undefined;
}

/**
 * Lists where a group may be created: in the harness's own cgroup, next to it if that one may have no children, or in the root of the
 * hierarchy, which is the own cgroup of a container although it has another path.
 * @param own the harness's cgroups, as in /proc/self/cgroup (cgroups(7)): of version 2, or of version 1 with the pids controller
 */
export function listParents(own: string): string[] {
  const paths = own.split("\n").flatMap((line) => {
    const [, controllers = "", path = ""] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (path === "") return [];
    if (controllers === "") return [resolve(CGROUPS, `.${path}`)];
    return controllers.split(",").includes("pids") ? [resolve(CGROUPS, "pids", `.${path}`)] : [];
  });
  const near = paths.flatMap((path) => (ROOTS.includes(path) ? [path] : [path, dirname(path)]));
  return [...new Set([...near, ...ROOTS])];
}

/** Removes the groups of killed harnesses. */
function removeAbandoned(parent: string): void {
  for (const name of readdirSync(parent)) {
    const [, pid] = NAME.exec(name) ?? [];
    if (pid === undefined || readProcFile(`/proc/${pid}/stat`) !== "") continue;
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
