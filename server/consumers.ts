import type { SQSEvent } from "aws-lambda";
import * as v from "valibot";
import { attemptDeliveries } from "#functions/executions/attempt-deliveries.ts";
import { decideEvents } from "#functions/executions/decide-events.ts";
import { dispatchRun } from "#functions/executions/dispatch-run.ts";
import { endRun } from "#functions/executions/end-run.ts";
import { fireSchedule } from "#functions/executions/fire-schedule.ts";
import { planDeliveries } from "#functions/executions/plan-deliveries.ts";
import { reapRuns } from "#functions/executions/reap-runs.ts";
import { deadRunConsumer } from "#shared/executions/dead-runs.ts";
import { RunMessage } from "#shared/queue/run-queue.ts";
import { isExecuting } from "#shared/records/run.ts";
import type { ServerPorts } from "./ports.ts";
import { QUEUES } from "./queue/queue-names.ts";
import type { Queues } from "./queue/queues.ts";
import type { ProcessSandbox } from "./sandbox/process-sandbox.ts";

/** Batches that one consumer handles at the same time; each is one message. */
const CONCURRENCY = 8;

/** As that, for attempts of webhook deliveries, which wait for receivers, and of these the ones of one webhook. */
const ATTEMPTS = 40;
const ATTEMPTS_OF_WEBHOOK = 2;

/** Registers the consumers of all queues. `dispatchPorts` are those of the consumer that starts sandboxes. */
export function registerConsumers(
  queues: Queues,
  sandbox: ProcessSandbox,
  ports: ServerPorts,
  dispatchPorts: ServerPorts,
): void {
  queues.consume({
    queue: QUEUES.runs,
    concurrency: CONCURRENCY,
    hasRoom: (inFlight) => sandbox.hasRoom(inFlight),
    accepts: (owner, inFlight, ofOwner) => sandbox.hasRoomFor(owner, inFlight, ofOwner),
    handle: async (event) => {
      const ids = runIds(event);
      // The queue knows whose run it is; the sandbox gets the envelope alone.
      for (const id of ids) sandbox.expect(id, event.Records[0]?.attributes.MessageGroupId ?? "");
      return dispatchRun.handle(event, dispatchPorts).finally(() => ids.forEach(sandbox.forget));
    },
  });
  queues.consume({
    queue: QUEUES.ends,
    concurrency: CONCURRENCY,
    handle: async (event) => {
      await Promise.all(runIds(event).map((runId) => endExecutions(runId, sandbox, ports)));
      return endRun.handle(event, ports);
    },
  });
  const rest = { concurrency: CONCURRENCY } as const;
  queues.consume({ ...rest, queue: QUEUES.workerRuns, handle: (event) => dispatchRun.handle(event, dispatchPorts) });
  for (const queue of [QUEUES.deadRuns, QUEUES.deadWorkerRuns]) {
    queues.consume({ ...rest, queue, handle: (event) => deadRunConsumer.handle(event, ports) });
  }
  queues.consume({ ...rest, queue: QUEUES.ticks, handle: (event) => fireSchedule.handle(event, ports) });
  queues.consume({ ...rest, queue: QUEUES.events, handle: (event) => decideEvents.handle(event, ports) });
  // One at a time, since each changes the counter of its webhook, and in their order.
  queues.consume({
    concurrency: 1,
    queue: QUEUES.webhookEvents,
    handle: (event) => planDeliveries.handle(event, ports),
  });
  queues.consume({
    concurrency: ATTEMPTS,
    accepts: (_webhook, _inFlight, ofWebhook) => ofWebhook < ATTEMPTS_OF_WEBHOOK,
    queue: QUEUES.webhookAttempts,
    handle: (event) => attemptDeliveries.handle(event, ports),
  });
  queues.consume({ ...rest, queue: QUEUES.reaper, handle: (event) => reapRuns.handle(event, ports) });
}

const Body = v.pipe(v.string(), v.parseJson(), RunMessage);

const runIds = (event: SQSEvent): string[] =>
  event.Records.flatMap(({ body }) => {
    const parsed = v.safeParse(Body, body);
    return parsed.success ? [parsed.output.run_id] : [];
  });

/** Ends the processes of a run that has ended. */
async function endExecutions(runId: string, sandbox: ProcessSandbox, { runs }: ServerPorts): Promise<void> {
  if (!sandbox.isRunning(runId)) return;
  const head = await runs.head(runId);
  const current = head !== undefined && "execution_id" in head ? head.execution_id : undefined;
  const isWaiting = head !== undefined && isExecuting(head.state);
  sandbox.endRun(runId, { isCancelled: head?.state === "CANCELLED", current, isWaiting });
}
