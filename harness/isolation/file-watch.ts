import { setTimeout as sleep } from "node:timers/promises";
import { putBesideHarness } from "./limits.ts";
import type { Machine } from "./machine.ts";
import { freezeProcesses } from "./process-states.ts";
import type { Meter } from "./resource-meter.ts";

/** Counts the files of a run, which belong to no command, for all of its commands. */
export interface FileWatch {
  /** Looks early when a command begins: its first files may be too many before its first regular look. */
  begin(): void;
  /** Counts them if that is necessary, and removes files until the others are within the limits. */
  look(now: Machine): void;
  /** The same while the harness does other things that take long, no more often than necessary. */
  lookAgain(): void;
  /**
   * Counts them after a command: its files stay, with nobody to count them until the next one.
   * @returns undefined if that is not necessary
   */
  settle(now: Machine): Promise<void> | undefined;
}

/** The delay before the files are counted again: this, and this many times as long as the last count took. */
const COUNT_MS = 1_000;
const COUNT_FACTOR = 10;
/** The same where the disk has lost too little for the run to be the cause, unless others have freed as much. */
const SURE_COUNT_MS = 60_000;
const SURE_COUNT_FACTOR = 30;
/**
 * The least delay, in the same way, once the disk has lost nearly as much as the run had left at the last count. There is none if that count
 * found that the run itself uses much: it may be above its limits by now.
 */
const URGENT_COUNT_FACTOR = 2;
/** The delay before the second count where files may be hidden. */
const DOUBT_MS = 200;
/** The least delay between two looks, where the limits could be reached before the next regular one. */
const MIN_LOOK_MS = 2;
/** What a run's files may grow by in a second before anybody has measured it: a few programs at once do on two processors. */
const SUDDEN_GROWTH = { diskBytes: 4 * 1024 ** 3, files: 200_000 };

/**
 * Once the run may be near its limits, the commands are stopped (SIGSTOP, and as a group where the kernel can) until its files are counted.
 * So they do not write more meanwhile, and the count and the removal of files do not wait for dozens of them. The nearer the limits are, the
 * more often this looks whether they are reached.
 * @param everyMs milliseconds between two regular looks
 */
export function createFileWatch(meter: Meter, everyMs: number): FileWatch {
  let againAt = Number.NEGATIVE_INFINITY;
  let urgentlyAt = 0;
  let surelyAt = performance.now() + SURE_COUNT_MS;
  let isDoubtful = false;
  let counting: Promise<void> | undefined;
  let hold: ReturnType<typeof stopCommands> | undefined;
  const count = async (): Promise<void> => {
    try {
      // They have to wait as well: otherwise a run near its limits would grow until the next count.
      const waitMs = urgentlyAt - performance.now();
      if (hold !== undefined && waitMs > 0) await sleep(waitMs);
      const startedAt = performance.now();
      const { why, isHidden, isHigh } = await meter.findFileExcess(isDoubtful);
      // Another process may be filling the disk, so counting must not take much of the harness's time.
      const endedAt = performance.now();
      const took = endedAt - startedAt;
      againAt = endedAt + (isHidden && !isDoubtful ? DOUBT_MS : COUNT_MS + COUNT_FACTOR * took);
      urgentlyAt = isHigh ? endedAt : endedAt + URGENT_COUNT_FACTOR * took;
      surelyAt = endedAt + SURE_COUNT_MS + SURE_COUNT_FACTOR * took;
      isDoubtful = isHidden;
      if (why === undefined) return;
      hold ??= stopCommands(meter);
      for (const pid of meter.listProcesses()) putBesideHarness(pid);
      for (const exceeded of meter.watched.values()) exceeded(why);
      hold.thawGroup();
      await meter.shrinkFiles();
    } finally {
      await hold?.thaw();
      hold = undefined;
    }
  };
  const start = (now: Machine): Promise<void> => {
    if (meter.isNearlyFull(now) || isDoubtful) hold ??= stopCommands(meter);
    counting ??= count().finally(() => {
      counting = undefined;
      findDelay = createForecast(meter);
      if (meter.watched.size > 0) look(meter.measureNow());
    });
    return counting;
  };
  const isDue = (now: Machine): boolean =>
    meter.isNearlyFull(now) || performance.now() > (meter.isFull(now) ? againAt : Math.max(againAt, surelyAt));
  let findDelay = createForecast(meter);
  let early: NodeJS.Timeout | undefined;
  let lookedAt = 0;
  const look = (now: Machine): void => {
    lookedAt = performance.now();
    if (counting !== undefined ? meter.isNearlyFull(now) : isDue(now)) void start(now);
    if (counting === undefined || hold === undefined) lookEarly(now);
  };
  const lookEarly = (now: Machine): void => {
    const delay = Math.max(MIN_LOOK_MS, findDelay(now));
    if (early !== undefined || delay >= everyMs) return;
    early = setTimeout(() => {
      early = undefined;
      if (meter.watched.size > 0) look(meter.measureNow());
    }, delay).unref();
  };
  return {
    begin: () => lookEarly(meter.latest()),
    look,
    lookAgain() {
      if (performance.now() - lookedAt > MIN_LOOK_MS) look(meter.measureNow());
    },
    settle: (now) => (counting !== undefined || isDue(now) ? start(now) : undefined),
  };
}

/** Stops the commands. A program can let a timer send it SIGCONT; where the kernel can stop them as a group, no signal makes it go on. */
function stopCommands(meter: Meter) {
  const thawGroup = meter.freeze();
  const stopped = freezeProcesses(meter.listProcesses, false);
  return {
    thawGroup,
    thaw: async (): Promise<void> => {
      thawGroup();
      (await stopped)();
    },
  };
}

/**
 * Returns a function that tells after how many milliseconds the run may be near its limits: at the speed since it was last called, or sooner,
 * since programs that have done nothing yet may begin.
 */
function createForecast({ findLeft }: Meter) {
  let last: { readonly at: number; readonly left: ReturnType<typeof findLeft> } | undefined;
  return (now: Machine): number => {
    const [at, left] = [performance.now(), findLeft(now)];
    const passed = at - (last?.at ?? at);
    const before = last?.left ?? left;
    // Each command has its own looks, which may follow each other at once.
    if (last === undefined || passed >= MIN_LOOK_MS) last = { at, left };
    const delays = (["diskBytes", "files"] as const).map((name) => {
      const measured = passed > 0 ? (before[name] - left[name]) / passed : 0;
      return Math.max(0, left[name]) / Math.max(measured, SUDDEN_GROWTH[name] / 1000);
    });
    return Math.min(...delays);
  };
}
