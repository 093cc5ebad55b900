import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import * as v from "valibot";
import { drainDeadRuns } from "#shared/executions/dead-runs.ts";
import type { ReaperPorts } from "#shared/executions/execution-ports.ts";
import { reapUntilQuiet } from "#shared/executions/reaper-passes.ts";
import { queueConsumer } from "#shared/queue/consumer.ts";
import { invocation } from "#shared/queue/invocation.ts";
import { ReaperMessage } from "#shared/queue/run-queue.ts";
import { ScheduledEvent } from "#shared/queue/scheduled-event.ts";

/** The queue `reaper` of a single machine: runs another pass within the minute, while runs are active. */
const reapAgain = queueConsumer({
  message: ReaperMessage,
  async run(message, ports: ReaperPorts) {
    await reapUntilQuiet(message.pass, ports);
  },
});

/** Checks the runs that are due, and handles dead letters of `runs`: each minute by an EventBridge rule. */
export const reapRuns = invocation(
  async (event: ScheduledEvent | SQSEvent, ports: ReaperPorts): Promise<SQSBatchResponse> => {
    if ("Records" in event) return reapAgain.handle(event, ports);
    // An operator may send an empty event.
    if (Object.keys(event).length > 0) v.parse(ScheduledEvent, event);
    await drainDeadRuns(ports);
    await reapUntilQuiet(0, ports);
    return { batchItemFailures: [] };
  },
);
