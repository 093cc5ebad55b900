import { invalid } from "#shared/errors.ts";
import { statusText } from "#shared/records/run.ts";
import type { TriggerKind, UpdateTriggerRequest } from "#shared/wire/triggers/trigger.ts";
import type { TriggerEvent } from "./event.ts";
import { runExpression } from "./expressions/run-expression.ts";
import { findReasonToIgnore, type Ignored } from "./plan-run.ts";
import type { Trigger } from "./trigger-store.ts";

const MEMBERS = ["filter", "thread_key"] as const;

/** Refuses expressions with errors, which name line and column, and a thread key where the system has threads of its own. */
export async function checkExpressions(kind: TriggerKind, request: UpdateTriggerRequest): Promise<void> {
  if (kind !== "webhook" && (request.thread_key ?? "") !== "") {
    throw invalid("thread_key", `is for the kind webhook only; events of ${kind} have a thread`);
  }
  for (const member of MEMBERS) {
    const expression = request[member] ?? "";
    if (expression === "") continue;
    const { problem, error } = await runExpression({ member, expression });
    if (problem !== undefined) {
      throw invalid(member, `line ${problem.line}, column ${problem.column}: ${problem.message}`);
    }
    if (error !== undefined) throw invalid(member, `line 1, column 1: cannot be checked: ${error}; shorten it`);
  }
}

interface SelectedEvent<E extends TriggerEvent> {
  /** The event in the thread that the trigger puts it into. */
  readonly event: E;
  /** Why it starts no run; absent for an event that starts or steers one. */
  readonly ignored?: Ignored;
}

/**
 * Tells whether an event starts or steers a run: by its type, its author and the filter, in this order. An expression that cannot be
 * evaluated ignores the event, since it would fail again.
 */
export async function selectEvent<E extends TriggerEvent>(trigger: Trigger, event: E): Promise<SelectedEvent<E>> {
  const ignored = findReasonToIgnore(trigger, event);
  if (ignored !== undefined) return { event, ignored };
  const { filter, thread_key } = trigger;
  if (filter !== undefined) {
    const { value, error } = await runExpression({ member: "filter", expression: filter, event: toFacts(event) });
    if (value !== true) return { event, ignored: toIgnored("filter", error) };
  }
  if (thread_key === undefined) return { event };
  const task = { member: "thread_key", expression: thread_key, event: toFacts(event) } as const;
  const { value, error } = await runExpression(task);
  return typeof value === "string"
    ? { event: { ...event, thread: value } }
    : { event, ignored: toIgnored("thread_key", error) };
}

/** What expressions see of an event. */
const toFacts = ({ type, action, text, author, repository, thread, payload }: TriggerEvent): TriggerEvent => ({
  type,
  action,
  text,
  author,
  repository,
  thread,
  payload,
});

const toIgnored = (member: string, error: string | undefined): Ignored => ({
  outcome: "ignored",
  reason: "filter",
  ...(error === undefined ? {} : { detail: statusText(`${member}: ${error}`) }),
});
