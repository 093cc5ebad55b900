import type { RunState } from "#shared/wire/run.ts";

/** The state machine. A transition that is not listed cannot be written: its transaction has the state that it leaves as a condition. */
export const TRANSITIONS: Readonly<Record<RunState, readonly RunState[]>> = {
  QUEUED: ["PENDING", "CANCELLED", "FAILED", "ERROR"],
  PENDING: ["INPROGRESS", "CLAIMED", "QUEUED", "FAILED", "ERROR", "CANCELLED"],
  CLAIMED: ["INPROGRESS", "QUEUED", "FAILED", "ERROR", "CANCELLED"],
  INPROGRESS: ["SUCCEEDED", "FAILED", "ERROR", "BLOCKED", "CANCELLED", "QUEUED"],
  SUCCEEDED: ["QUEUED"],
  FAILED: ["QUEUED"],
  ERROR: ["QUEUED"],
  BLOCKED: ["QUEUED"],
  CANCELLED: ["QUEUED"],
};

export type TerminalState = "SUCCEEDED" | "FAILED" | "ERROR" | "BLOCKED" | "CANCELLED";
export type ExecutingState = "PENDING" | "CLAIMED" | "INPROGRESS";

export const isTerminal = (state: RunState): state is TerminalState =>
  state !== "QUEUED" && state !== "PENDING" && state !== "CLAIMED" && state !== "INPROGRESS";

export const isExecuting = (state: RunState): state is ExecutingState =>
  state === "PENDING" || state === "CLAIMED" || state === "INPROGRESS";

/** Consecutive lost executions, without a new checkpoint between them, after which a run ends in ERROR. */
export const MAX_LOSSES = 3;
/**
 * Consecutive executions that ended with a restart of the service itself, as on one machine. They are no fault of the run, but a run
 * that brings the service down each time has to end.
 */
export const MAX_RESTARTS = 20;

/**
 * Seconds between two heartbeats of an execution; the responses to them bring cancels, follow-ups and readers to it. An interrupt ends the
 * turn within ten seconds, of which one is left for stopping its command.
 */
export const heartbeatSeconds = (isWatched: boolean): number => (isWatched ? 5 : 9);
/** Minutes for which an interactive or interrupted run waits for a follow-up. */
export const DEFAULT_IDLE_MINUTES = 10;
/** Seconds without a heartbeat after which the lease of an execution expires. */
export const LEASE_SECONDS = 30;
/** Seconds within which the caller of a run with `execution_location` LOCAL must begin it, and then send each heartbeat. */
export const LOCAL_START_SECONDS = 3_600;
export const LOCAL_LEASE_SECONDS = 120;

/** Limits of one run; requests beyond them get 429. */
export const RUN_CAPS = {
  messages: 20_000,
  messageBytes: 100 * 1024 * 1024,
  artifacts: 1_000,
  artifactBytes: 5 * 1024 * 1024 * 1024,
  children: 100,
  uploads: 100,
  uploadBytes: 1024 * 1024 * 1024,
  followups: 1_000,
  clientEvents: 2_000,
  snapshots: 500,
  transcripts: 1_000,
  notifications: 10,
} as const;

/** Runs of one tree below its root, counted at the root. */
export const MAX_DESCENDANTS = 500;

export const DEFAULT_CONCURRENCY_LIMIT = 20;
/** Runs of one tree that execute at the same depth, below its root. */
export const TREE_CONCURRENCY_LIMIT = 8;
export const DEFAULT_QUEUE_LIMIT = 1_000;

const TITLE_LENGTH = 120;

/** The title of a run: the first line of its prompt with text in it, without Markdown syntax; else its skill. */
export function deriveTitle(prompt: string | undefined, skill: string | undefined): string {
  const line = (prompt ?? "")
    .split("\n")
    .map((text) => text.replace(/^[\s#>*-]+/, "").trim())
    .find((text) => text !== "" && !text.startsWith("```"));
  const title = line ?? skill ?? "Untitled run";
  const points = [...title];
  return points.length > TITLE_LENGTH ? `${points.slice(0, TITLE_LENGTH - 1).join("")}…` : title;
}

const STATUS_LENGTH = 1_024;

/** Formats a status message as one line within its limit. */
export function statusText(message: string): string {
  const line = message.replace(/\s+/g, " ").trim();
  const points = [...line];
  return points.length > STATUS_LENGTH ? `${points.slice(0, STATUS_LENGTH - 1).join("")}…` : line;
}

/** Formats an ISO 8601 duration with milliseconds, such as PT75.250S. */
export const toDuration = (milliseconds: number): string => `PT${(milliseconds / 1000).toFixed(3)}S`;

const SORT_KEY_LENGTH = 200;

/** Folds a text for sorting: NFKC, lower case, its first 200 code points. */
export const folded = (text: string): string =>
  [...text.normalize("NFKC").toLowerCase()].slice(0, SORT_KEY_LENGTH).join("");
