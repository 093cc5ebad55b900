import { setTimeout as pause } from "node:timers/promises";
import type * as v from "valibot";
import { RunEvents } from "#shared/wire/event.ts";
import { RunItem } from "#shared/wire/run.ts";
import { isCommand, toDisplayEvents } from "../../../cli/src/follow/display-events.ts";
import { EventPrinter } from "../../../cli/src/follow/event-printer.ts";
import { type Api, callApi } from "../api.ts";
import { Problem, style } from "../terminal.ts";

export interface FollowedRun {
  run: v.InferOutput<typeof RunItem>;
  /** Milliseconds from `since` to the first command; absent when there was none. */
  firstCommandMs?: number;
}

export interface FollowOptions {
  runId: string;
  /** When the run was submitted, in milliseconds since the epoch. */
  since: number;
  print: (line: string) => void;
}

/** Follows a run to its end and prints its states, steps and commands as they happen. */
export async function followRun(api: Api, options: FollowOptions): Promise<FollowedRun> {
  const { since, print } = options;
  const printer = new EventPrinter({ style, print, since, verbose: false });
  let firstCommandMs: number | undefined;
  let after = 0;
  let failures = 0;
  for (;;) {
    api.signal?.throwIfAborted();
    try {
      const page = await callApi(api, "GET", `/agent/runs/${options.runId}/events?after=${after}&wait=20`, RunEvents);
      failures = 0;
      for (const event of page.events) {
        printer.print(event);
        const command = toDisplayEvents(event).find(isCommand);
        if (command !== undefined) firstCommandMs ??= Math.max(0, Date.parse(command.at) - since);
        after = event.sequence;
      }
      if (page.ended) break;
      // An immediate empty response must not cause a busy loop.
      if (page.events.length === 0) await pause(50);
    } catch (error) {
      failures++;
      if (failures === 5) throw error;
      await pause(100 * failures);
    }
  }
  const run = await callApi(api, "GET", `/agent/runs/${options.runId}`, RunItem);
  if (run.run_id !== options.runId) throw new Problem(`asked for run ${options.runId} and got ${run.run_id}`);
  return { run, ...(firstCommandMs === undefined ? {} : { firstCommandMs }) };
}
