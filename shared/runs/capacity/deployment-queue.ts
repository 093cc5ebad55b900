import { parseOwner, type RunHead, readHead, type SlotKind } from "#shared/records/run-head.ts";
import type { Conditions, Value } from "#shared/table/table.ts";
import { ConflictError, type NamedWrites } from "#shared/table/transact.ts";
import { deploymentQueueStore } from "./deployment-queue-store.ts";
import { isDeploymentFull, othersWait } from "./execution-count-store.ts";
import type { CapacityPorts } from "./slots.ts";

/** Executions that are granted by one process at once; the next run that ends grants more. */
const MAX_GRANTS = 25;
/** Milliseconds after which the reaper requests the dispatch of a run that was granted an execution, if its message was lost. */
const GRANTED_CHECK_MS = 30_000;
/** Milliseconds after which the reaper checks a waiting run by itself. Ends of executions and each pass of the reaper grant executions before. */
export const WAITING_CHECK_MS = 24 * 3_600_000;

/** What changes of a run that begins to wait for the deployment. */
interface Entering {
  readonly set: Readonly<Record<string, Value>>;
  readonly if: Conditions;
  readonly checkAt: number;
  /** The number of runs that wait, this one included. */
  readonly position: number;
}

/**
 * Lets a queued run wait until the deployment may have another execution, and hold its slot meanwhile. Owners take turns: a run gets
 * the turn after the last waiting run of its owner, or the current one, so that an owner with many runs does not delay the others.
 * Returns false where it need not wait, or gets no slot. Returns true where the run has changed too: the reaper dispatches it again.
 */
export async function enterDeploymentQueue(
  head: RunHead,
  kind: SlotKind,
  maxExecutions: number,
  announce: (head: RunHead, entering: Entering) => NamedWrites,
  ports: CapacityPorts,
): Promise<boolean> {
  const store = deploymentQueueStore(ports.table);
  const executions = await store.read();
  const turn = await store.nextTurn(parseOwner(head), executions);
  const entry = store.toEntry(head.run_id, turn, ports.now());
  const writes = announce(head, {
    set: { slot: kind, deployment_entry: entry },
    if: { waiting: { exists: false }, deployment_entry: { exists: false } },
    checkAt: ports.now() + WAITING_CHECK_MS,
    position: executions.waiting + 1,
  });
  for (const reason of [isDeploymentFull(maxExecutions), othersWait]) {
    try {
      await store.add(head, { entry, turn, kind, reason }, writes);
      // An execution may have ended while the process that had to grant the next one died.
      if (reason === othersWait) await grantExecutions(maxExecutions, ports);
      return true;
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      if (error.failed.has("head") || error.failed.has("entry")) return true;
      if (!error.failedOnly("executions")) return false;
    }
  }
  return false;
}

/** Grants free executions of the deployment to the runs whose turn is next, and requests their dispatch. */
export async function grantExecutions(maxExecutions: number | undefined, ports: CapacityPorts): Promise<void> {
  const store = deploymentQueueStore(ports.table);
  const { running, waiting } = await store.read();
  // A limit that was removed no longer counts executions: then all waiting runs may start.
  const limit = maxExecutions ?? Number.MAX_SAFE_INTEGER;
  if (waiting <= 0 || running >= limit) return;
  for (let granted = 0; granted < MAX_GRANTS; granted++) {
    const next = await store.next();
    if (next === undefined) return;
    const head = await readHead(next.runId, ports.table);
    if (head?.deployment_entry !== next.entry) {
      // The head of a queued run that is entering the queue may become visible later than its entry.
      if (head?.state !== "QUEUED") await store.drop(next).catch(ignoreConflict);
      continue;
    }
    const owner = parseOwner(head);
    try {
      await store.grant(next, owner, { maxExecutions: limit, checkAt: ports.now() + GRANTED_CHECK_MS });
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      if (error.failed.has("executions")) return;
      // The run was cancelled, or another process has granted it an execution: continue with the next one.
      continue;
    }
    await ports.queue.sendRun(next.runId, owner).catch(() => undefined);
  }
}

function ignoreConflict(error: unknown): void {
  if (!(error instanceof ConflictError)) throw error;
}
