import { queryOptions, useQuery } from "@tanstack/react-query";
import { useMemo, useSyncExternalStore } from "react";
import type { RunItem, RunsListParams } from "../../clients/typescript/src/index.ts";
import { client } from "../api/client.ts";
import { queryClient } from "../api/query-client.ts";
import { useMe } from "../api/session.ts";
import { ENDED_STATES, type Inbox, mergeRuns, sortInbox } from "./inbox.ts";
import { onInboxChange, readInboxState, startOfInbox } from "./inbox-state.ts";

const POLL_MS = 15_000;
/** Everything is read again after this time, because runs that were archived or deleted are no changes. */
const MAX_AGE_MS = 10 * 60_000;
/** The API leaves out equal times, so changes are requested from a time that was read already. */
const OVERLAP_MS = 1000;
const MAX_ASKING = 100;
const MAX_ENDED = 200;

interface InboxRuns {
  readonly runs: readonly RunItem[];
  /** The time from which on changes are not known. */
  readonly after: string;
  readonly readAt: number;
}

const inboxQuery = (user: string, scope: "mine" | "all", inBackground: boolean) => {
  const queryKey = ["inbox", scope] as const;
  const creator = scope === "mine" ? { creator: user } : {};
  const list = async (params: RunsListParams, signal: AbortSignal) =>
    (await client.runs.list({ ...creator, sort_by: "updated_at", ...params }, { signal })).body;
  return queryOptions({
    queryKey,
    staleTime: POLL_MS,
    refetchInterval: POLL_MS,
    refetchIntervalInBackground: inBackground,
    queryFn: async ({ signal }): Promise<InboxRuns> => {
      const last = queryClient.getQueryData<InboxRuns>(queryKey);
      if (last !== undefined && Date.now() - last.readAt < MAX_AGE_MS) {
        const changes = await list({ updated_after: last.after, limit: MAX_ENDED }, signal);
        if (!changes.page_info.has_next_page) {
          return { ...last, runs: mergeRuns(last.runs, changes.runs), after: latest(changes.runs, last.after) };
        }
      }
      const since = startOfInbox(readInboxState(user), Date.now());
      const [asking, ended] = await Promise.all([
        list({ state: ["BLOCKED"], limit: MAX_ASKING }, signal),
        list({ state: [...ENDED_STATES], updated_after: since, limit: MAX_ENDED }, signal),
      ]);
      const runs = mergeRuns(asking.runs, ended.runs);
      return { runs, after: latest(runs, since), readAt: Date.now() };
    },
  });
};

/** A time before the latest change of runs, and not before `after`. */
function latest(runs: readonly RunItem[], after: string): string {
  const newest = Math.max(...runs.map(({ updated_at }) => Date.parse(updated_at) - OVERLAP_MS), Date.parse(after));
  return new Date(newest).toISOString();
}

/** Calls the listener when what was read has changed, in this tab or in another one. */
function subscribe(listener: () => void): () => void {
  const stop = onInboxChange(listener);
  addEventListener("storage", listener);
  return () => {
    stop();
    removeEventListener("storage", listener);
  };
}

/** What waits for the signed-in person, kept up to date. It is followed in the background if the person wants notifications. */
export function useInbox() {
  const { uid } = useMe();
  const state = useSyncExternalStore(subscribe, () => readInboxState(uid));
  const query = useQuery(inboxQuery(uid, state.scope, state.notify));
  const runs = query.data?.runs;
  const inbox = useMemo((): Inbox | undefined => runs && sortInbox(runs, state), [runs, state]);
  return { inbox, state, query };
}

/** Reads the inbox from scratch, after a change that the API does not list. */
export const resetInbox = (): Promise<void> => queryClient.resetQueries({ queryKey: ["inbox"] });
