import { setTimeout as pause } from "node:timers/promises";
import * as v from "valibot";
import { type Api, callApi } from "../../../server/host/api.ts";
import { RunEvents } from "../../../shared/wire/event.ts";
import { RunAgentResponse } from "../../../shared/wire/runs/new-run.ts";
import { PROMPT, untilEnded } from "../latency.ts";
import { calculateSpread, quantile, type Spread } from "../statistics.ts";

/** The responses to many callers at once, and how another caller is affected. */
export interface Overload {
  readonly callers: number;
  readonly seconds: number;
  /** Responses by status. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly milliseconds: Spread & { readonly most: number };
  readonly accepted: number;
  /** Seconds until the last accepted run had ended, after the callers had stopped. */
  readonly drainSeconds: number;
  /** Milliseconds until a run of another owner executes, while nothing else happens and under the load; medians. */
  readonly otherQuietMs: number;
  readonly otherLoadedMs: number;
}

const OTHER_RUNS = 8;

/** Lets callers create and read runs as fast as the service responds. */
export async function measureOverload(api: Api, callers: number, seconds: number): Promise<Overload> {
  const { key } = await callApi(api, "POST", "/agent/keys", v.object({ key: v.string() }), { name: "another caller" });
  const other = { baseUrl: api.baseUrl, key };
  const otherQuietMs = await measureStartTime(other);
  const statuses: Record<string, number> = {};
  const times: number[] = [];
  const accepted: string[] = [];
  const until = performance.now() + seconds * 1000;
  const call = async (): Promise<void> => {
    while (performance.now() < until) {
      const since = performance.now();
      const { status, runId, retryAfter } = await createRun(api);
      times.push(performance.now() - since);
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (runId === undefined) await pause(retryAfter * 1000);
      else {
        accepted.push(runId);
        await follow(api, runId, until, statuses, times);
      }
    }
  };
  const calling = Array.from({ length: callers }, call);
  await pause((seconds * 1000) / 4);
  const otherLoadedMs = await measureStartTime(other);
  await Promise.all(calling);
  const stopped = performance.now();
  for (const runId of accepted) await untilEnded(api, runId);
  const drainSeconds = (performance.now() - stopped) / 1000;
  const milliseconds = { ...calculateSpread(times), most: Math.max(...times) };
  return {
    ...{ callers, seconds, statuses, milliseconds, accepted: accepted.length },
    ...{ drainSeconds, otherQuietMs, otherLoadedMs },
  };
}

async function createRun(api: Api): Promise<{ status: string; runId?: string; retryAfter: number }> {
  const response = await request(api, "POST", "/agent/runs", JSON.stringify({ prompt: PROMPT }));
  if (typeof response === "string") return { status: response, retryAfter: 1 };
  const retryAfter = Number(response.headers.get("retry-after") ?? 1);
  const body: unknown = await response.json();
  const status = String(response.status);
  return response.ok ? { status, runId: v.parse(RunAgentResponse, body).run_id, retryAfter } : { status, retryAfter };
}

/** Reads a run until it has ended, as a page does that shows it. */
async function follow(api: Api, runId: string, until: number, statuses: Record<string, number>, times: number[]) {
  while (performance.now() < until) {
    const since = performance.now();
    const response = await request(api, "GET", `/agent/runs/${runId}`);
    times.push(performance.now() - since);
    const status = typeof response === "string" ? response : String(response.status);
    statuses[status] = (statuses[status] ?? 0) + 1;
    if (typeof response === "string") continue;
    const body = v.safeParse(v.object({ state: v.string() }), await response.json());
    if (body.success && !["QUEUED", "PENDING", "INPROGRESS"].includes(body.output.state)) return;
    await pause(Number(response.headers.get("retry-after") ?? 1) * 1000);
  }
}

/** Resolves with the response, or with what went wrong. */
async function request(api: Api, method: string, path: string, body?: string): Promise<Response | string> {
  const headers = { authorization: `Bearer ${api.key}`, "content-type": "application/json" };
  const init = { method, headers, signal: AbortSignal.timeout(30_000), ...(body === undefined ? {} : { body }) };
  return fetch(api.baseUrl + path, init).catch((error: unknown) => (error instanceof Error ? error.name : "failed"));
}

/** Milliseconds until runs of another owner execute, one after the other; the median. */
async function measureStartTime(api: Api): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < OTHER_RUNS; run++) {
    const since = Date.now();
    const body = { prompt: PROMPT, team: false };
    const { run_id } = await callApi(api, "POST", "/agent/runs", RunAgentResponse, body);
    await untilEnded(api, run_id);
    const { events } = await callApi(api, "GET", `/agent/runs/${run_id}/events?after=0`, RunEvents);
    const started = events.find(({ type }) => type === "worker_container_ready");
    if (started !== undefined) times.push(Date.parse(started.occurred_at) - since);
  }
  return quantile(times, 0.5);
}
