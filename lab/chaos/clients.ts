import { setTimeout as pause } from "node:timers/promises";
import * as v from "valibot";
import type { Api } from "../../server/host/api.ts";
import type { RunState } from "../../shared/wire/run.ts";
import { RunAgentResponse } from "../../shared/wire/runs/new-run.ts";
import type { Task, TaskKind } from "./plan.ts";

/** A run that a caller created, and the responses that it got. */
export interface AcceptedRun {
  /** The task's number; for a child, its parent's number with the suffix ".1". */
  readonly name: string;
  readonly kind: TaskKind | "child";
  /** Text that a command of this run prints, and of no other run. */
  readonly mark: string;
  readonly runId: string;
  /** Texts that the commands of accepted follow-ups print. */
  readonly followups: string[];
  /** True once a cancel was accepted. */
  cancelled: boolean;
  /** True once the caller saw a terminal state and sent no further follow-up. */
  ended: boolean;
  /** Unexpected responses. */
  readonly complaints: string[];
}

export interface Callers {
  /** All runs that were accepted so far. */
  readonly accepted: readonly AcceptedRun[];
  /** Requests that were sent again, because there was no response or the response requested a retry. */
  readonly retries: () => number;
  /** Settles when all tasks were started. */
  readonly submitted: Promise<void>;
  /** Drops all tasks that no caller has started yet. */
  readonly stop: () => void;
  /** Settles when each caller has seen its runs end, or has given up. */
  readonly done: Promise<void>;
}

export interface CallersOptions {
  readonly api: Api;
  readonly tasks: readonly Task[];
  /** Distinguishes this test from others, in idempotency keys and in the output of commands. */
  readonly seed: number;
  /** Concurrent callers. */
  readonly atOnce: number;
  /** Aborts waiting for the ends of runs. */
  readonly signal: AbortSignal;
}

const TERMINAL_STATES: readonly RunState[] = ["SUCCEEDED", "FAILED", "ERROR", "BLOCKED", "CANCELLED"];
const POLL_MS = 2_000;
const FIRST_RETRY_MS = 200;
const MAX_RETRY_MS = 4_000;
const ATTEMPT_MS = 30_000;

interface ApiResponse {
  readonly status: number;
  readonly body: unknown;
}

/** Starts well-behaved callers: each request has an idempotency key of its own and is repeated until it gets a final response. */
export function startCallers({ api, tasks, seed, atOnce, signal }: CallersOptions): Callers {
  const waiting = [...tasks];
  const caller = new Caller(api, seed, signal);
  const submitted = Promise.withResolvers<void>();

  async function work(): Promise<void> {
    for (let task = waiting.shift(); task !== undefined; task = waiting.shift()) {
      if (waiting.length === 0) submitted.resolve();
      // A caller that stops waiting leaves its runs to the checker.
      await caller.performTask(task).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
    }
  }

  function stop(): void {
    waiting.length = 0;
    submitted.resolve();
  }

  const done = Promise.all(Array.from({ length: atOnce }, work)).then(() => undefined);
  void done.catch((error: unknown) => submitted.reject(error));
  return { accepted: caller.accepted, retries: () => caller.retries, submitted: submitted.promise, stop, done };
}

/** Performs tasks and records what the service accepted and what it should not have responded. */
class Caller {
  readonly accepted: AcceptedRun[] = [];
  readonly #api: Api;
  readonly #seed: number;
  readonly #signal: AbortSignal;
  retries = 0;

  constructor(api: Api, seed: number, signal: AbortSignal) {
    this.#api = api;
    this.#seed = seed;
    this.#signal = signal;
  }

  async performTask({ number, kind, thinkMs, repeats }: Task): Promise<void> {
    const run = await this.#create(String(number), kind, { repeats });
    await this.#pause(thinkMs);
    const child = kind === "parent" ? await this.#create(`${number}.1`, "child", { parentId: run.runId }) : undefined;
    if (kind === "cancelled") await this.#cancel(run);
    if (kind === "steered") await this.#followUp(run);
    await this.#waitUntilEnded(run);
    if (kind === "revived") {
      await this.#followUp(run);
      await this.#waitUntilEnded(run);
    }
    run.ended = true;
    if (child === undefined) return;
    await this.#waitUntilEnded(child);
    child.ended = true;
  }

