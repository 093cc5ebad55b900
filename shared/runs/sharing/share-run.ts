import { notFound } from "#shared/errors.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runReversible,
} from "#shared/idempotency/idempotent-request.ts";
import { findPublicAccess, type RunBody } from "#shared/records/run-body.ts";
import { parseOwner } from "#shared/records/run-head.ts";
import type { FoundRun } from "#shared/runs/read-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import type { Put } from "#shared/table/table.ts";
import { ConflictError } from "#shared/table/transact.ts";
import { requireSharing } from "./require-sharing.ts";
import { storeSharing } from "./share-store.ts";

type Ports = Pick<RunPorts, "table" | "runs" | "now">;

/** Lets everybody with the link see a run, or nobody besides its owner again. The runs below it are not affected. */
export async function setSharing(
  run: FoundRun,
  access: "VIEWER" | null,
  idempotency: IdempotentRequest,
  ports: Ports,
): Promise<{ readonly replayed: boolean }> {
  const target = access ?? undefined;
  if (target !== undefined) await requireSharing(parseOwner(run.head), "public_access", ports.table);
  const { replayed } = await runReversible<RunBody>(ports.table, idempotency, ports.now, {
    apply: (record) => changeSharing(run, target, record?.(run.head.run_id), ports),
    read: () => ports.runs.body(run.head.run_id),
    isSet: (body) => findPublicAccess(body) === target,
  });
  return { replayed };
}

/** @throws IdempotencyRecordExists if the request's record exists */
async function changeSharing(
  { head, body }: FoundRun,
  access: "VIEWER" | undefined,
  record: Put | undefined,
  { table }: Ports,
): Promise<RunBody> {
  try {
    await storeSharing(head, body, access, record, table);
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    throw error.failed.has("idempotency") ? new IdempotencyRecordExists() : notFound("run");
  }
  return body;
}
