import { type Api, callApi } from "../../../server/host/api.ts";
import { RunEvents } from "../../../shared/wire/event.ts";
import { RunAgentResponse } from "../../../shared/wire/runs/new-run.ts";
import { PROMPT } from "../latency.ts";
import { calculateSpread, type Spread } from "../statistics.ts";

/** Runs of several callers, each of which waits for the end of its run before it creates the next. */
export interface Throughput {
  readonly runs: number;
  readonly callers: number;
  readonly succeeded: number;
  readonly perSecond: number;
  /** Milliseconds from the submission until the caller knows of the end. */
  readonly end: Spread;
}

/** Creates runs and follows each to its end. */
export async function measureThroughput(api: Api, runs: number, callers: number): Promise<Throughput> {
  const ends: number[] = [];
  let remaining = runs;
  let succeeded = 0;
  const began = performance.now();
  const call = async (): Promise<void> => {
    while (remaining-- > 0) {
      const since = performance.now();
      if ((await runToEnd(api)) === "run_succeeded") succeeded++;
      ends.push(performance.now() - since);
    }
  };
  await Promise.all(Array.from({ length: callers }, call));
  const seconds = (performance.now() - began) / 1000;
  return { runs, callers, succeeded, perSecond: runs / seconds, end: calculateSpread(ends) };
}

/** Creates a run and waits until it has ended; returns the type of its last event. */
async function runToEnd(api: Api): Promise<string | undefined> {
  const { run_id } = await callApi(api, "POST", "/agent/runs", RunAgentResponse, { prompt: PROMPT });
  let after = 0;
  while (true) {
    const path = `/agent/runs/${run_id}/events?after=${after}&wait=20`;
    const { events, next, ended } = await callApi(api, "GET", path, RunEvents);
    if (ended) return events.at(-1)?.type;
    after = next;
  }
}
