import type { RunEvent, RunItem } from "../../../clients/typescript/src/index.ts";
import { PULL_REQUEST } from "../../runs/run-outcome.ts";
import { isEnded, isFailed } from "../../ui/format.ts";
import type { ActionEntry, Entry, MarkEntry } from "../feed.ts";

/** Marks that repeat what the card of the result says about the end of the run. */
const END_MARKS: ReadonlySet<string> = new Set(["run_failed", "run_errored", "run_blocked", "run_cancelled"]);
/** States of an action in which it has not failed. A denied call is an answer of a person. */
const NOT_FAILED: ReadonlySet<string> = new Set(["running", "completed", "lost", "denied"]);
const FAILED_MARKS: ReadonlySet<string> = new Set(["run_failed", "run_errored", "execution_lost"]);

/** Whether an entry of the conversation is an error. */
export const isError = (entry: Entry): boolean =>
  entry.kind === "action" ? !NOT_FAILED.has(entry.state) : entry.kind === "mark" && FAILED_MARKS.has(entry.type);

/** The action that failed last, in a run that failed. */
export const failingStep = ({ state }: RunItem, entries: readonly Entry[]): ActionEntry | undefined =>
  isFailed(state)
    ? entries.findLast((entry): entry is ActionEntry => entry.kind === "action" && isError(entry))
    : undefined;

/** Leaves out the mark of the run's end, and a last text that says why it failed, because the card of the result shows them. */
export function withoutEnd(run: RunItem, entries: readonly Entry[]): readonly Entry[] {
  const { state, status_message: status } = run;
  if (!isEnded(state) || status === undefined) return entries;
  const end = entries.findLast((entry): entry is MarkEntry => entry.kind === "mark" && END_MARKS.has(entry.type));
  const last = entries.findLast((entry) => entry !== end);
  const isReason = last?.kind === "text" && state !== "SUCCEEDED" && last.text.trim() === status.message.trim();
  return entries.filter((entry) => entry !== end && !(isReason && entry === last));
}

/** The agent's last text, which is its answer once the run has succeeded. */
export function answerOf({ state }: RunItem, entries: readonly Entry[]): string | undefined {
  if (state !== "SUCCEEDED") return undefined;
  const last = entries.findLast((entry) => entry.kind === "text");
  return last?.kind === "text" && last.role === "assistant" ? last.text : undefined;
}

/** The artifacts besides patches and pull requests, which have places of their own. */
export const countArtifacts = ({ artifacts = [] }: RunItem): number =>
  artifacts.filter(
    (one) => one.artifact_type !== "PULL_REQUEST" && !(one.artifact_type === "FILE" && one.data.git !== undefined),
  ).length;

/** The output of the part of the setup that failed last. */
export function failedSetup(
  events: readonly RunEvent[],
): { readonly type: string; readonly detail: string } | undefined {
  const event = events.findLast(({ type, data }) => type.startsWith("setup_") && data["is_error"] === true);
  const detail = event?.data["detail"];
  return event === undefined ? undefined : { type: event.type, detail: typeof detail === "string" ? detail : "" };
}

/** "Pull request 1841". */
export const pullRequestName = (url: string): string =>
  ["Pull request", ...(PULL_REQUEST.exec(url)?.slice(2) ?? [])].join(" ");
