import * as v from "valibot";
import { isTerminal, MAX_LOSSES, MAX_RESTARTS, TRANSITIONS } from "../../shared/records/run.ts";
import { TimelineType } from "../../shared/wire/event.ts";
import { RunState } from "../../shared/wire/run.ts";
import type { AcceptedRun } from "./clients.ts";
import type { RunResponses, StoredItem } from "./evidence.ts";

/** A broken guarantee. */
export interface Violation {
  readonly rule: Rule;
  /** Id of the run, or key of the object, that it concerns. */
  readonly about: string;
  readonly detail: string;
}

export const RULES = {
  lost: "every accepted run ended",
  twice: "no request created two runs, or a run whose id no caller received",
  ended: "no run ended twice",
  gap: "sequences are gapless",
  move: "every state transition is legal",
  fence: "no execution wrote after its fence",
  outcome: "each run ended as it should, or says why not",
  output: "what commands printed can be read",
  files: "every file that was uploaded can be read, whatever ended its run",
  responses: "the API returns what the table holds",
  counters: "counters are at zero and wait queues are empty",
  object: "every object belongs to a run",
  process: "no process is left over",
  detection: "each lost execution was detected in time",
} as const;
export type Rule = keyof typeof RULES;

const Entry = v.looseObject({
  sequence: v.number(),
  type: v.optional(v.string(), "messages"),
  occurred_at: v.number(),
  execution_id: v.exactOptional(v.string()),
  data: v.optional(v.looseObject({ state: v.exactOptional(RunState), execution_id: v.exactOptional(v.string()) }), {}),
});
type Entry = v.InferOutput<typeof Entry>;

const Head = v.looseObject({
  state: RunState,
  next_sequence: v.number(),
  followups: v.optional(v.number(), 0),
  followups_stored: v.optional(v.number(), 0),
  losses: v.optional(v.number(), 0),
  restarts: v.optional(v.number(), 0),
  transcript_events: v.exactOptional(v.number()),
  status_message: v.exactOptional(v.looseObject({ message: v.string(), error_code: v.exactOptional(v.string()) })),
});
type Head = v.InferOutput<typeof Head>;

/** A run as stored in the table. */
export interface StoredRun {
  readonly runId: string;
  readonly title: string;
  readonly head: Head;
  /** Timeline and messages, by sequence number. */
  readonly entries: readonly Entry[];
  readonly followups: number;
}

/** An execution, and when it was fenced: from then on it may not write. */
export interface Execution {
  readonly id: string;
  readonly runId: string;
  /** Milliseconds since the epoch; absent while it may write. */
  readonly fencedAt?: number;
}

/** The runs that a table holds, from all items of each. */
export function storedRuns(items: readonly StoredItem[]): StoredRun[] {
  const byRun = new Map<string, StoredItem[]>();
  for (const item of items) {
    if (!item.pk.startsWith("RUN#")) continue;
    const own = byRun.get(item.pk) ?? [];
    byRun.set(item.pk, own);
    own.push(item);
  }
  return [...byRun].flatMap(([pk, own]) => {
    const head = own.find(({ sk }) => sk === "HEAD");
    if (head === undefined) return [];
    const entries = own.filter(({ sk }) => sk.startsWith("EVENT#") || sk.startsWith("MESSAGES#"));
    return [
      {
        runId: pk.slice("RUN#".length),
        title: String(own.find(({ sk }) => sk === "BODY")?.["title"]),
        head: v.parse(Head, head),
        entries: entries.map((entry) => v.parse(Entry, entry)).sort((a, b) => a.sequence - b.sequence),
        followups: own.filter(({ sk }) => sk.startsWith("FOLLOWUP#")).length,
      },
    ];
  });
}

/** Events that the service itself records for an execution that is over, such as those of files that were uploaded and not confirmed. */
const AFTERWARDS = ["run_stopped", "followup_received", "artifact_created"];

/** Together with a follow-up, the service notes in the conversation that the turn before it was cancelled. */
const isNoteOfFollowup = (before: Entry | undefined, { type, occurred_at }: Pick<Entry, "type" | "occurred_at">) =>
  type === "messages" && before?.type === "followup_received" && before.occurred_at === occurred_at;

interface Walk {
  readonly violations: readonly Violation[];
  readonly executions: readonly Execution[];
}

/** Checks a run's history, from its first event to the state of its head. */
export function walk({ runId, head, entries }: StoredRun): Walk {
  const violations: Violation[] = [];
  const complain = (rule: Rule, detail: string) => violations.push({ rule, about: runId, detail });
  const executions: Execution[] = [];
  let state: RunState | undefined;
  let current: string | undefined;
  let ends = 0;
  let lives = 1;
  for (const [index, { sequence, type, execution_id, occurred_at, data }] of entries.entries()) {
    if (sequence !== index + 1) complain("gap", `number ${index + 1} is ${sequence}`);
    const next = type === "run_created" ? "QUEUED" : data.state;
    if (type === "run_pending") {
      if (current !== undefined) complain("fence", `${sequence}: a new execution starts while ${current} is active`);
      current = data.execution_id;
    } else if (
      execution_id !== undefined &&
      execution_id !== current &&
      !AFTERWARDS.includes(type) &&
      !isNoteOfFollowup(entries[index - 1], { type, occurred_at })
    ) {
      complain("fence", `${sequence}: ${type} of ${execution_id}, while ${current ?? "none"} may write`);
    }
    if (next === undefined) continue;
    if (state !== undefined && !TRANSITIONS[state].includes(next)) {
      complain("move", `${sequence}: ${type} leads from ${state} to ${next}`);
    }
    if (isTerminal(next)) ends++;
    if (state !== undefined && isTerminal(state) && next === "QUEUED") lives++;
    if (current !== undefined && (next === "QUEUED" || isTerminal(next))) {
      executions.push({ id: current, runId, fencedAt: occurred_at });
      current = undefined;
    }
    state = next;
  }
  if (current !== undefined) executions.push({ id: current, runId });
  const last = entries.at(-1)?.sequence ?? 0;
  if (head.next_sequence !== last + 1)
    complain("gap", `the head goes on with ${head.next_sequence}, the last is ${last}`);
  if (state !== head.state) complain("move", `its events lead to ${state}, the head says ${head.state}`);
  if (ends > lives) complain("ended", `${ends} ends in ${lives} lives`);
  return { violations, executions };
}

