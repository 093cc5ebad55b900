import { RunyardError, retryableConflict } from "#shared/errors.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runIdempotent,
} from "#shared/idempotency/idempotent-request.ts";
import type { Principal } from "#shared/principals/principal.ts";
import type { RunBody } from "#shared/records/run-body.ts";
import { type EndedHead, isEndedHead, parseOwner } from "#shared/records/run-head.ts";
import { releaseCapacity } from "#shared/runs/capacity/release-capacity.ts";
import { type FoundRun, visibleRun } from "#shared/runs/read-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { retryOnConflict } from "#shared/table/optimistic-write.ts";
import type { NamedWrites } from "#shared/table/transact.ts";
import { ConflictError } from "#shared/table/transact.ts";
import { countUsage } from "#shared/usage/count-usage.ts";
import { deletionStore, toDeletion } from "./deletion-store.ts";
import { retentionStore } from "./retention-store.ts";

/** Milliseconds for which an upload that was allowed before the deletion may still arrive. */
const UPLOADS_MS = 15 * 60_000;

interface EndedRun {
  readonly head: EndedHead;
  readonly body: RunBody;
}

/**
 * Deletes a run and the runs below it, if all of them have ended. They do not exist for callers from then on; the hourly pass
 * deletes their files and other items.
 */
export async function deleteRunOnRequest(
  runId: string,
  { principal, idempotency }: { readonly principal: Principal; readonly idempotency: IdempotentRequest },
  ports: RunPorts,
): Promise<{ readonly replayed: boolean }> {
  return runIdempotent<{ readonly replayed: boolean }>(
    ports.table,
    idempotency,
    ports.now,
    (record) =>
      retryOnConflict("the run is", async () => {
        const run = await visibleRun(runId, principal, ports);
        requireDeleter(principal, run);
        await deleteTree(run, { idempotency: record(runId) }, ports);
        return { replayed: false };
      }),
    async () => ({ replayed: true }),
  );
}

/** As `deleteRunOnRequest`, as part of a request for many runs. */
export async function deleteOneOfMany(runId: string, principal: Principal, ports: RunPorts): Promise<void> {
  await retryOnConflict("the run is", async () => {
    const run = await visibleRun(runId, principal, ports);
    requireDeleter(principal, run);
    await deleteTree(run, {}, ports);
  });
}

/** @throws RunyardError 403 for others than the run's creator and the admins of its team */
function requireDeleter(principal: Principal, { head, body }: FoundRun): void {
  const { type, uid: owner } = parseOwner(head);
  if (principal.kind === "agent" && principal.identity.uid === body.creator.uid) return;
  if (principal.kind === "personal") {
    const isAdmin = principal.teams.some(({ uid, role }) => uid === owner && role === "admin");
    if (principal.user.uid === body.creator.uid || (type === "Team" && isAdmin)) return;
  }
  throw new RunyardError("not_authorized", {
    detail: "only the run's creator and the admins of its team may delete it; archive it instead",
  });
}

/**
 * Deletes the youngest runs first, so that a run exists as long as those below it: an interrupted deletion is continued by the next
 * request.
 * @throws ConflictError if a run has changed meanwhile
 */
async function deleteTree(run: FoundRun, also: NamedWrites, ports: RunPorts): Promise<void> {
  const below = await ports.runs.many(await retentionStore(ports.table).descendants(run.head.run_id));
  const tree = [run, ...below.filter((one) => one !== undefined)].map((one) => requireEnded(one, run));
  for (const one of tree.toReversed()) {
    await deleteOne(one, one.head.run_id === run.head.run_id ? also : {}, ports);
  }
}

function requireEnded({ head, body }: FoundRun, { head: root }: FoundRun): EndedRun {
  const what = head.run_id === root.run_id ? "the run" : `run ${head.run_id} below it`;
  if (!isEndedHead(head)) {
    throw new RunyardError("conflict", {
      detail: `${what} is ${head.state} and has not ended: cancel it, or wait for its end`,
      retryable: false,
    });
  }
  if (head.stops !== undefined)
    throw retryableConflict(`the sandbox of ${what} is still being stopped; send the request again`);
  return { head, body };
}

async function deleteOne({ head, body }: EndedRun, also: NamedWrites, ports: RunPorts): Promise<void> {
  // What the consumer of ended runs has not done yet needs the run's head.
  if (head.transcript_events === undefined) await releaseCapacity(head.run_id, ports);
  await countUsage(head, ports);
  const deletions = deletionStore(ports.table);
  try {
    await deletions.begin(head, body, { notBefore: ports.now() + UPLOADS_MS, mayKeepTurns: true, also });
  } catch (error) {
    const isRepeated = error instanceof ConflictError && error.failed.has("idempotency");
    throw isRepeated ? new IdempotencyRecordExists() : error;
  }
  await deletions.forget(head.run_id, toDeletion(head, body));
}
