import { execFileSync } from "node:child_process";
import {
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statfsSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** What the kernel says that an execution uses, whatever its processes hide. */
export interface Use {
  readonly memoryBytes: number;
  readonly processes: number;
  readonly diskBytes: number;
  readonly files: number;
}

const CGROUPS = "/sys/fs/cgroup";
const DISK_BYTES = 3 * 1024 ** 3;
const MAX_FILES = 40_000;

/** A file system of its own for the files of executions, so that each block on it is theirs. */
export class Disk implements Disposable {
  readonly #image: string;
  readonly folder: string;
  #empty = { free: 0, files: 0 };

  constructor(folder: string, user: number) {
    this.#image = join(folder, "disk.img");
    this.folder = join(folder, "disk");
    mkdirSync(this.folder);
    writeFileSync(this.#image, "");
    truncateSync(this.#image, DISK_BYTES);
    execFileSync("mkfs.ext4", ["-q", "-F", "-m", "0", "-N", String(MAX_FILES), this.#image]);
    execFileSync("mount", ["-o", "loop,nosuid,nodev", this.#image, this.folder]);
    rmdirSync(join(this.folder, "lost+found"));
    chownSync(this.folder, user, user);
    this.reset();
  }

  /** What is on it from now on is the next execution's. */
  reset(): void {
    const { bfree, bsize, ffree } = statfsSync(this.folder);
    this.#empty = { free: bfree * bsize, files: ffree };
  }

  measure(): Pick<Use, "diskBytes" | "files"> {
    const { bfree, bsize, ffree } = statfsSync(this.folder);
    return { diskBytes: this.#empty.free - bfree * bsize, files: this.#empty.files - ffree };
  }

  list(): string[] {
    return readdirSync(this.folder);
  }

  [Symbol.dispose](): void {
    execFileSync("umount", ["--lazy", this.folder]);
    rmSync(this.#image);
  }
}

/** Cgroups that count what an execution uses. They limit nothing. */
export class Account {
  readonly #memory: string;
  readonly #pids: string;

  constructor(name: string) {
    this.#memory = join(CGROUPS, "memory", name);
    this.#pids = join(CGROUPS, "pids", name);
    for (const group of [this.#memory, this.#pids]) mkdirSync(group);
  }

  /** Arguments of `sh` that run a program in it. */
  enter(user: number): string[] {
    const become = user === 0 ? "" : `setpriv --reuid ${user} --regid ${user} --clear-groups `;
    return [
      "-c",
      `echo $$ > ${this.#memory}/cgroup.procs; echo $$ > ${this.#pids}/cgroup.procs; exec ${become}"$@"`,
      "sh",
    ];
  }

  /** @param harness the process of the harness, whose own use does not count */
  measure(harness: number): Pick<Use, "memoryBytes" | "processes"> {
    const stat = read(join(this.#memory, "memory.stat"));
    const own = Number(/^RssAnon:\s+(\d+)/m.exec(read(`/proc/${harness}/status`))?.[1] ?? 0) * 1024;
    const threads = Number(/^Threads:\s+(\d+)/m.exec(read(`/proc/${harness}/status`))?.[1] ?? 0);
    const field = (name: string) => Number(new RegExp(`^${name} (\\d+)`, "m").exec(stat)?.[1] ?? 0);
    return {
      memoryBytes: field("total_rss") + field("total_shmem") - own,
      processes: Number(read(join(this.#pids, "pids.current"))) - threads,
    };
  }

  /** The processes in it. */
  list(): string[] {
    return listGroups(this.#pids).flatMap((group) => read(join(group, "cgroup.procs")).split("\n").filter(Boolean));
  }

  /** Removes it. Returns the groups that somebody else has left in it. */
  async close(): Promise<string[]> {
    const remaining = [this.#memory, this.#pids].flatMap((group) => listGroups(group).slice(1));
    for (const group of [...remaining.toReversed(), this.#memory, this.#pids]) {
      for (let tries = 0; tries < 40; tries++) {
        try {
          rmdirSync(group);
          break;
        } catch {
          await sleep(50);
        }
      }
    }
    return remaining;
  }
}

const listGroups = (group: string): string[] => [
  group,
  ...readdirSync(group, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => listGroups(join(group, name))),
];

function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}
