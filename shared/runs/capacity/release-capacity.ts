import { type RunHead, readHead } from "#shared/records/run-head.ts";
import { grantExecutions } from "./deployment-queue.ts";
import { type CapacityPorts, toWaitQueue } from "./slots.ts";
import { dequeueNext } from "./wait-queue.ts";

/**
 * Grants what the ended run has released: a slot of its tree, maybe one of its owner, and an execution of the deployment. Returns its
 * head, if it exists.
 */
export async function releaseCapacity(
  endedRunId: string,
  ports: CapacityPorts & { readonly maxExecutions?: number | undefined },
): Promise<RunHead | undefined> {
  const ended = await readHead(endedRunId, ports.table);
  if (ended === undefined) return undefined;
  if (ended.root !== undefined) await dequeueNext(toWaitQueue(ended, "tree"), ports);
  // The slot of a tree may be of another part than the last of its runs is counted in.
  const slots = toWaitQueue(ended, "owner");
  await dequeueNext(ended.root === undefined ? slots : { ...slots, part: ended.part ?? 0 }, ports);
  if (ports.maxExecutions !== undefined) await grantExecutions(ports.maxExecutions, ports);
  return ended;
}
