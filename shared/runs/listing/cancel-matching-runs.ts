import * as v from "valibot";
import { type ErrorCode, RunyardError } from "#shared/errors.ts";
import { describeChange } from "#shared/http/audit/trail.ts";
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
import { type Filters, type FoundRun, groupByTeam, matchesEntry, matchingRuns } from "./filters.ts";
import { toFilters } from "./run-filter.ts";
import { runIndexStore, toScopes } from "./run-index-store.ts";

/** Runs that one call cancels, and milliseconds after which it starts no further ones. */
const MAX_RUNS = 1_000;
const WORK_MS = 20_000;
/** Entries of the index that are read at once. */
const ENTRIES = 200;
/** All of an owner's cancels change one counter, so that many at once would only wait for each other. */
const AT_ONCE = 4;

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

async function cancelAll({ request, principal }: CancelManyCall, ports: RunPorts): Promise<CancelRunsResponse> {
  const deadline = ports.now() + WORK_MS;
  const found = await findMatching(toFilters(request.filter), principal, deadline, ports);
  describeChange([...groupByTeam(found.runs).keys()].map((team) => [team, {}]));
  const refused: { run_id: string; error_code: ErrorCode }[] = [];
  let looked = 0;
  let more = found.more;
  for (; looked < found.runs.length; looked += AT_ONCE) {
    if (ports.now() > deadline) {
      more = true;
      break;
    }
    const some = found.runs.slice(looked, looked + AT_ONCE);
    const codes = await Promise.all(some.map((run) => cancelOrRefuse(run, principal, request.force ?? false, ports)));
    for (const [index, { head }] of some.entries()) {
      const code = codes[index];
      if (code !== undefined) refused.push({ run_id: head.run_id, error_code: code });
    }
  }
  const matched = Math.min(looked, found.runs.length);
  return { matched, cancelled: matched - refused.length, refused, has_more: more };
}

/** Cancels a run; returns the error code where it cannot be cancelled. */
async function cancelOrRefuse(
  run: FoundRun,
  principal: Principal,
  force: boolean,
  ports: RunPorts,
): Promise<ErrorCode | undefined> {
  try {
    await cancelFoundRun({ ...run, principal, force }, ports);
    return undefined;
  } catch (error) {
    if (error instanceof RunyardError) return error.code;
    throw error;
  }
}

/** Finds the runs that match, newest first: those that wait are cancelled before those that work, whose slots they would take. */
async function findMatching(
  filters: Filters,
  principal: PersonalPrincipal | AgentPrincipal,
  deadline: number,
  { runs, now }: RunPorts,
): Promise<{ readonly runs: readonly FoundRun[]; readonly more: boolean }> {
  const found: FoundRun[] = [];
  const scopes = toScopes(listVisibleOwners(principal));
  for (const source of runIndexStore(runs).activeByCreation(scopes)) {
    let before: string | undefined;
    for (let more = true; more; ) {
      if (found.length > MAX_RUNS || now() > deadline) return { runs: found.slice(0, MAX_RUNS), more: true };
      const page = await source(before === undefined ? {} : { before }, ENTRIES, true);
      const ids = page.items.filter((entry) => matchesEntry(entry, filters)).map(parseRunId);
      const some = (await runs.many(ids)).filter((run) => run !== undefined && !isTerminal(run.head.state));
      found.push(
        ...matchingRuns(
          some.filter((run) => run !== undefined),
          filters,
        ),
      );
      const last = page.items.at(-1)?.["created_key"];
      more = page.more && last !== undefined;
      before = String(last);
    }
  }
  return { runs: found.slice(0, MAX_RUNS), more: found.length > MAX_RUNS };
}
