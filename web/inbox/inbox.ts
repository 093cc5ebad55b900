import type { RunItem, RunState } from "../../clients/typescript/src/index.ts";
import { isFailed } from "../ui/format.ts";
import type { InboxState } from "./inbox-state.ts";

/** States in which a run appears in the inbox. */
export const ENDED_STATES: readonly RunState[] = ["SUCCEEDED", "FAILED", "ERROR"];
const isShown = ({ state }: RunItem): boolean => state === "BLOCKED" || ENDED_STATES.includes(state);

/** What waits for a person, newest first. */
export interface Inbox {
  readonly asking: readonly RunItem[];
  readonly failed: readonly RunItem[];
  readonly finished: readonly RunItem[];
}

export const countInbox = ({ asking, failed, finished }: Inbox): number =>
  asking.length + failed.length + finished.length;

/** The time of the event that put a run into the inbox. */
export const eventTime = ({ finished_at, updated_at }: RunItem): string => finished_at ?? updated_at;

/** Sorts runs into the parts of the inbox. Child runs that have ended are left to their parents. */
export function sortInbox(runs: readonly RunItem[], { since, read }: Pick<InboxState, "since" | "read">): Inbox {
  const newest = runs.toSorted((a, b) => (eventTime(a) < eventTime(b) ? 1 : -1));
  const isUnread = (run: RunItem) =>
    run.parent_run_id === undefined && eventTime(run) > since && eventTime(run) > (read[run.run_id] ?? "");
  return {
    asking: newest.filter(({ state }) => state === "BLOCKED"),
    failed: newest.filter((run) => isFailed(run.state) && isUnread(run)),
    finished: newest.filter((run) => run.state === "SUCCEEDED" && isUnread(run)),
  };
}

/** Merges changes into the known runs. Runs that are active again are removed. */
export function mergeRuns(runs: readonly RunItem[], changed: readonly RunItem[]): RunItem[] {
  const byId = new Map([...runs, ...changed].map((run) => [run.run_id, run]));
  return [...byId.values()].filter(isShown);
}
