import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { FakeControlPlane, type RunGiven } from "../../../lab/fake-control-plane.ts";
import { startHarness } from "../../harness/support/run-harness.ts";

export const MIB = 1024 * 1024;

/** Fenced blocks, each a separate command. */
export const sh = (...commands: readonly string[]) => commands.map((it) => `\`\`\`sh\n${it}\n\`\`\`\n`).join("\n");

/** A Python program as one command; it must not contain the line `EOF`. */
export const python = (...lines: readonly string[]) => `python3 - <<'EOF'\n${lines.join("\n")}\nEOF`;

/** The state of the whole machine, as seen from outside all sandboxes. */
export interface HostState {
  readonly availableMib: number;
  readonly processes: number;
  readonly freeMib: number;
}

export function hostState(): HostState {
  const { bavail, bsize } = statfsSync(tmpdir());
  const [, available = "0"] = /^MemAvailable:\s+(\d+)/m.exec(readFileSync("/proc/meminfo", "latin1")) ?? [];
  return {
    availableMib: Number(available) / 1024,
    processes: readdirSync("/proc").filter((name) => /^\d+$/.test(name)).length,
    freeMib: (bavail * bsize) / MIB,
  };
}

/** Records the host's maximum usage until `stop`. */
export function watchHost() {
  const before = hostState();
  const worst = { memoryMib: 0, processes: 0, diskMib: 0 };
  const timer = setInterval(() => {
    const now = hostState();
    worst.memoryMib = Math.max(worst.memoryMib, before.availableMib - now.availableMib);
    worst.processes = Math.max(worst.processes, now.processes - before.processes);
    worst.diskMib = Math.max(worst.diskMib, before.freeMib - now.freeMib);
  }, 50);
  return {
    /** Returns by how much the usage grew at most; the machine has other work too. */
    stop() {
      clearInterval(timer);
      return worst;
    },
  };
}

/** A run in bubblewrap with a temporary directory of its own. */
export class Probe implements AsyncDisposable {
  readonly plane: FakeControlPlane;
  /** The host's directory for temporary files, as this run's harness sees it. */
  readonly tmp = mkdtempSync(join(tmpdir(), "escape-test-"));

  private constructor(plane: FakeControlPlane) {
    this.plane = plane;
  }

  static async of(given: RunGiven): Promise<Probe> {
    return new Probe(await FakeControlPlane.start(given));
  }

  /** Starts the harness as a separate process. */
  start(environment: Readonly<Record<string, string>> = {}) {
    return startHarness(this.plane, { RUNYARD_SANDBOX: "bubblewrap", TMPDIR: this.tmp, ...environment });
  }

  /** Returns what is left of the run on the host: files, and processes with its marker. */
  async leftovers(): Promise<string[]> {
    const mark = `RUNYARD_EXECUTION=${this.plane.executionId}`;
    const look = () => [
      ...readdirSync(this.tmp).filter((name) => name.startsWith("runyard-")),
      ...processesWith((pid) => readEnvironment(pid).includes(mark)),
    ];
    // The kernel takes a moment to remove a namespace with hundreds of processes.
    for (let tries = 0; tries < 20 && look().length > 0; tries++) await sleep(250);
    return look();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.plane[Symbol.asyncDispose]();
    rmSync(this.tmp, { recursive: true, force: true });
  }
}

/** Runs these commands to their end. */
export async function probe(
  commands: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  given: Omit<RunGiven, "prompt"> = {},
): Promise<Probe> {
  const it = await Probe.of({ prompt: sh(...commands), ...given });
  await it.start(environment).ended;
  return it;
}

/** Counts the host's processes whose command line contains a mark, except for zombies. */
export function processesNamed(mark: string): number {
  const lines = execFileSync("ps", ["-eo", "stat,args"], { encoding: "utf8" }).split("\n");
  return lines.filter((line) => !line.startsWith("Z") && line.includes(mark)).length;
}

const processesWith = (matches: (pid: string) => boolean): string[] =>
  readdirSync("/proc").filter((name) => /^\d+$/.test(name) && matches(name));

function readEnvironment(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1");
  } catch {
    return "";
  }
}
