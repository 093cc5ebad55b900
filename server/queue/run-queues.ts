import type { EventQueue } from "#shared/queue/event-queue.ts";
import { formatMessageGroup, type PassQueue, type RunQueue } from "#shared/queue/run-queue.ts";
import { keys, type Owner } from "#shared/table/keys.ts";
import type { Table } from "#shared/table/table.ts";
import { QUEUES, type QueueDefinition } from "./queue-names.ts";
import type { Queues } from "./queues.ts";

/** The run queues. The owner is the message group, which makes them fair between owners. */
export function sqliteRunQueue(queues: Queues, table: Pick<Table, "get">): RunQueue {
  const send = (queue: QueueDefinition, runId: string, owner: Owner, delaySeconds = 0) =>
    queues.send(queue, JSON.stringify({ v: 1, run_id: runId }), { group: formatMessageGroup(owner), delaySeconds });
  const hasWorker = async (runId: string) => (await table.get(keys.head(runId)))?.["worker_host"] !== undefined;
  return {
    sendRun: async (runId, owner, delaySeconds) =>
      send((await hasWorker(runId)) ? QUEUES.workerRuns : QUEUES.runs, runId, owner, delaySeconds),
    sendEnd: (runId, owner) => send(QUEUES.ends, runId, owner),
  };
}

/** The queue by which the reaper schedules its next pass. */
export const sqlitePassQueue = (queues: Queues): PassQueue => ({
  everySeconds: 15,
  sendPass: (pass, delaySeconds) => queues.send(QUEUES.reaper, JSON.stringify({ v: 1, pass }), { delaySeconds }),
});

/**
 * The queue of events for triggers. The trigger is the message group, so that one with many events delays no other. Deliveries are stored
 * with the time at which their decision is requested again, and their senders wait for the response: some give up after a second.
 */
export const sqliteEventQueue = (queues: Queues): EventQueue => ({
  sendDelivery: (delivery) =>
    queues.send(QUEUES.events, JSON.stringify({ v: 1, ...delivery }), {
      group: `TRIGGER#${delivery.trigger_uid}`,
      isSentAgain: true,
    }),
});
