import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import * as v from "valibot";
import { worker } from "#shared/queue/worker.ts";
import { liveReaper, type ReaperPorts } from "#shared/runs/live.ts";
import { reapUntilQuiet } from "#shared/runs/reaper-passes.ts";
import { ReaperMessage } from "#shared/runs/run-queue.ts";

/** What the rule of each minute sends; an event of any other kind is somebody's mistake. */
const Tick = v.object({ source: v.literal("aws.events"), "detail-type": v.literal("Scheduled Event") });
type Tick = v.InferOutput<typeof Tick>;

/** SQS `reaper`: another pass within the minute, while runs are alive. */
const reapAgain = worker({
  message: ReaperMessage,
  async run(message, ports: ReaperPorts) {
    await reapUntilQuiet(message.pass, ports);
  },
});

/** Each minute by the scheduler, and by its own queue in between. */
export const reapRuns = {
  async handle(event: Tick | SQSEvent, ports: ReaperPorts): Promise<SQSBatchResponse> {
    if ("Records" in event) return reapAgain.handle(event, ports);
    v.parse(Tick, event);
    await reapUntilQuiet(0, ports);
    return { batchItemFailures: [] };
  },
};

let ports: ReaperPorts | undefined;

export async function handler(event: Tick | SQSEvent): Promise<SQSBatchResponse> {
  ports ??= liveReaper();
  return reapRuns.handle(event, ports);
}
