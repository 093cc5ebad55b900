import { setPriority } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { logLine } from "#shared/log/log.ts";
import {
  discardHarness,
  isRunning,
  type Program,
  runExecution,
  startHarness,
  type WaitingHarness,
} from "#shared/sandbox/harness-process.ts";
import { type PlacedSandbox, type Sandbox, StartDeferred } from "#shared/sandbox/sandbox.ts";
import type { Envelope } from "#shared/wire/harness.ts";
import type { ExecutionLog } from "./execution-log.ts";
import { IdleMemory } from "./idle-memory.ts";

/** Milliseconds from the request to end until a harness is killed. */
const GRACE_MS = 5_000;
/** Milliseconds that a harness has to end by itself after its run has ended. */
const EXIT_MS = 10_000;
/**
 * Executions that wait for their children occupy a place while the children need one. After this time without any start or
 * end, one more execution is started, up to a multiple of the limit.
 */
const STALL_MS = 10_000;
const MAX_STRETCH = 4;
/** Executions above the limit, for owners that have none. */
const RESERVED = 1;
/** The increment of the `nice` value for each execution that the owner already has, and its maximum. */
const NICER = 4;
const NICEST = 12;

interface RunEnd {
  readonly isCancelled: boolean;
  /** Its current execution, or its last one. */
  readonly current: string | undefined;
  /** Whether the execution still runs and has only released its slot. */
  readonly isWaiting?: boolean;
}

interface Execution {
  readonly runId: string;
  /** Undefined for an execution that no queue delivered. */
  readonly owner: string | undefined;
  readonly stop: AbortController;
  readonly ended: Promise<unknown>;
}

export interface ProcessSandboxOptions {
  /** The program of the harness. */
  program(): Program;
  /** Maximum number of concurrent executions; one more is started for an owner that has none. */
  readonly concurrency: number;
  /** Seconds that an execution may take; its run continues in the next one. @default without a limit */
  readonly seconds?: number | undefined;
  readonly log: ExecutionLog;
  /** Takes the lines that harnesses print. */
  print(line: string): void;
  /** Called when there may be room for another execution. */
  onRoom(): void;
}

/** Sandboxes that are processes of this machine: each execution is one harness, which isolates its commands. */
export class ProcessSandbox implements Sandbox {
  readonly #options: ProcessSandboxOptions;
  readonly #running = new Map<string, Execution>();
  readonly #watch: NodeJS.Timeout;
  readonly #memory = new IdleMemory();
  #changedAt = performance.now();
  #isClosed = false;
  /** Owners of the runs that are being dispatched. */
  readonly #expected = new Map<string, string>();
  /** The harness that the next execution gets. While all places are taken, it is kept for an owner that has none. */
  #waiting: Promise<WaitingHarness | undefined> | undefined;

  constructor(options: ProcessSandboxOptions) {
    this.#options = options;
    this.#watch = setInterval(() => this.#isStalled() && options.onRoom(), STALL_MS).unref();
  }

