import { useEffect, useState } from "react";
import * as v from "valibot";
import { APIError } from "../../clients/typescript/src/index.ts";
import { client } from "../api/client.ts";
import { runQuery } from "../api/queries.ts";
import { queryClient } from "../api/query-client.ts";
import { addEvents, addLiveFrames, emptyFeed, type Feed, LiveFrames } from "./feed.ts";

export type Connection = "loading" | "live" | "ended" | "reconnecting";

export interface FollowedRun {
  readonly feed: Feed;
  readonly connection: Connection;
  /** Why the run cannot be followed, where trying again would not help. */
  readonly error: unknown;
  /** Asks at once, after an action that restarts an ended run. */
  readonly refresh: () => void;
}

const WAIT_SECONDS = 20;
const MAX_PAUSE_MS = 15_000;

/** Follows the events of a run while the page is open. */
export function useFeed(runId: string): FollowedRun {
  const [state, setState] = useState<Omit<FollowedRun, "refresh">>(start);
  const [round, setRound] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another round starts the loop again.
  useEffect(() => {
    const visit = new AbortController();
    void follow(runId, visit.signal, (change) => setState((last) => ({ ...last, ...change(last.feed) })));
    return () => visit.abort();
  }, [runId, round]);
  return { ...state, refresh: () => setRound((last) => last + 1) };
}

const start: Omit<FollowedRun, "refresh"> = { feed: emptyFeed, connection: "loading", error: undefined };

type Change = (feed: Feed) => Partial<Omit<FollowedRun, "refresh">>;

async function follow(runId: string, signal: AbortSignal, apply: (change: Change) => void): Promise<void> {
  let after = 0;
  let failures = 0;
  while (!signal.aborted) {
    const asked = Date.now();
    try {
      const query = { after, wait: WAIT_SECONDS, live: true };
      const timeout = (WAIT_SECONDS + 15) * 1000;
      const body = await client.runs.listEvents(runId, query, { signal, timeout, maxRetries: 0 });
      const frames = v.parse(LiveFrames, "live" in body ? body.live : undefined);
      after = body.next;
      failures = 0;
      apply((feed) => ({
        feed: addLiveFrames(addEvents(feed, body.events), frames),
        connection: body.ended ? "ended" : "live",
      }));
      if (body.events.some(({ type }) => type !== "messages")) {
        void queryClient.invalidateQueries({ queryKey: runQuery(runId).queryKey, exact: true });
      }
      // A follow-up may continue an ended run; it is looked at again when the viewer comes back to the page.
      if (body.ended) await comeback(signal);
      else if (body.events.length === 0 && frames.length === 0 && Date.now() - asked < 1000) await pause(1000, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof APIError && [400, 401, 403, 404].includes(error.status ?? 0)) {
        apply(() => ({ error }));
        return;
      }
      failures += 1;
      apply(() => ({ connection: "reconnecting" }));
      await pause(Math.min(MAX_PAUSE_MS, 500 * 2 ** failures) * (0.5 + Math.random() / 2), signal);
    }
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function comeback(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    addEventListener("focus", () => resolve(), { once: true, signal });
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
