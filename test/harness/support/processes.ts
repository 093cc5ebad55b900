import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** Counts the processes that `sleep` for this long; a test marks its own by an unlikely number. */
export function sleepers(mark: string): number {
  const lines = execFileSync("ps", ["-eo", "stat,args"], { encoding: "utf8" }).split("\n");
  return lines.filter((line) => /^[^Z]\S*\s+sleep (\d+)$/.exec(line)?.[1] === mark).length;
}

let marks = 0;

/** An unlikely number of seconds. */
export const newMark = (): string => `${process.pid}${Date.now() % 1_000_000}${++marks}`;

/** The command line of every process of this machine, which any user can read. */
export function commandLines(): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8");
      } catch {
        return "";
      }
    });
}

/** The user and network namespaces that this process keeps open, such as `net:[4026531840]`. */
export function listNamespaceDescriptors(): string[] {
  const targets = readdirSync("/proc/self/fd").map((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`);
    } catch {
      // This was the descriptor of the directory listing.
      return "";
    }
  });
  return targets.filter((target) => /^(user|net):/.test(target)).toSorted();
}