  async start(envelope: Envelope): Promise<undefined> {
    if (this.#isClosed) throw new StartDeferred("the server is stopping");
    const { execution_id: id, run_id: runId } = envelope;
    if (this.#running.has(id)) return;
    this.#options.log.add(id, runId);
    const stop = new AbortController();
    const program = this.#options.program();
    const { print, seconds } = this.#options;
    const limit = seconds === undefined ? {} : { deadline_at: Date.now() + seconds * 1000 };
    const contained = program.environment?.["RUNYARD_SANDBOX"]?.startsWith("bubblewrap") === true;
    const options = { program, contained, print, stop: stop.signal, graceMs: GRACE_MS };
    const owner = this.#expected.get(runId);
    const ofOwner = this.#count(owner);
    const takesWaiting = ofOwner === 0 || this.#running.size + 1 < this.#options.concurrency;
    const ended = (takesWaiting ? this.#takeWaiting() : this.#startNow(id))
      .then((harness) => {
        yieldProcessor(harness, Math.min(ofOwner * NICER, NICEST));
        return runExecution({ ...envelope, ...limit }, { ...options, waiting: harness });
      })
      .catch((error: unknown) => logLine("error", "an execution failed", { run_id: runId, execution_id: id, error }))
      .finally(() => this.#remove(id));
    this.#running.set(id, { runId, owner, stop, ended });
    this.#memory.begin();
    this.#changedAt = performance.now();
    if (this.#isFull()) this.prepare();
  }

  /** Records the owner of a run that is being dispatched, until the record is removed. */
  expect = (runId: string, owner: string): void => void this.#expected.set(runId, owner);

  forget = (runId: string): void => void this.#expected.delete(runId);

  async stop({ executionId }: PlacedSandbox): Promise<boolean> {
    this.#running.get(executionId)?.stop.abort();
    return !this.#running.has(executionId);
  }

  /**
   * Starts a harness ahead, which the next execution gets, unless there is one or nothing has room. It is used once. Until then it
   * is idle: its sandbox is prepared and its code is loaded.
   */
  prepare(): void {
    if (this.#isClosed || this.#waiting !== undefined || !this.hasRoom(0)) return;
    this.#waiting = this.#startNow();
  }

  /** Returns undefined if it cannot be started, which the execution then reports. */
  async #startNow(mark?: string): Promise<WaitingHarness | undefined> {
    return startHarness(this.#options.program(), mark).catch((error: unknown) => {
      logLine("warn", "a harness could not be started", { error });
      return undefined;
    });
  }

  async #takeWaiting(): Promise<WaitingHarness | undefined> {
    const next = this.#waiting;
    this.#waiting = undefined;
    const waiting = await next;
    if (waiting === undefined || isRunning(waiting.child)) return waiting;
    await discardHarness(waiting);
    return undefined;
  }

  /** Returns true if another execution may be started while `starting` others are, at least for an owner that has none. */
  hasRoom(starting: number): boolean {
    if (this.#isClosed) return false;
    const count = this.#running.size + starting;
    return count < this.#options.concurrency + RESERVED || (starting === 0 && this.#isStalled());
  }

  /** Returns true if an execution of this owner may be started while `starting` others are, `ofOwner` of them the owner's. */
  hasRoomFor(owner: string, starting: number, ofOwner: number): boolean {
    if (!this.hasRoom(starting)) return false;
    if (this.#running.size + starting < this.#options.concurrency) return true;
    return (this.#count(owner) === 0 && ofOwner === 0) || (starting === 0 && this.#isStalled());
  }

  #isFull = (): boolean => this.#running.size >= this.#options.concurrency;

  #count(owner: string | undefined): number {
    return [...this.#running.values()].filter((execution) => execution.owner === owner).length;
  }

  isRunning = (runId: string): boolean => [...this.#running.values()].some((execution) => execution.runId === runId);

  /**
   * Ends the executions of a run that has ended: at once if it was cancelled or has another execution, else if they do not exit. The
   * current one of a run that waits for a follow-up goes on.
   */
  endRun(runId: string, { isCancelled, current, isWaiting = false }: RunEnd): void {
    for (const [id, execution] of this.#running) {
      if (execution.runId !== runId || (isWaiting && current === id)) continue;
      if (isCancelled || (current !== undefined && current !== id)) execution.stop.abort();
      else void sleep(EXIT_MS, undefined, { ref: false }).then(() => execution.stop.abort());
    }
  }

  /** Starts no more executions from now on. */
  stopAccepting(): void {
    this.#isClosed = true;
  }

  /** Ends all executions, so that their runs go on at the next start. */
  async close(): Promise<void> {
    this.stopAccepting();
    clearInterval(this.#watch);
    this.#memory.stop();
    const running = [...this.#running.values()];
    for (const { stop } of running) stop.abort();
    const waiting = await this.#takeWaiting();
    await Promise.all([
      ...running.map(({ ended }) => ended),
      waiting === undefined ? undefined : discardHarness(waiting),
    ]);
  }

  #isStalled(): boolean {
    const isStill = performance.now() - this.#changedAt > STALL_MS;
    return isStill && this.#running.size < this.#options.concurrency * MAX_STRETCH;
  }

  #remove(id: string): void {
    this.#running.delete(id);
    this.#changedAt = performance.now();
    try {
      this.#options.log.remove(id);
    } catch (error) {
      // For example a full disk. The next start finds that the run has left this execution, and removes the record.
      logLine("error", "an execution was not removed from the log of executions", { execution_id: id, error });
    }
    this.#options.onRoom();
    // With more runs waiting, starting one ahead for them would only take time from those that execute.
    if (this.#running.size === 0 || this.#isFull()) this.prepare();
    if (this.#running.size === 0 && !this.#isClosed) this.#memory.rest();
  }
}

/** Lets the processes of other owners run first. What the harness starts from now on inherits it. */
function yieldProcessor(harness: WaitingHarness | undefined, nicer: number): void {
  if (nicer === 0 || harness?.child.pid === undefined) return;
  try {
    setPriority(harness.child.pid, nicer);
  } catch {
    // The harness has ended already.
  }
}
