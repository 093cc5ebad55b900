import * as v from "valibot";
import { readStored, store } from "../api/browser-storage.ts";

const DAY_MS = 86_400_000;
/** Runs that ended longer ago are not requested. */
const MAX_DAYS = 14;
/** Limit of the runs that are remembered as read one by one. */
const MAX_READ = 500;

const State = v.object({
  /** Everything that ended up to this time is read. */
  since: v.string(),
  /** The time up to which a single run is read, by the run's id. */
  read: v.record(v.string(), v.string()),
  /** Whose runs are shown: those that the person created, or all that the person can see. */
  scope: v.picklist(["mine", "all"]),
  /** Whether the browser notifies of what is new. */
  notify: v.boolean(),
});
/** What a person has read, and how they look at it. The API has no place for it, so this browser keeps it. */
export type InboxState = Readonly<v.InferOutput<typeof State>>;
const Stored = v.pipe(v.string(), v.parseJson(), State);

const nameFor = (user: string): string => `runyard.inbox.${user}`;
const listeners = new Set<() => void>();

/** The states that were parsed, so that the same text yields the same object. */
const parsed = new Map<string, { readonly text: string | undefined; readonly state: InboxState }>();

/** Reads a person's state. On the first visit, everything older than a day counts as read. */
export function readInboxState(user: string): InboxState {
  const text = readStored("localStorage", nameFor(user));
  const last = parsed.get(user);
  if (last !== undefined && last.text === text) return last.state;
  const stored = v.safeParse(Stored, text);
  const since = new Date(Date.now() - DAY_MS).toISOString();
  const state: InboxState = stored.success ? stored.output : { since, read: {}, scope: "mine", notify: false };
  parsed.set(user, { text, state });
  return state;
}

export function changeInboxState(user: string, changes: Partial<InboxState>): void {
  const state = { ...readInboxState(user), ...changes };
  const latest = Object.entries(state.read)
    .filter(([, at]) => at > state.since)
    .sort(([, a], [, b]) => (a < b ? 1 : -1))
    .slice(0, MAX_READ);
  store("localStorage", nameFor(user), JSON.stringify({ ...state, read: Object.fromEntries(latest) }));
  for (const notify of listeners) notify();
}

/** Marks everything that runs did until now as read, by the clocks of the service and of the browser. */
export function markRead(user: string, runs: readonly { readonly run_id: string; readonly at?: string }[]): void {
  const { read } = readInboxState(user);
  const now = new Date().toISOString();
  const added = runs.map(({ run_id, at = now }) => [run_id, at > now ? at : now] as const);
  changeInboxState(user, { read: { ...read, ...Object.fromEntries(added) } });
}

/** The time from which on ended runs are requested. */
export function startOfInbox({ since }: Pick<InboxState, "since">, now: number): string {
  const oldest = new Date(now - MAX_DAYS * DAY_MS).toISOString();
  return since > oldest ? since : oldest;
}

/** Calls the listener when a state was changed in this tab. */
export function onInboxChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
