import type { PassQueue, RunQueue } from "#shared/runs/run-queue.ts";
import { type Owner, ownerPk } from "#shared/table/keys.ts";
import { QUEUES, type QueueDefinition } from "./queue-names.ts";
import type { Queues } from "./queues.ts";

/** The queues of runs, fair between owners. */
export function sqliteRunQueue(queues: Queues): RunQueue {
  const send = (queue: QueueDefinition, runId: string, owner: Owner) =>
    queues.send(queue, JSON.stringify({ v: 1, run_id: runId }), { group: ownerPk(owner) });
  return {
    sendRun: (runId, owner) => send(QUEUES.runs, runId, owner),
    sendEnd: (runId, owner) => send(QUEUES.ends, runId, owner),
  };
}

/** The reaper's own queue. */
export const sqlitePassQueue = (queues: Queues): PassQueue => ({
  sendPass: (pass, delaySeconds) => queues.send(QUEUES.reaper, JSON.stringify({ v: 1, pass }), { delaySeconds }),
});