/** Compares the outcome of a run with what its caller requested. `killedCommands`: executions of which a command was killed. */
export function checkOutcome(
  run: StoredRun,
  accepted: AcceptedRun,
  executions: readonly Execution[],
  killedCommands: ReadonlySet<string>,
): Violation[] {
  const { runId, head } = run;
  const found: Violation[] = accepted.complaints.map((detail) => ({ rule: "outcome", about: runId, detail }));
  const complain = (rule: Rule, detail: string) => found.push({ rule, about: runId, detail });
  if (!isTerminal(head.state)) return [...found, { rule: "lost", about: runId, detail: `it is ${head.state} still` }];
  const message = head.status_message?.message ?? "nothing";
  const wasHurt = executions.some(({ id }) => killedCommands.has(id));
  const followups = accepted.followups.length + accepted.interrupted;
  if (run.followups !== followups) {
    complain("twice", `${followups} follow-ups were accepted, ${run.followups} are stored`);
  }
  if (head.state === "ERROR") {
    const isLost = head.losses >= MAX_LOSSES || head.restarts >= MAX_RESTARTS;
    const givenUp = isLost || head.status_message?.error_code === "internal_error";
    if (!givenUp) complain("outcome", `it ended in ERROR after ${head.losses} losses: ${message}`);
  } else if (accepted.cancelled) {
    if (head.state !== "CANCELLED") complain("outcome", `its cancel was accepted, and it is ${head.state}`);
  } else if (head.state === "CANCELLED") {
    complain("outcome", "no caller cancelled it");
  } else if (accepted.kind === "failing") {
    if (head.state !== "FAILED") complain("outcome", `its command fails, and it is ${head.state}`);
  } else if (head.state !== "SUCCEEDED" && !wasHurt) {
    complain("outcome", `it is ${head.state} although no command of it was killed: ${message}`);
  }
  // A follow-up that was cancelled by force may never have been taken up.
  if (head.state === "SUCCEEDED" && accepted.interrupted === 0 && head.followups_stored !== head.followups) {
    complain("outcome", `${head.followups_stored} of its ${head.followups} follow-ups were taken up`);
  }
  return found;
}

/** Compares what users can read of a run with what the table holds. */
export function checkResponses(
  run: StoredRun,
  accepted: AcceptedRun,
  responses: RunResponses | string | undefined,
): Violation[] {
  const { runId, head, entries } = run;
  if (responses === undefined || typeof responses === "string") {
    return [{ rule: "responses", about: runId, detail: responses ?? "it was not read" }];
  }
  const found: Violation[] = [];
  const complain = (rule: Rule, detail: string) => found.push({ rule, about: runId, detail });
  const stored = entries.map(({ sequence, type }) => `${sequence} ${type}`);
  const listed = responses.events.map(({ sequence, type }) => `${sequence} ${type}`);
  if (listed.join() !== stored.join())
    complain("responses", `its events are ${listed.join()} and not ${stored.join()}`);
  const timeline = entries.map(({ type }) => type).filter((type) => v.is(TimelineType, type));
  if (responses.timeline.join() !== timeline.join())
    complain("responses", `its timeline is ${responses.timeline.join()}`);
  if (head.transcript_events !== head.next_sequence - 1) {
    complain("responses", `its transcript has ${head.transcript_events} of ${head.next_sequence - 1} events`);
  }
  for (const { name, problem } of responses.files) {
    if (problem !== undefined) complain("files", `${name} cannot be read: ${problem}`);
  }
  for (const [name, content] of accepted.uploaded) {
    if (responses.files.find((one) => one.name === name)?.text !== content)
      complain("files", `${name} was uploaded and is not there`);
  }
  if (head.state !== "SUCCEEDED") return found;
  const name = `${accepted.mark}.txt`;
  const file = responses.files.find((one) => one.name === name);
  if (["file", "worker"].includes(accepted.kind) && file?.text !== `${accepted.mark}\n`)
    complain("files", `${name} is ${JSON.stringify(file?.text)}`);
  for (const mark of [accepted.mark, ...accepted.followups]) {
    // As an output: in the prompt and in the commands, another word precedes it.
    if (!responses.transcript.includes(`${mark}\\n`)) complain("output", `its transcript lacks ${mark}`);
    if (!responses.conversation.includes(`${mark}\\n`)) complain("output", `its conversation lacks ${mark}`);
  }
  return found;
}
