import { setTimeout as sleep } from "node:timers/promises";
import { type Program, runExecution } from "#shared/sandbox/harness-process.ts";
import type { Envelope } from "#shared/wire/harness.ts";
import type { TaskAssignment, TaskCancellation, WorkerFrame } from "#shared/wire/worker.ts";

/** Milliseconds from the request to end until a harness and its processes are killed. */
const GRACE_MS = 5_000;
/** A task that is about to end makes room for the next one; the claim time-out of the service is longer. */
const ROOM_MS = 10_000;
const ROOM_CHECK_MS = 50;

export interface TaskOptions {
  readonly workerId: string;
  readonly maxTasks: number;
  readonly baseUrl: string;
  program(): Program;
  /** Says why this machine cannot execute a task; undefined if it can. */
  findProblem(task: TaskAssignment["data"]): string | undefined;
  send(frame: WorkerFrame): void;
  log(line: string): void;
}

interface Task {
  readonly executionId: string;
  readonly stop: AbortController;
  isCancelled: boolean;
  ended: Promise<void>;
}

/** The tasks of a worker: each one is a harness of its own, which isolates its commands. */
export class Tasks {
  readonly #options: TaskOptions;
  readonly #running = new Map<string, Task>();
  #isDraining = false;

  constructor(options: TaskOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#running.size;
  }

  /** Claims and executes a task, or rejects it where there is no room. */
  async assign({ data }: TaskAssignment): Promise<void> {
    const { task_id, execution_id } = data;
    const { send, workerId, log } = this.#options;
    const current = this.#running.get(task_id);
    if (current?.executionId === execution_id) return;
    // The service has given up the earlier execution.
    current?.stop.abort();
    await current?.ended;
    const reject = (reason: string) => send({ type: "task_rejected", data: { task_id, execution_id, reason } });
    const message = this.#options.findProblem(data);
    if (message !== undefined) {
      const failure_reason = "dispatch_command";
      send({ type: "task_claimed", data: { task_id, execution_id, worker_id: workerId } });
      return send({ type: "task_failed", data: { task_id, execution_id, message, failure_reason } });
    }
    if (!(await this.#hasRoom())) {
      return reject(this.#isDraining ? "the worker shuts down" : `the worker has ${this.count} tasks`);
    }
    log(`${task_id} claimed: ${data.task.title}`);
    send({ type: "task_claimed", data: { task_id, execution_id, worker_id: workerId } });
    const task: Task = {
      executionId: execution_id,
      stop: new AbortController(),
      isCancelled: false,
      ended: Promise.resolve(),
    };
    this.#running.set(task_id, task);
    task.ended = this.#execute(toEnvelope(data, this.#options.baseUrl), task);
  }

  /** Ends a task and all its processes. */
  cancel({ data }: TaskCancellation): void {
    const task = this.#running.get(data.task_id);
    if (task === undefined || (data.execution_id !== undefined && data.execution_id !== task.executionId)) {
      // It is over; the service may wait for that.
      const { task_id, execution_id } = data;
      const known = execution_id === undefined ? {} : { execution_id };
      this.#options.send({
        type: "task_completed",
        data: { task_id, ...known, message: "the task is not running", task_state: "CANCELLED" },
      });
      return;
    }
    task.isCancelled = true;
    task.stop.abort();
  }

  /** Accepts no more tasks and waits until the running ones have ended; `stop` ends them early, and their runs continue elsewhere. */
  async drain(stop: AbortSignal): Promise<void> {
    this.#isDraining = true;
    const end = () => {
      for (const task of this.#running.values()) task.stop.abort();
    };
    if (stop.aborted) end();
    stop.addEventListener("abort", end, { once: true });
    while (this.#running.size > 0) await Promise.all([...this.#running.values()].map(({ ended }) => ended));
  }

  async #hasRoom(): Promise<boolean> {
    const { maxTasks } = this.#options;
    const until = performance.now() + ROOM_MS;
    while (this.#running.size >= maxTasks && !this.#isDraining && performance.now() < until) await sleep(ROOM_CHECK_MS);
    return this.#running.size < maxTasks && !this.#isDraining;
  }

  async #execute(envelope: Envelope, task: Task): Promise<void> {
    const { log, program, send } = this.#options;
    const { run_id: task_id, execution_id } = envelope;
    const print = (line: string) => log(`${task_id} ${line}`);
    let loss: string | undefined;
    try {
      loss = await runExecution(envelope, { program: program(), print, stop: task.stop.signal, graceMs: GRACE_MS });
    } catch (error) {
      loss = error instanceof Error ? error.message : String(error);
    }
    this.#running.delete(task_id);
    const data = { task_id, execution_id };
    if (task.isCancelled) {
      log(`${task_id} cancelled`);
      return send({ type: "task_completed", data: { ...data, message: "cancelled", task_state: "CANCELLED" } });
    }
    log(`${task_id} ${loss === undefined ? "ended" : `lost: ${loss}`}`);
    if (loss === undefined && !task.stop.signal.aborted) {
      return send({ type: "task_completed", data: { ...data, message: "the execution has ended" } });
    }
    const message = loss ?? "the worker ended the execution";
    send({ type: "task_failed", data: { ...data, message, failure_reason: "graceful_shutdown" } });
  }
}

const toEnvelope = ({ task_id, execution_id, env_vars }: TaskAssignment["data"], baseUrl: string): Envelope => ({
  version: 1,
  base_url: baseUrl,
  model_url: env_vars["RUNYARD_MODEL_URL"] ?? `${baseUrl}/model`,
  run_id: task_id,
  execution_id,
  key: env_vars["WARP_API_KEY"] ?? "",
  waits: true,
});
