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

/** Milliseconds from the request to end until a harness is killed. */
const GRACE_MS = 5_000;
/** Milliseconds that a harness has to end by itself after its run has ended. */
const EXIT_MS = 10_000;
/**
 * Executions that wait for their children hold a place while the children need one. After this time without any start or end,
 * one more execution is started, up to a multiple of the limit.
 */
const STALL_MS = 10_000;
const MAX_STRETCH = 4;

interface Execution {
  readonly runId: string;
  readonly stop: AbortController;
  readonly ended: Promise<unknown>;
}

export interface ProcessSandboxOptions {
  /** The program of the harness. */
  program(): Program;
  /** Executions at the same time. */
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
  #changedAt = performance.now();
  #isClosed = false;
  /** The harness that the next execution gets. */
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
    const ended = this.#takeWaiting()
      .then((waiting) => runExecution({ ...envelope, ...limit }, { ...options, waiting }))
      .catch((error: unknown) => logLine("error", "an execution failed", { run_id: runId, execution_id: id, error }))
      .finally(() => this.#remove(id));
    this.#running.set(id, { runId, stop, ended });
    this.#changedAt = performance.now();
  }

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
    this.#waiting = startHarness(this.#options.program()).catch((error: unknown) => {
      logLine("warn", "no harness could be started ahead", { error });
      return undefined;
    });
  }

  async #takeWaiting(): Promise<WaitingHarness | undefined> {
    const taken = this.#waiting;
    this.#waiting = undefined;
    const waiting = await taken;
    if (waiting === undefined || isRunning(waiting.child)) return waiting;
    await discardHarness(waiting);
    return undefined;
  }

  /** Returns true if another execution may be started while `starting` others are. */
  hasRoom(starting: number): boolean {
    if (this.#isClosed) return false;
    const count = this.#running.size + starting;
    return count < this.#options.concurrency || (starting === 0 && this.#isStalled());
  }

  isRunning = (runId: string): boolean => [...this.#running.values()].some((execution) => execution.runId === runId);

  /** Ends the executions of a run that has ended: at once if it was cancelled or has another execution, else if they do not exit. */
  endRun(runId: string, { isCancelled, current }: { isCancelled: boolean; current: string | undefined }): void {
    for (const [id, execution] of this.#running) {
      if (execution.runId !== runId) continue;
      if (isCancelled || (current !== undefined && current !== id)) execution.stop.abort();
      else void sleep(EXIT_MS, undefined, { ref: false }).then(() => execution.stop.abort());
    }
  }

  /** Ends all executions, so that their runs go on at the next start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#watch);
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
    this.#options.log.remove(id);
    this.#options.onRoom();
    // With more runs waiting, starting one ahead would only take time from those that execute.
    if (this.#running.size === 0) this.prepare();
  }
}
