import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { measureFiles, measureTrees } from "#harness/isolation/machine.ts";
import { FakeControlPlane, type RunGiven } from "../../../lab/fake-control-plane.ts";
import { startHarness } from "../../harness/support/run-harness.ts";

export const MIB = 1024 * 1024;

/** Fenced blocks, each a separate command. */
export const sh = (...commands: readonly string[]) => commands.map((it) => `\`\`\`sh\n${it}\n\`\`\`\n`).join("\n");

/** A Python program as one command; it must not contain the line `EOF`. */
export const python = (...lines: readonly string[]) => `python3 - <<'EOF'\n${lines.join("\n")}\nEOF`;

/** Counts the processes of the whole machine. */
export const countProcesses = (): number => readdirSync("/proc").filter((name) => /^\d+$/.test(name)).length;

/** The directories of the probes that exist. */
const folders = new Set<string>();
/** The delay before the runs are measured again, and this many times as long as the last measurement took: the control plane has the same process. */
const MEASURE_MS = 50;
const MEASURE_FACTOR = 4;
/** Memory above this is measured exactly: what processes share counts once. */
const ENOUGH_BYTES = 400 * MIB;

/** Measures the processes that this one has started, and the files of their runs. Other work of the machine does not count. */
async function measureRuns() {
  const { memoryBytes, tasks, unnamedBytes } = measureTrees([process.pid], Number.POSITIVE_INFINITY, ENOUGH_BYTES);
  const files = await Promise.all([...folders].map((folder) => measureFiles(folder, Number.POSITIVE_INFINITY)));
  const diskBytes = files.reduce((sum, { bytes }) => sum + bytes, unnamedBytes);
  return { memoryMib: memoryBytes / MIB, tasks, diskMib: diskBytes / MIB };
}

/** Records the maximum usage of the runs until `stop`, as seen from outside all sandboxes. */
export async function watchRuns() {
  const before = await measureRuns();
  const worst = { memoryMib: 0, tasks: 0, diskMib: 0 };
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      const startedAt = performance.now();
      const now = await measureRuns();
      worst.memoryMib = Math.max(worst.memoryMib, now.memoryMib - before.memoryMib);
      worst.tasks = Math.max(worst.tasks, now.tasks - before.tasks);
      worst.diskMib = Math.max(worst.diskMib, now.diskMib - before.diskMib);
      await sleep(MEASURE_MS + MEASURE_FACTOR * (performance.now() - startedAt));
    }
  })();
  return {
    async stop() {
      isOver = true;
      await watching;
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
    folders.add(this.tmp);
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
    folders.delete(this.tmp);
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
