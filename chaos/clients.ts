import { setTimeout as pause } from "node:timers/promises";
import * as v from "valibot";
import type { Api } from "../local/api.ts";
import { RunAgentResponse, type RunState } from "../shared/wire/run.ts";
import type { Task, TaskKind } from "./plan.ts";

/** What a caller asked for, and what it was told. */
export interface Asked {
  /** The task's number; of a child its parent's with ".1" behind it. */
  readonly name: string;
  readonly kind: TaskKind | "child";
  /** What a command of the run prints, and no other run's. */
  readonly mark: string;
  readonly runId: string;
  /** What the commands of accepted follow-ups print. */
  readonly followups: string[];
  /** True once a cancel was accepted. */
  cancelled: boolean;
  /** True once the caller saw an end, and did not ask for more. */
  ended: boolean;
  /** What the caller was told that it should not have been. */
  readonly complaints: string[];
}

export interface Callers {
  /** All that was accepted so far. */
  readonly asked: readonly Asked[];
  /** Requests that were sent again, because nobody answered or the answer said so. */
  readonly retries: () => number;
  /** Settles when all tasks were taken up. */
  readonly submitted: Promise<void>;
  /** Leaves all tasks that nobody has taken up yet. */
  readonly stop: () => void;
  /** Settles when each caller has seen its runs end, or has given up. */
  readonly done: Promise<void>;
}

export interface CallersOptions {
  readonly api: Api;
  readonly tasks: readonly Task[];
  /** Told from those of another chaos, in keys and in what commands print. */
  readonly seed: number;
  /** Callers at a time. */
  readonly atOnce: number;
  /** When aborted, nobody waits for an end any longer. */
  readonly signal: AbortSignal;
}

const ENDS: readonly RunState[] = ["SUCCEEDED", "FAILED", "ERROR", "BLOCKED", "CANCELLED"];
const LOOK_MS = 2_000;
const FIRST_RETRY_MS = 200;
const MAX_RETRY_MS = 4_000;
const ATTEMPT_MS = 30_000;

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** Callers as they should be: each request has a key of its own and is repeated until it is answered for good. */
export function startCallers({ api, tasks, seed, atOnce, signal }: CallersOptions): Callers {
  const asked: Asked[] = [];
  let retries = 0;
  const waiting = [...tasks];
  const submitted = Promise.withResolvers<void>();

  async function call(method: "GET" | "POST", target: string, body?: unknown, key?: string): Promise<Answer> {
    for (let attempt = 0; ; attempt++) {
      signal.throwIfAborted();
      const answer = await send(api, method, target, body, key).catch(() => undefined);
      if (answer !== undefined && !answer.again) return answer;
      retries++;
      const most = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** attempt);
      await pause(most / 2 + Math.random() * (most / 2), undefined, { signal });
    }
  }

  async function create(name: string, kind: Asked["kind"], more: Record<string, unknown> = {}, repeats = false) {
    const mark = `line-${seed}-${name}`;
    const files = kind === "large" ? { attachments: [attachmentOf(mark)] } : {};
    const body = { title: titleOf(seed, name), prompt: promptOf(kind, mark), ...files, ...more };
    const answer = await call("POST", "/agent/runs", body, `${mark}-create`);
    const made = v.safeParse(RunAgentResponse, answer.body);
    if (!made.success) throw new Error(`the run ${name} was refused: ${answer.status} ${JSON.stringify(answer.body)}`);
    const one: Asked = {
      name,
      kind,
      mark,
      runId: made.output.run_id,
      followups: [],
      cancelled: false,
      ended: false,
      complaints: [],
    };
    asked.push(one);
    if (repeats) {
      const second = v.safeParse(RunAgentResponse, (await call("POST", "/agent/runs", body, `${mark}-create`)).body);
      if (!second.success || second.output.run_id !== one.runId) {
        one.complaints.push(`its request, repeated, was answered ${JSON.stringify(second.output)}`);
      }
    }
    return one;
  }

  async function followUp(one: Asked): Promise<void> {
    const mark = `${one.mark}-more-${one.followups.length + 1}`;
    const target = `/agent/runs/${one.runId}/followups`;
    const answer = await call("POST", target, { message: block(`echo ${mark}`) }, mark);
    if (answer.status >= 300) one.complaints.push(`a follow-up was refused: ${answer.status}`);
    else one.followups.push(mark);
  }

  async function cancel(one: Asked): Promise<void> {
    const answer = await call("POST", `/agent/runs/${one.runId}/cancel`, undefined, `${one.mark}-cancel`);
    if (answer.status < 300) one.cancelled = true;
    else if (answer.status !== 400) one.complaints.push(`a cancel was refused: ${answer.status}`);
  }

  async function untilEnded(one: Asked): Promise<void> {
    for (;;) {
      const { status, body } = await call("GET", `/agent/runs/${one.runId}`);
      if (status !== 200) one.complaints.push(`reading it was answered ${status}`);
      const run = v.safeParse(v.object({ state: v.string() }), body);
      if (status !== 200 || (run.success && ENDS.some((state) => state === run.output.state))) return;
      await pause(LOOK_MS + Math.random() * LOOK_MS, undefined, { signal });
    }
  }

  async function carryOut({ number, kind, thinkMs, repeats }: Task): Promise<void> {
    const one = await create(String(number), kind, {}, repeats);
    await pause(thinkMs, undefined, { signal });
    const child = kind === "parent" ? await create(`${number}.1`, "child", { parent_run_id: one.runId }) : undefined;
    if (kind === "cancelled") await cancel(one);
    if (kind === "steered") await followUp(one);
    await untilEnded(one);
    if (kind === "revived") {
      await followUp(one);
      await untilEnded(one);
    }
    one.ended = true;
    if (child === undefined) return;
    await untilEnded(child);
    child.ended = true;
  }

  async function work(): Promise<void> {
    for (let task = waiting.shift(); task !== undefined; task = waiting.shift()) {
      if (waiting.length === 0) submitted.resolve();
      // Who is told to stop waiting leaves what it asked for to the checker.
      await carryOut(task).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
    }
  }

  function stop(): void {
    waiting.length = 0;
    submitted.resolve();
  }

  const done = Promise.all(Array.from({ length: atOnce }, work)).then(() => undefined);
  done.catch((error: unknown) => submitted.reject(error));
  return { asked, retries: () => retries, submitted: submitted.promise, stop, done };
}

/** What every run of a chaos is called, so that one which nobody was told of is found. */
export const titleOf = (seed: number, name: string): string => `chaos ${seed} / ${name}`;

async function send(
  { baseUrl, key }: Api,
  method: string,
  target: string,
  body: unknown,
  idempotencyKey: string | undefined,
): Promise<Answer & { readonly again: boolean }> {
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
    again: response.headers.get("x-should-retry") === "true" || response.status >= 500,
  };
}

function promptOf(kind: Asked["kind"], mark: string): string {
  const say = `echo ${mark}`;
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

const attachmentOf = (mark: string) => ({
  file_name: "mark.txt",
  mime_type: "text/plain",
  data: Buffer.from(mark).toString("base64"),
});

const block = (script: string): string => `\`\`\`sh\n${script}\n\`\`\``;
