import { notFound } from "#shared/errors.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runReversible,
} from "#shared/idempotency/idempotent-request.ts";
import type { RunFacets, RunHead } from "#shared/records/run-head.ts";
import { attemptOnHead } from "#shared/runs/change-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { ConditionFailed, type Put } from "#shared/table/table.ts";
import { ConflictError } from "#shared/table/transact.ts";
import { changeFacets, copyFacets } from "./facet-store.ts";

type Ports = Pick<RunPorts, "table" | "runs" | "now">;

interface ArchivedRun {
  readonly head: RunHead;
  /** True if an earlier request had this effect. */
  readonly replayed: boolean;
}

/**
 * Archives a run, or reverses that. Lists leave archived runs out unless a filter asks for them; nothing else about the run
 * changes, not even `updated_at`. Does nothing where the run is as requested already.
 */
export async function setArchived(
  first: RunHead,
  archived: boolean,
  idempotency: IdempotentRequest,
  ports: Ports,
): Promise<ArchivedRun> {
  const { value: head, replayed } = await runReversible(ports.table, idempotency, ports.now, {
    apply: (record) => applyWithRecord(first, archived, record?.(first.run_id), ports),
    read: () => readCurrent(first, ports),
    isSet: (current) => isArchived(current) === archived,
  });
  return { head, replayed };
}

/** As `setArchived`, as part of a request for many runs. */
export async function applyArchived(first: RunHead, archived: boolean, ports: Ports): Promise<void> {
  await applyWithRecord(first, archived, undefined, ports);
}

const isArchived = ({ p }: RunHead): boolean => p.archived === true;

/** @throws IdempotencyRecordExists if the request's record exists */
async function applyWithRecord(
  first: RunHead,
  archived: boolean,
  record: Put | undefined,
  ports: Ports,
): Promise<RunHead> {
  const attempt = async (head: RunHead): Promise<RunHead> => {
    if (isArchived(head) === archived) {
      if (record !== undefined) await ports.table.write(record);
      return head;
    }
    const p = withArchived(head.p, archived);
    const also = { facets: copyFacets(head.run_id, p), idempotency: record };
    await ports.runs.change(head, { events: [], ...changeFacets(head, p), also }, ports.now());
    return { ...head, p, facet_changes: head.facet_changes + 1 };
  };
  try {
    return await attemptOnHead(first, ports, attempt, { isRetried: ({ failed }) => !failed.has("idempotency") });
  } catch (error) {
    throw error instanceof ConditionFailed || error instanceof ConflictError ? new IdempotencyRecordExists() : error;
  }
}

function withArchived({ archived: _, ...facets }: RunFacets, archived: boolean): RunFacets {
  return archived ? { ...facets, archived: true } : facets;
}

async function readCurrent({ run_id }: RunHead, { runs }: Ports): Promise<RunHead> {
  const head = await runs.head(run_id);
  if (head === undefined) throw notFound("run");
  return head;
}