  async #create(
    name: string,
    kind: AcceptedRun["kind"],
    { parentId, repeats = false }: { readonly parentId?: string; readonly repeats?: boolean },
  ): Promise<AcceptedRun> {
    const mark = `line-${this.#seed}-${name}`;
    const body = {
      title: formatTitle(this.#seed, name),
      prompt: formatPrompt(kind, mark),
      ...(kind === "large" && { attachments: [createAttachment(mark)] }),
      ...(parentId !== undefined && { parent_run_id: parentId }),
    };
    const response = await this.#call("POST", "/agent/runs", body, `${mark}-create`);
    const created = v.safeParse(RunAgentResponse, response.body);
    if (!created.success)
      throw new Error(`the run ${name} was refused: ${response.status} ${JSON.stringify(response.body)}`);
    const runId = created.output.run_id;
    const run: AcceptedRun = { name, kind, mark, runId, followups: [], cancelled: false, ended: false, complaints: [] };
    this.accepted.push(run);
    if (repeats) await this.#repeatCreation(run, body);
    return run;
  }

  async #repeatCreation(run: AcceptedRun, body: unknown): Promise<void> {
    const response = await this.#call("POST", "/agent/runs", body, `${run.mark}-create`);
    const repeated = v.safeParse(RunAgentResponse, response.body);
    if (!repeated.success || repeated.output.run_id !== run.runId) {
      run.complaints.push(`the repeated request got the response ${JSON.stringify(repeated.output)}`);
    }
  }

  async #followUp(run: AcceptedRun): Promise<void> {
    const mark = `${run.mark}-more-${run.followups.length + 1}`;
    const target = `/agent/runs/${run.runId}/followups`;
    const response = await this.#call("POST", target, { message: block(`${KEPT}echo ${mark}`) }, mark);
    if (response.status >= 300) run.complaints.push(`a follow-up was refused: ${response.status}`);
    else run.followups.push(mark);
  }

  async #cancel(run: AcceptedRun): Promise<void> {
    const response = await this.#call("POST", `/agent/runs/${run.runId}/cancel`, undefined, `${run.mark}-cancel`);
    if (response.status < 300) run.cancelled = true;
    else if (response.status !== 400) run.complaints.push(`a cancel was refused: ${response.status}`);
  }

  async #waitUntilEnded(run: AcceptedRun): Promise<void> {
    for (;;) {
      const { status, body } = await this.#call("GET", `/agent/runs/${run.runId}`);
      if (status !== 200) run.complaints.push(`reading the run got the response ${status}`);
      const read = v.safeParse(v.object({ state: v.string() }), body);
      if (status !== 200 || (read.success && TERMINAL_STATES.some((state) => state === read.output.state))) return;
      await this.#pause(POLL_MS + Math.random() * POLL_MS);
    }
  }

  async #call(method: "GET" | "POST", target: string, body?: unknown, key?: string): Promise<ApiResponse> {
    for (let attempt = 0; ; attempt++) {
      this.#signal.throwIfAborted();
      const response = await send(this.#api, method, target, body, key).catch(() => undefined);
      if (response !== undefined && !response.retryable) return response;
      this.retries++;
      const most = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** attempt);
      await this.#pause(most / 2 + Math.random() * (most / 2));
    }
  }

  async #pause(milliseconds: number): Promise<void> {
    await pause(milliseconds, undefined, { signal: this.#signal });
  }
}

/** The title of each run of a chaos test, so that the checker also finds runs whose id no caller received. */
export const formatTitle = (seed: number, name: string): string => `chaos ${seed} / ${name}`;

async function send(
  { baseUrl, key }: Api,
  method: string,
  target: string,
  body: unknown,
  idempotencyKey: string | undefined,
): Promise<ApiResponse & { readonly retryable: boolean }> {
  const response = await fetch(`${baseUrl}${target}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(ATTEMPT_MS),
  });
  const text = await response.text();
  const json = v.safeParse(v.pipe(v.string(), v.parseJson()), text);
  return {
    status: response.status,
    body: json.success ? json.output : text,
    retryable: response.headers.get("x-should-retry") === "true" || response.status >= 500,
  };
}

/** Fails where the workspace of the turn before is lost. */
const KEPT = 'cat "$RUNYARD_WORKSPACE/kept" > /dev/null\n';

function formatPrompt(kind: AcceptedRun["kind"], mark: string): string {
  // What the workspace has besides: a file that follow-ups need, and one that nobody can read.
  const say = `echo ${mark} > "$RUNYARD_WORKSPACE/kept"; echo x > "$RUNYARD_WORKSPACE/closed"; chmod 0 "$RUNYARD_WORKSPACE/closed"\necho ${mark}`;
  switch (kind) {
    case "long":
    case "steered":
    case "cancelled":
      return block(`${say}\nfor second in 1 2 3 4 5 6; do sleep 1; done`);
    case "parent":
      return block(`${say}\nsleep 4`);
    case "file":
      return [block(say), block(`echo ${mark} > "$RUNYARD_OUTPUT/${mark}.txt"`)].join("\n\n");
    case "failing":
      return block(`${say}\nexit 3`);
    case "large":
      return [block(say), "Say nothing of what follows. ".repeat(1_500)].join("\n\n");
    default:
      return block(say);
  }
}

const createAttachment = (mark: string) => ({
  file_name: "mark.txt",
  mime_type: "text/plain",
  data: Buffer.from(mark).toString("base64"),
});

const block = (script: string): string => `\`\`\`sh\n${script}\n\`\`\``;
