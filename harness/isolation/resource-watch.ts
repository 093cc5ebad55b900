import { dirname } from "node:path";
import { createFileWatch, type FileWatch } from "./file-watch.ts";
import { limitToDisk } from "./machine.ts";
import { createMeter, type Meter, type MeterOptions } from "./resource-meter.ts";
import type { Sandbox, WorkspacePaths } from "./sandbox.ts";
import { createShrinking } from "./shrink-files.ts";

/** Detects that commands exceed the limits of a run. */
export interface Watch {
  /**
   * Watches one command until the returned function is called. Commands that are watched at once share the limits: the one that uses most
   * exceeds them. Each exceeds a limit of the run's files, which belong to no command.
   * @param onExceeded called once with the reason for the command's result: "it used more than 100 MiB of memory"
   * @returns stops watching, and resolves when the run's files are within their limits again
   */
  command(pid: number, onExceeded: (why: string) => void): () => Promise<void>;
}

export interface WatchOptions extends Omit<MeterOptions, "pause"> {
  /** Milliseconds between two measurements. @default 100 */
  readonly everyMs?: number;
}

const MEASURE_MS = 100;

/**
 * Without cgroups, which need an administrator, the kernel limits neither the total memory of several processes nor the total size of a
 * directory. So the watch measures the machine ten times a second, which costs almost nothing, and measures the command's processes and the
 * run's files when the machine has lost so many resources since the start of the run that this run may be the cause. A command that grows
 * faster exceeds its limit for a moment.
 */
export function createWatch(options: WatchOptions): Watch {
  const { everyMs = MEASURE_MS } = options;
  const meter = createMeter({ ...options, pause: () => files.lookAgain() });
  const files: FileWatch = createFileWatch(meter, everyMs);
  return { command: (pid, onExceeded) => watchCommand(pid, onExceeded, { meter, files, everyMs }) };
}

interface WatchParts {
  readonly meter: Meter;
  readonly files: FileWatch;
  readonly everyMs: number;
}

/** Watches one command until the returned function is called. */
function watchCommand(
  pid: number,
  onExceeded: (why: string) => void,
  { meter, files, everyMs }: WatchParts,
): () => Promise<void> {
  let measurements = 0;
  let isOver = false;
  // What the kernel has killed since the last command ended was a process that this one had left behind.
  if (meter.watched.size === 0) meter.takeKills();
  const exceeded = (why: string | undefined) => {
    if (why === undefined || isOver) return;
    end();
    onExceeded(why);
  };
  meter.watched.set(pid, exceeded);
  const look = () => {
    exceeded(meter.takeKills());
    const now = meter.measureNow();
    measurements++;
    // First, because the other measurement can take long.
    if (!isOver) files.look(now);
    if (meter.hasLost(now) || meter.isDue(measurements)) exceeded(meter.findExcess(pid, now));
  };
  const timer = setInterval(look, everyMs);
  files.begin();
  const end = () => {
    isOver = true;
    meter.watched.delete(pid);
    clearInterval(timer);
  };
  let ending: Promise<void> | undefined;
  const stop = async () => {
    // Also where the command is over: the kernel may have killed it meanwhile, and that is no later command's.
    try {
      exceeded(meter.takeKills());
      const settled = files.settle(meter.measureNow());
      if (settled !== undefined) await settled;
    } finally {
      end();
    }
  };
  return () => {
    ending ??= stop();
    return ending;
  };
}

/** Watches the commands of an execution. @returns undefined if no other run shares the machine */
export function createSandboxWatch(sandbox: Sandbox, host: WorkspacePaths): Watch | undefined {
  const { limits, countKills, freeze } = sandbox;
  if (limits === undefined) return undefined;
  const folder = dirname(host.workspace);
  const counted = limitToDisk(folder, limits);
  const shrink = createShrinking(sandbox, host, counted);
  return createWatch({ limits, folder, counted, countKills, freeze, shrink });
}
