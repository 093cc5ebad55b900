import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import * as v from "valibot";
import { drainDeadRuns } from "#shared/executions/dead-runs.ts";
import type { ReaperPorts } from "#shared/executions/execution-ports.ts";
import { reapUntilQuiet } from "#shared/executions/reaper-passes.ts";
import { queueConsumer } from "#shared/queue/consumer.ts";
import { invocation } from "#shared/queue/invocation.ts";
import { ReaperMessage } from "#shared/queue/run-queue.ts";

/** The event of the rule that runs every minute; any other event is an error, except the empty event of an operator. */
const Tick = v.object({ source: v.literal("aws.events"), "detail-type": v.literal("Scheduled Event") });
type Tick = v.InferOutput<typeof Tick>;

/** The queue `reaper` of a single machine: runs another pass within the minute, while runs are active. */
const reapAgain = queueConsumer({
  message: ReaperMessage,
  async run(message, ports: ReaperPorts) {
    await reapUntilQuiet(message.pass, ports);
  },
});

/** Checks the runs that are due, and handles dead letters of `runs`: each minute by an EventBridge rule. */
export const reapRuns = invocation(async (event: Tick | SQSEvent, ports: ReaperPorts): Promise<SQSBatchResponse> => {
  if ("Records" in event) return reapAgain.handle(event, ports);
  if (Object.keys(event).length > 0) v.parse(Tick, event);
  await drainDeadRuns(ports);
  await reapUntilQuiet(0, ports);
  return { batchItemFailures: [] };
});
