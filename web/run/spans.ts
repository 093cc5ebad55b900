import { RUN_STATES, type RunEvent, type RunState } from "../../clients/typescript/src/index.ts";
import { toWords } from "../ui/format.ts";
import { actionTitle } from "./action-text.ts";
import type { Entry } from "./feed.ts";
import { describeCall, toModelCalls } from "./model-calls.ts";

export interface Span {
  readonly key: string;
  readonly label: string;
  /** Milliseconds since the epoch. */
  readonly start: number;
  readonly end: number;
  readonly tone: "waiting" | "active" | "good" | "bad" | "asking" | "setup" | "model" | "retry";
  /** The key of the entry of the conversation, if there is one. */
  readonly target?: string;
}

export interface Track {
  readonly name: string;
  readonly spans: readonly Span[];
}

export interface Picture {
  readonly start: number;
  readonly end: number;
  readonly tracks: readonly Track[];
}

/** More spans than this are not distinguishable. */
const MAX_SPANS = 400;

/** Lays out a run in time: what it waited for, its setup, and its actions. `now` ends unfinished ones. */
export function toPicture(events: readonly RunEvent[], entries: readonly Entry[], now: number): Picture | undefined {
  const first = events[0];
  if (first === undefined) return undefined;
  const phases = toPhases(events, now);
  const tracks = [
    { name: "Run", spans: phases },
    { name: "Setup", spans: toSetup(events) },
    { name: "Actions", spans: toActions(entries, now) },
    { name: "Models", spans: toCalls(events) },
    { name: "Retries", spans: toRetries(events) },
  ].filter(({ spans }) => spans.length > 0);
  const start = Date.parse(first.occurred_at);
  const end = Math.max(
    start + 1,
    ...tracks.map(({ spans }) => spans.reduce((latest, span) => Math.max(latest, span.end), 0)),
  );
  return { start, end, tracks };
}

const PHASES: Readonly<Partial<Record<RunState, readonly [string, Span["tone"]]>>> = {
  QUEUED: ["Waiting", "waiting"],
  PENDING: ["Starting", "waiting"],
  CLAIMED: ["Claimed", "waiting"],
  INPROGRESS: ["Executing", "active"],
  BLOCKED: ["Waiting for an answer", "asking"],
};
const OUTCOMES: Readonly<Partial<Record<RunState, Span["tone"]>>> = {
  SUCCEEDED: "good",
  FAILED: "bad",
  ERROR: "bad",
  BLOCKED: "asking",
};

/** The time between two changes of the state. An execution has the color of its outcome. */
function toPhases(events: readonly RunEvent[], now: number): Span[] {
  const changes = events.filter((event) => isState(event.data["state"]));
  const spans: Span[] = [];
  changes.forEach((event, index) => {
    const state = event.data["state"];
    const next = changes[index + 1];
    if (!isState(state) || next?.data["state"] === state) return;
    const phase = PHASES[state];
    if (phase === undefined || (state === "BLOCKED" && next === undefined)) return;
    const outcome = next?.data["state"];
    const tone = state === "INPROGRESS" && isState(outcome) ? (OUTCOMES[outcome] ?? "waiting") : phase[1];
    const start = spans.at(-1)?.end ?? Date.parse(event.occurred_at);
    const span = {
      key: `p${event.sequence}`,
      label: phase[0],
      start,
      end: next === undefined ? now : Date.parse(next.occurred_at),
      tone,
    };
    spans.push({
      ...span,
      start: Math.min(span.start, span.end),
      ...(state === "BLOCKED" ? { start: Date.parse(event.occurred_at) } : {}),
    });
  });
  return spans;
}

const STATES: ReadonlySet<string> = new Set(RUN_STATES);
const isState = (value: unknown): value is RunState => typeof value === "string" && STATES.has(value);

function toSetup(events: readonly RunEvent[]): Span[] {
  return events.flatMap(({ type, occurred_at, data, sequence }) => {
    const took = data["duration_ms"];
    if (typeof took !== "number" || type.startsWith("run_") || type === "model_called") return [];
    const end = Date.parse(occurred_at);
    const label = toWords(type.replace(/^setup_/, ""));
    return [
      {
        key: `s${sequence}`,
        label,
        start: end - took,
        end,
        tone: data["is_error"] === true ? ("bad" as const) : ("setup" as const),
      },
    ];
  });
}

function toCalls(events: readonly RunEvent[]): readonly Span[] {
  return thin(
    toModelCalls(events).map((call) => ({
      key: `c${call.sequence}`,
      label: describeCall(call),
      start: call.end - call.duration_ms,
      end: call.end,
      tone: "model",
    })),
  );
}

/** Model calls that are tried again, each with its pause, and executions that were lost. */
function toRetries(events: readonly RunEvent[]): Span[] {
  return events.flatMap(({ type, occurred_at, data, sequence }): Span[] => {
    const start = Date.parse(occurred_at);
    const span = { key: `r${sequence}`, start, tone: "retry" as const, target: `e${sequence}` };
    if (type === "execution_lost") return [{ ...span, label: "Execution lost", end: start }];
    if (type !== "model_retry") return [];
    const { next_in_ms: pause, attempt, of, reason } = data;
    const count = typeof attempt === "number" && typeof of === "number" ? ` ${attempt} of ${of}` : "";
    const why = typeof reason === "string" ? `: ${reason}` : "";
    return [{ ...span, label: `Retry${count}${why}`, end: start + (typeof pause === "number" ? pause : 0) }];
  });
}

function toActions(entries: readonly Entry[], now: number): readonly Span[] {
  const spans = entries.flatMap((entry): Span[] => {
    if (entry.kind !== "action") return [];
    const start = Date.parse(entry.at);
    const end = entry.endedAt === undefined ? (entry.state === "running" ? now : start) : Date.parse(entry.endedAt);
    const tone = entry.state === "running" ? "active" : entry.state === "completed" ? "good" : "bad";
    return [
      { key: entry.key, label: actionTitle(entry).text, start, end: Math.max(start, end), tone, target: entry.key },
    ];
  });
  return thin(spans);
}

/** Leaves out spans that would not be distinguishable. */
function thin(spans: readonly Span[]): readonly Span[] {
  const step = Math.ceil(spans.length / MAX_SPANS);
  return step <= 1 ? spans : spans.filter((_, index) => index % step === 0);
}
