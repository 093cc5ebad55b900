import { formatMessageGroup, type PassQueue, type RunQueue } from "#shared/queue/run-queue.ts";
import type { Owner } from "#shared/table/keys.ts";
import { QUEUES, type QueueDefinition } from "./queue-names.ts";
import type { Queues } from "./queues.ts";

/** The run queues. The owner is the message group, which makes them fair between owners. */
export function sqliteRunQueue(queues: Queues): RunQueue {
  const send = (queue: QueueDefinition, runId: string, owner: Owner, delaySeconds = 0) =>
    queues.send(queue, JSON.stringify({ v: 1, run_id: runId }), { group: formatMessageGroup(owner), delaySeconds });
  return {
    sendRun: (runId, owner, delaySeconds) => send(QUEUES.runs, runId, owner, delaySeconds),
    sendEnd: (runId, owner) => send(QUEUES.ends, runId, owner),
  };
}

/** The queue by which the reaper schedules its next pass. */
export const sqlitePassQueue = (queues: Queues): PassQueue => ({
  everySeconds: 15,
  sendPass: (pass, delaySeconds) => queues.send(QUEUES.reaper, JSON.stringify({ v: 1, pass }), { delaySeconds }),
});
