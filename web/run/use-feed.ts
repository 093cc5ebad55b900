import { useRouter } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { APIError, type LiveFrame, type RunEvent } from "../../clients/typescript/src/index.ts";
import { client, isSignedOut } from "../api/client.ts";
import { dropEarlyResponses } from "../api/early-responses.ts";
import { runQuery } from "../api/queries.ts";
import { queryClient, refreshQueries } from "../api/query-client.ts";
import { readMe, sessionQuery } from "../api/session.ts";
import { addEvents, addLiveFrames, emptyFeed, type Feed } from "./feed.ts";
import { readTogether } from "./shared-stream.ts";

export type Connection = "loading" | "live" | "ended" | "reconnecting";

export interface FollowedRun {
  readonly feed: Feed;
  readonly connection: Connection;
  /** The last known position in the queue for capacity; 1 is the next run to start. */
  readonly position: number | undefined;
  /** Why the run cannot be followed, where trying again would not help. */
  readonly error: unknown;
  /** Requests events at once, after an action that restarts an ended run. */
  readonly refresh: () => void;
}

interface News {
  readonly events: RunEvent[];
  readonly frames: LiveFrame[];
}

interface Reader {
  readonly signal: AbortSignal;
  readonly onNews: (news: News) => void;
  readonly onConnection: (connection: Connection) => void;
  readonly onWaiting: (position: number) => void;
  readonly onError: (error: unknown) => void;
}

/** What comes within this time is shown at once. */
const BATCH_MS = 50;
const MAX_PAUSE_MS = 15_000;

/** Follows the events and the live output of a run while the page is open. */
export function useFeed(runId: string): FollowedRun {
  const [feed, setFeed] = useState(emptyFeed);
  const [connection, setConnection] = useState<Connection>("loading");
  const [position, setPosition] = useState<number>();
  const [error, setError] = useState<unknown>();
  const [round, setRound] = useState(0);
  const last = useRef(0);
  const router = useRouter();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another round starts the loop again.
  useEffect(() => {
    const visit = new AbortController();
    void follow(runId, last, {
      signal: visit.signal,
      onNews: ({ events, frames }) => setFeed((shown) => addLiveFrames(addEvents(shown, events), frames)),
      onConnection: setConnection,
      onWaiting: setPosition,
      onError: (refusal) => {
        setError(refusal);
        if (!isSignedOut(refusal)) return;
        queryClient.setQueryData(sessionQuery.queryKey, null);
        void router.invalidate();
      },
    });
    return () => visit.abort();
  }, [runId, round]);
  const refresh = () => {
    setError(undefined);
    setRound((count) => count + 1);
  };
  return { feed, connection, position, error, refresh };
}

/** Follows while the page is visible: browsers limit the connections of all tabs together, and a service pays for each. */
async function follow(runId: string, last: { current: number }, reader: Reader): Promise<void> {
  const { signal, onConnection, onError } = reader;
  for (let failures = 0; !signal.aborted; ) {
    await untilVisible(signal);
    const visible = whileVisible(signal);
    try {
      await readStream(runId, last, { ...reader, signal: visible });
      failures = 0;
      onConnection("ended");
      // A follow-up may continue an ended run; it is looked at again when the viewer comes back to the page.
      await comeback(signal);
    } catch (error) {
      if (signal.aborted) return;
      if (visible.aborted) continue;
      if (error instanceof APIError && [400, 401, 403, 404].includes(error.status ?? 0)) return onError(error);
      failures += 1;
      onConnection("reconnecting");
      await pause(Math.min(MAX_PAUSE_MS, 500 * 2 ** failures) * (0.5 + Math.random() / 2), signal);
    }
  }
}

/** Reads until the run has ended. Events come one by one and are passed on in batches. */
async function readStream(runId: string, last: { current: number }, reader: Reader): Promise<void> {
  const { signal, onNews, onConnection, onWaiting } = reader;
  const readRun = onceAtATime(() => refreshQueries({ queryKey: runQuery(runId).queryKey, exact: true }));
  let news: News = { events: [], frames: [] };
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = () => {
    timer = undefined;
    if (signal.aborted) return;
    onConnection("live");
    onNews(news);
    last.current = news.events.at(-1)?.sequence ?? last.current;
    if (news.events.some(({ type }) => type !== "messages")) {
      void readRun();
    }
    news = { events: [], frames: [] };
  };
  try {
    await readTogether({
      name: `stream ${readMe().uid} ${runId}`,
      after: last.current,
      source: {
        list: (after, signal) => {
          // Another page reads the stream, so the one that this page requested before the app was loaded is not needed.
          dropEarlyResponses();
          return client.runs.listEvents(runId, { after, live: true }, { signal });
        },
        stream: (after, options) => client.runs.stream(runId, { after, maxRetries: 1, ...options }),
      },
      signal,
      onPart(part) {
        if (part.kind === "waiting") return onWaiting(part.position);
        if (part.kind === "event") news.events.push(part.event);
        else news.frames.push(part.frame);
        timer ??= setTimeout(flush, BATCH_MS);
      },
    });
  } finally {
    clearTimeout(timer);
    if (timer !== undefined) flush();
  }
}

/** Starts the work, or, where it is under way, once more after it. So each call is followed by work that began after it. */
function onceAtATime(work: () => Promise<void>): () => Promise<void> {
  let isBusy = false;
  let isDue = false;
  return async () => {
    isDue = true;
    if (isBusy) return;
    isBusy = true;
    while (isDue) {
      isDue = false;
      await work();
    }
    isBusy = false;
  };
}

function untilVisible(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const check = () => {
      if (!document.hidden || signal.aborted) resolve();
    };
    document.addEventListener("visibilitychange", check, { signal });
    signal.addEventListener("abort", check, { once: true });
    check();
  });
}

/** A signal that is aborted with another one, or as soon as the page is hidden. */
function whileVisible(signal: AbortSignal): AbortSignal {
  const hidden = new AbortController();
  const check = () => {
    if (document.hidden) hidden.abort();
  };
  document.addEventListener("visibilitychange", check, { signal: AbortSignal.any([signal, hidden.signal]) });
  return AbortSignal.any([signal, hidden.signal]);
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
