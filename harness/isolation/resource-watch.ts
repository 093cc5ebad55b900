import { dirname } from "node:path";
import type { Machine } from "./machine.ts";
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

export interface WatchOptions extends MeterOptions {
  /** Milliseconds between two measurements. @default 100 */
  readonly everyMs?: number;
}

/** The delay before the run's files are counted again: this, and this many times as long as the last count took. */
const COUNT_MS = 1_000;
const COUNT_FACTOR = 10;
/** The same where the disk has lost too little for the run to be the cause, unless others have freed as much. */
const SURE_COUNT_MS = 60_000;
const SURE_COUNT_FACTOR = 30;
/** The least delay, in the same way, once the disk has lost more than the run had left at the last count. */
const URGENT_COUNT_FACTOR = 2;
/** The delay before the second count where files may be hidden. */
const DOUBT_MS = 300;
const MEASURE_MS = 100;

/**
 * Without cgroups, which need an administrator, the kernel limits neither the total memory of several processes nor the total size of a
 * directory. So the watch measures the machine ten times a second, which costs almost nothing, and measures the command's processes and the
 * run's files when the machine has lost so many resources since the start of the run that this run may be the cause. A command that grows
 * faster exceeds its limit for a moment.
 */
export function createWatch(options: WatchOptions): Watch {
  const meter = createMeter(options);
  const { everyMs = MEASURE_MS } = options;
  return { command: (pid, onExceeded) => watchCommand(pid, onExceeded, meter, everyMs) };
}

/** Watches one command until the returned function is called. */
function watchCommand(
  pid: number,
  onExceeded: (why: string) => void,
  meter: Meter,
  everyMs: number,
): () => Promise<void> {
  let measurements = 0;
  let countAgainAt = Number.NEGATIVE_INFINITY;
  let countUrgentlyAt = 0;
  let countSurelyAt = performance.now() + SURE_COUNT_MS;
  let isDoubtful = false;
  let isOver = false;
  let counting: Promise<void> | undefined;
  let shrinking: Promise<void> | undefined;
  meter.watched.add(pid);
  const exceeded = (why: string | undefined) => {
    if (why === undefined || isOver) return;
    stop();
    onExceeded(why);
  };
  const count = async () => {
    const startedAt = performance.now();
    const { why, isHidden } = await meter.findFileExcess(isDoubtful);
    // Another process may be filling the disk, so counting must not take much of the harness's time.
    const endedAt = performance.now();
    const took = endedAt - startedAt;
    countAgainAt = endedAt + (isHidden && !isDoubtful ? DOUBT_MS : COUNT_MS + COUNT_FACTOR * took);
    countUrgentlyAt = endedAt + URGENT_COUNT_FACTOR * took;
    countSurelyAt = endedAt + SURE_COUNT_MS + SURE_COUNT_FACTOR * took;
    isDoubtful = isHidden;
    if (why !== undefined) shrinking ??= meter.shrinkFiles();
    exceeded(why);
  };
  const isCountDue = (now: Machine): boolean => {
    const dueAt = meter.isFull(now) ? countAgainAt : Math.max(countAgainAt, countSurelyAt);
    return performance.now() > (meter.isFullAgain(now) ? Math.min(countUrgentlyAt, dueAt) : dueAt);
  };
  const startCount = (): Promise<void> => {
    counting ??= count().finally(() => {
      counting = undefined;
    });
    return counting;
  };
  const look = () => {
    exceeded(meter.takeKills());
    const now = meter.measureNow();
    measurements++;
    if (meter.hasLost(now) || meter.isDue(measurements)) exceeded(meter.findExcess(pid, now));
    if (!isOver && isCountDue(now)) void startCount();
  };
  const timer = setInterval(look, everyMs);
  const stop = () => {
    isOver = true;
    meter.watched.delete(pid);
    clearInterval(timer);
  };
  return async () => {
    if (!isOver) exceeded(meter.takeKills());
    // Its files stay, with nobody to count them until the next command.
    if (shrinking === undefined && isCountDue(meter.measureNow())) await startCount();
    stop();
    await shrinking;
  };
}

/** Watches the commands of an execution. @returns undefined if no other run shares the machine */
export function createSandboxWatch(sandbox: Sandbox, host: WorkspacePaths): Watch | undefined {
  const { limits, countKills } = sandbox;
  if (limits === undefined) return undefined;
  const shrink = createShrinking(sandbox, host, limits);
  return createWatch({ limits, folder: dirname(host.workspace), countKills, shrink });
}
