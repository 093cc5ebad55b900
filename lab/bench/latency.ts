import { setTimeout as pause } from "node:timers/promises";
import * as v from "valibot";
import { type Api, callApi } from "../../server/host/api.ts";
import { Problem } from "../../server/host/terminal.ts";
import { Message } from "../../shared/wire/conversation.ts";
import { RunEvents } from "../../shared/wire/event.ts";
import { RunItem } from "../../shared/wire/run.ts";
import { RunAgentResponse } from "../../shared/wire/runs/new-run.ts";
import { calculateSpread, type Spread } from "./statistics.ts";

export interface Latency {
  readonly runs: number;
  /** Milliseconds from the submission to the first command, by that command's own clock. */
  readonly firstCommand: Spread;
  /** Milliseconds from the submission to the event of the end. */
  readonly end: Spread;
  /** Milliseconds from the submission to each event on the way, medians. */
  readonly stages: Readonly<Record<string, number>>;
}

/** The first command prints when it ran, so that no reader, batch of messages or poll adds to the time. */
export const PROMPT_COMMAND = "date +%s%3N";
export const PROMPT = `\`\`\`sh\n${PROMPT_COMMAND}\n\`\`\``;
const LOOK_MS = 100;
const PATIENCE_MS = 120_000;
const STAGES = ["run_created", "run_pending", "worker_container_ready", "agent_started", "run_succeeded"] as const;

/** Runs one after the other. */
export async function oneAtATime(api: Api, runs: number): Promise<Latency> {
  const timings: Timing[] = [];
  for (let run = 0; run < runs; run++) {
    await restBefore(run);
    timings.push(...(await submitted(api, 1)));
  }
  return summarizeLatency(timings);
}

/** Up to a second, spread evenly, so that runs start at all phases of a poll interval. */
export const restBefore = (run: number): Promise<void> => pause((run * 618) % 1_000);

/** Runs submitted together. */
export async function atOnce(api: Api, runs: number): Promise<Latency> {
  return summarizeLatency(await submitted(api, runs));
}

interface Timing {
  readonly firstCommand: number;
  readonly end: number;
  readonly stages: Readonly<Record<string, number>>;
}

async function submitted(api: Api, runs: number): Promise<Timing[]> {
  const started = await Promise.all(
    Array.from({ length: runs }, async () => {
      const since = Date.now();
      const { run_id } = await callApi(api, "POST", "/agent/runs", RunAgentResponse, { prompt: PROMPT });
      return { run_id, since };
    }),
  );
  // Rarely, one run after the other, so that polling does not affect the measurement.
  for (const { run_id } of started) await untilEnded(api, run_id);
  return Promise.all(started.map(({ run_id, since }) => measureTiming(api, run_id, since)));
}

/** Waits for a run's success. @throws Problem when it ends otherwise, or not in two minutes */
export async function untilEnded(api: Api, runId: string): Promise<void> {
  for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; await pause(LOOK_MS)) {
    const { state, status_message } = await callApi(api, "GET", `/agent/runs/${runId}`, RunItem);
    if (state === "SUCCEEDED") return;
    if (["FAILED", "ERROR", "BLOCKED", "CANCELLED"].includes(state)) {
      throw new Problem(`Run ${runId} ended as ${state}: ${status_message?.message ?? "without a word"}`);
    }
  }
  throw new Problem(`Run ${runId} has not ended in ${PATIENCE_MS / 1000} s.`);
}

const Output = v.object({ stdout: v.pipe(v.string(), v.trim(), v.toNumber()) });

async function measureTiming(api: Api, runId: string, since: number): Promise<Timing> {
  const { events } = await callApi(api, "GET", `/agent/runs/${runId}/events?after=0`, RunEvents);
  const stages = Object.fromEntries(
    STAGES.flatMap((type) => {
      const event = events.find((one) => one.type === type);
      return event === undefined ? [] : [[type, Date.parse(event.occurred_at) - since]];
    }),
  );
  const results = events
    .filter(({ type }) => type === "messages")
    .flatMap(({ data }) => v.parse(v.object({ messages: v.array(Message) }), data).messages)
    .flatMap(({ content }) => content)
    .filter((block) => block.type === "action_result");
  const ranAt = v.parse(Output, results[0]?.output).stdout;
  return { firstCommand: ranAt - since, end: stages["run_succeeded"] ?? Number.NaN, stages };
}

function summarizeLatency(timings: readonly Timing[]): Latency {
  return {
    runs: timings.length,
    firstCommand: calculateSpread(timings.map(({ firstCommand }) => firstCommand)),
    end: calculateSpread(timings.map(({ end }) => end)),
    stages: Object.fromEntries(
      STAGES.map((type) => [type, calculateSpread(timings.map(({ stages }) => stages[type] ?? Number.NaN)).p50]),
    ),
  };
}
