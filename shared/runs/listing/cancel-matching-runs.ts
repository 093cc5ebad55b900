import * as v from "valibot";
import { RunyardError } from "#shared/errors.ts";
import type { IdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { runResumable } from "#shared/idempotency/resumable-request.ts";
import {
  type AgentPrincipal,
  listVisibleOwners,
  type PersonalPrincipal,
  type Principal,
} from "#shared/principals/principal.ts";
import { isTerminal } from "#shared/records/run.ts";
import { parseRunId } from "#shared/records/run-head.ts";
import { cancelFoundRun } from "#shared/runs/cancel-run.ts";
import { refuseUnknownAncestor } from "#shared/runs/read-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { type CancelRunsRequest, CancelRunsResponse } from "#shared/wire/cancel.ts";
import { changeEach, describeBulkChange } from "./change-each.ts";
import { type Filters, type FoundRun, matchesEntry, matchingRuns } from "./filters.ts";
import { toFilters } from "./run-filter.ts";
import { runIndexStore, toScopes } from "./run-index-store.ts";

/** Runs that one call cancels, and milliseconds after which it starts no further ones. */
const MAX_RUNS = 1_000;
const WORK_MS = 20_000;
/** Entries of the index that are read at once. */
const ENTRIES = 200;

interface ReceivedCall {
  readonly request: CancelRunsRequest;
  readonly principal: Principal;
  readonly once: IdempotentRequest;
}

interface CancelManyCall extends ReceivedCall {
  readonly principal: PersonalPrincipal | AgentPrincipal;
}

interface CancelledRuns {
  readonly response: CancelRunsResponse;
  readonly replayed: boolean;
}

/** Cancels the runs that match and have not ended. */
export async function cancelMatchingRuns(
  { principal, once, request }: ReceivedCall,
  ports: RunPorts,
): Promise<CancelledRuns> {
  if (principal.kind === "run") {
    throw new RunyardError("not_authorized", { detail: "a run's key cancels its descendants one by one" });
  }
  const call = { principal, once, request };
  await refuseUnknownAncestor(request.filter.ancestor_run_id, principal, ports, "filter.ancestor_run_id");
  return runResumable(ports, once, {
    run: () => cancelAll(call, ports),
    parse: (kept) => v.parse(Kept, kept),
  });
}

const Kept = v.pipe(v.string(), v.parseJson(), CancelRunsResponse);

async function cancelAll(
  { request: { filter, force = false }, principal }: CancelManyCall,
  ports: RunPorts,
): Promise<CancelRunsResponse> {
  const deadline = ports.now() + WORK_MS;
  const isLate = () => ports.now() > deadline;
  const found = await findMatching(toFilters(filter), principal, isLate, ports);
  describeBulkChange(found.runs, filter);
  const targets = found.runs.map((run) => ({ ...run, id: run.head.run_id }));
  const cancel = async ({ head, body }: FoundRun) => {
    await cancelFoundRun({ head, body, principal, force }, ports);
  };
  const { matched, changed, refused } = await changeEach(targets, cancel, isLate);
  return { matched, cancelled: changed.length, refused, has_more: found.more || matched < found.runs.length };
}

/** Finds the runs that match, newest first: those that wait are cancelled before those that work, whose slots they would take. */
async function findMatching(
  filters: Filters,
  principal: PersonalPrincipal | AgentPrincipal,
  isLate: () => boolean,
  { runs }: RunPorts,
): Promise<{ readonly runs: readonly FoundRun[]; readonly more: boolean }> {
  const found: FoundRun[] = [];
  const scopes = toScopes(listVisibleOwners(principal));
  for (const source of runIndexStore(runs).activeByCreation(scopes)) {
    let before: string | undefined;
    for (let more = true; more; ) {
      if (found.length > MAX_RUNS || isLate()) return { runs: found.slice(0, MAX_RUNS), more: true };
      const page = await source(before === undefined ? {} : { before }, ENTRIES, true);
      const ids = page.items.filter((entry) => matchesEntry(entry, filters)).map(parseRunId);
      const some = (await runs.many(ids)).filter((run) => run !== undefined);
      const active = some.filter(({ head }) => !isTerminal(head.state));
      found.push(...matchingRuns(active, filters));
      const last = page.items.at(-1)?.["created_key"];
      more = page.more && last !== undefined;
      before = String(last);
    }
  }
  return { runs: found.slice(0, MAX_RUNS), more: found.length > MAX_RUNS };
}
