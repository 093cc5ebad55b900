import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import * as v from "valibot";
import type { Api } from "../../server/host/api.ts";
import { ReportArtifactResponse } from "../../shared/wire/executions/report-artifact.ts";
import type { UploadTarget } from "../../shared/wire/harness.ts";
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
  /** How many further follow-ups were accepted, whose turns were cancelled by force. */
  interrupted: number;
  /** Files that were uploaded completely, and their content. */
  readonly uploaded: Map<string, string>;
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
  /** The id of self-hosted workers. */
  readonly workerId: string | undefined;
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
const MAX_UPLOADS = 6;

interface ApiResponse {
  readonly status: number;
  readonly body: unknown;
}

/** Starts well-behaved callers: each request has an idempotency key of its own and is repeated until it gets a final response. */
export function startCallers({ tasks, atOnce, signal, ...options }: CallersOptions): Callers {
  const waiting = [...tasks];
  const caller = new Caller({ ...options, signal });
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
  readonly #workerId: string | undefined;
  readonly #seed: number;
  readonly #signal: AbortSignal;
  /** The keys of the runs that their callers execute. */
  readonly #keys = new Map<string, string>();
  retries = 0;

  constructor({ api, workerId, seed, signal }: Pick<CallersOptions, "api" | "workerId" | "seed" | "signal">) {
    this.#api = api;
    this.#workerId = workerId;
    this.#seed = seed;
    this.#signal = signal;
  }

  async performTask({ number, kind, thinkMs, repeats }: Task): Promise<void> {
    const run = await this.#create(String(number), kind, { repeats });
    await this.#pause(thinkMs);
    const child = kind === "parent" ? await this.#create(`${number}.1`, "child", { parentId: run.runId }) : undefined;
    if (kind === "cancelled") await this.#cancel(run);
    if (kind === "steered" || (kind === "worker" && number % 2 === 0)) await this.#followUp(run);
    if (kind === "uploaded") await this.#upload(run);
    await this.#waitUntilEnded(run);
    if (kind === "forced") await this.#interrupt(run, thinkMs);
    if (["revived", "forced", "worker", "file"].includes(kind)) {
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
      ...(kind === "worker" && this.#workerId !== undefined && { config: { worker_host: this.#workerId } }),
      ...(kind === "uploaded" && { execution_location: "LOCAL" }),
      ...(kind === "large" && { attachments: [createAttachment(mark)] }),
      ...(parentId !== undefined && { parent_run_id: parentId }),
    };
    const response = await this.#call("POST", "/agent/runs", body, `${mark}-create`);
    const created = v.safeParse(RunAgentResponse, response.body);
    if (!created.success)
      throw new Error(`the run ${name} was refused: ${response.status} ${JSON.stringify(response.body)}`);
    const runId = created.output.run_id;
    const run: AcceptedRun = {
      ...{ name, kind, mark, runId, followups: [], interrupted: 0, uploaded: new Map() },
      ...{ cancelled: false, ended: false, complaints: [] },
    };
    this.accepted.push(run);
    const { run_key: key } = created.output;
    if (key !== undefined) this.#keys.set(runId, key);
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

  /** Cancels a run. @returns false if it had ended */
  async #cancel(run: AcceptedRun, force = false): Promise<boolean> {
    const target = `/agent/runs/${run.runId}/cancel${force ? "?force=true" : ""}`;
    const { status } = await this.#call("POST", target, undefined, `${run.mark}-cancel`);
    if (status >= 300 && status !== 400) run.complaints.push(`a cancel was refused: ${status}`);
    if (status < 300) run.cancelled = true;
    return status < 300;
  }

  /** Sends a follow-up of some seconds, and cancels the run by force meanwhile. */
  async #interrupt(run: AcceptedRun, afterMs: number): Promise<void> {
    const target = `/agent/runs/${run.runId}/followups`;
    const message = block(`${KEPT}for second in 1 2 3 4 5 6; do sleep 1; done`);
    const response = await this.#call("POST", target, { message }, `${run.mark}-interrupted`);
    if (response.status >= 300) return void run.complaints.push(`a follow-up was refused: ${response.status}`);
    run.interrupted++;
    await this.#pause(afterMs);
    await this.#cancel(run, true);
    await this.#waitUntilEnded(run);
    // The follow-up after it starts the run again.
    run.cancelled = false;
  }

  /** Executes a run as its caller: uploads a file, and cancels the run by force without having confirmed the file. */
  async #upload(run: AcceptedRun): Promise<void> {
    const key = this.#keys.get(run.runId) ?? "";
    const content = `${run.mark}\n`;
    const data = {
      ...{ filepath: `out/${run.mark}.txt`, filename: `${run.mark}.txt`, mime_type: "text/plain" },
      ...{ size_bytes: content.length, sha256: createHash("sha256").update(content).digest("hex") },
    };
    const report = { artifact_type: "FILE", data };
    await this.#call("POST", "/harness-support/resolve-prompt", {}, undefined, key);
    const { body, status } = await this.#call("POST", "/harness-support/report-artifact", report, undefined, key);
    const reported = v.safeParse(ReportArtifactResponse, body);
    const target = reported.success ? reported.output.upload : undefined;
    if (target === undefined) run.complaints.push(`a file was refused: ${status}`);
    else {
      for (let attempt = 0; attempt < MAX_UPLOADS; attempt++) {
        const sent = await fetch(target.url, toUpload(target, content)).catch(() => undefined);
        if (sent?.ok === true) {
          run.uploaded.set(data.filepath, content);
          break;
        }
        await this.#pause(FIRST_RETRY_MS * 2 ** attempt);
      }
    }
    await this.#cancel(run, true);
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

  /** @param key that of a run that its caller executes. @default the caller's */
  async #call(
    method: "GET" | "POST",
    target: string,
    body?: unknown,
    idempotencyKey?: string,
    key = this.#api.key,
  ): Promise<ApiResponse> {
    for (let attempt = 0; ; attempt++) {
      this.#signal.throwIfAborted();
      const response = await send({ ...this.#api, key }, method, target, body, idempotencyKey).catch(() => undefined);
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

function toUpload({ method, headers, fields = [] }: UploadTarget, content: string): RequestInit {
  const signal = AbortSignal.timeout(ATTEMPT_MS);
  if (method === "PUT") return { method, headers: headers ?? {}, body: content, signal };
  const form = new FormData();
  for (const { name, value } of fields) {
    if (value.kind === "static") form.append(name, value.value);
    if (value.kind === "content_data") form.append(name, new Blob([content]));
  }
  return { method, headers: headers ?? {}, body: form, signal };
}

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
    case "worker":
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
