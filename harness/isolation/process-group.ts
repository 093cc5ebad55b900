import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** A group of processes whose number the kernel holds. */
export interface ProcessGroup {
  /** Program and arguments that start what follows them as a member of the group. */
  readonly enter: readonly [string, ...string[]];
  close(): Promise<void>;
}

const CGROUPS = "/sys/fs/cgroup";
const NAME = /^runyard-(\d+)$/;

/**
 * The kernel counts processes by their user and lets root have as many as there can be; as root, though, one may make a cgroup, which
 * has a limit for everybody.
 * @returns undefined where the harness is not root's, whose commands' own limits hold, and where no cgroup can be made: then the harness
 * itself counts
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
      // Bubblewrap itself is one or two of them.
      writeFileSync(join(group, "pids.max"), String(most + 4));
      const enter = ["/bin/sh", "-c", 'echo $$ > "$0" && exec "$@"', join(group, "cgroup.procs")] as const;
      return { enter, close: () => remove(group) };
    } catch {
      // Without this controller it is just a directory.
      rmdirSync(group);
    }
  }
  return undefined;
}

/** Where a group could be made: in the harness's own one, or beside it where that one may hold no others. */
function listParents(): string[] {
  const lines = readTextFile("/proc/self/cgroup").split("\n");
  const own = lines.flatMap((line) => {
    const [, controllers = "", path = ""] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (controllers === "") return [join(CGROUPS, path)];
    return controllers.split(",").includes("pids") ? [join(CGROUPS, "pids", path)] : [];
  });
  return own.flatMap((path) => (path === CGROUPS ? [path] : [path, dirname(path)]));
}

/** Groups of harnesses that were killed. */
function removeAbandoned(parent: string): void {
  for (const name of readdirSync(parent)) {
    const [, pid] = NAME.exec(name) ?? [];
    if (pid === undefined || readTextFile(`/proc/${pid}/stat`) !== "") continue;
    try {
      rmdirSync(join(parent, name));
    } catch {
      // Somebody is still in it.
    }
  }
}

/** A group can be removed once its last process has been seen off by its parent. */
async function remove(group: string): Promise<void> {
  for (let tries = 0; tries < 40; tries++) {
    try {
      rmdirSync(group);
      return;
    } catch {
      await sleep(25);
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
