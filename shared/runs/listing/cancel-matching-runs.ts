import * as v from "valibot";
import { type ErrorCode, RunyardError } from "#shared/errors.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runIdempotent,
} from "#shared/idempotency/idempotent-request.ts";
import {
  type AgentPrincipal,
  ownersVisibleTo,
  type PersonalPrincipal,
  type Principal,
} from "#shared/principals/principal.ts";
import { isTerminal } from "#shared/records/run.ts";
import { cancelFound } from "#shared/runs/cancel-run.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import { refuseUnknownAncestor } from "#shared/runs/read-run.ts";
import { SCOPE_SHARDS, scopeKey } from "#shared/table/keys.ts";
import { ConditionFailed } from "#shared/table/table.ts";
import { type CancelRunsRequest, CancelRunsResponse, type RunFilter } from "#shared/wire/cancel.ts";
import { type Filters, type FoundRun, matchesEntry, matchingRuns, runIdOf } from "./filters.ts";

/** Runs that one call takes, and milliseconds after which it begins with no further ones. */
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

/**
 * Cancels the runs that match and have not ended. The record of the request is written first and its answer last: a
 * repeat is answered as the first was, and one whose first try broke off goes on where that stopped.
 */
export async function cancelRuns({ principal, ...rest }: ReceivedCall, ports: RunPorts): Promise<CancelledRuns> {
  if (principal.kind === "run") {
    throw new RunyardError("not_authorized", { detail: "a run's key cancels its descendants one by one" });
  }
  const call = { ...rest, principal };
  await refuseUnknownAncestor(call.request.filter.ancestor_run_id, call.principal, ports, "filter.ancestor_run_id");
  return runIdempotent<CancelledRuns>(
    ports.table,
    call.once,
    ports.now,
    async (record) => {
      try {
        await ports.table.write(record(""));
      } catch (error) {
        throw error instanceof ConditionFailed ? new IdempotencyRecordExists() : error;
      }
      return { response: await cancelAndKeep(call, ports), replayed: false };
    },
    async (kept) => ({
      response: kept === "" ? await cancelAndKeep(call, ports) : v.parse(Kept, kept),
      replayed: true,
    }),
  );
}

const Kept = v.pipe(v.string(), v.parseJson(), CancelRunsResponse);

async function cancelAndKeep(call: CancelManyCall, ports: RunPorts): Promise<CancelRunsResponse> {
  const response = await cancelAll(call, ports);
  const { record: key, hash } = call.once;
  const result = JSON.stringify(response);
  try {
    await ports.table.write({ kind: "update", key, set: { result }, if: { hash: { eq: hash } } });
  } catch (error) {
    // The record is over already: whoever repeats the request makes it anew.
    if (!(error instanceof ConditionFailed)) throw error;
  }
  return response;
}

async function cancelAll({ request, principal }: CancelManyCall, ports: RunPorts): Promise<CancelRunsResponse> {
  const deadline = ports.now() + WORK_MS;
  const found = await matching(filtersOf(request.filter), principal, deadline, ports);
  const refused: { run_id: string; error_code: ErrorCode }[] = [];
  let looked = 0;
  let more = found.more;
  for (; looked < found.runs.length; looked += AT_ONCE) {
    if (ports.now() > deadline) {
      more = true;
      break;
    }
    const some = found.runs.slice(looked, looked + AT_ONCE);
    const codes = await Promise.all(some.map((run) => refusalOf(run, principal, request.force ?? false, ports)));
    for (const [index, { head }] of some.entries()) {
      const code = codes[index];
      if (code !== undefined) refused.push({ run_id: head.run_id, error_code: code });
    }
  }
  const matched = Math.min(looked, found.runs.length);
  return { matched, cancelled: matched - refused.length, refused, has_more: more };
}

/** The code with which a run is not cancelled; undefined where it is. */
async function refusalOf(
  run: FoundRun,
  principal: Principal,
  force: boolean,
  ports: RunPorts,
): Promise<ErrorCode | undefined> {
  try {
    await cancelFound({ ...run, principal, force }, ports);
    return undefined;
  } catch (error) {
    if (error instanceof RunyardError) return error.code;
    throw error;
  }
}

/** The runs that match, newest first: what waits goes before what works, whose slots it would take. */
async function matching(
  filters: Filters,
  principal: PersonalPrincipal | AgentPrincipal,
  deadline: number,
  { runs, now }: RunPorts,
): Promise<{ readonly runs: readonly FoundRun[]; readonly more: boolean }> {
  const found: FoundRun[] = [];
  const scopes = ownersVisibleTo(principal).flatMap((owner) =>
    Array.from({ length: SCOPE_SHARDS }, (_, shard) => scopeKey(owner, shard)),
  );
  for (const pk of scopes) {
    let before: string | undefined;
    for (let more = true; more; ) {
      if (found.length > MAX_RUNS || now() > deadline) return { runs: found.slice(0, MAX_RUNS), more: true };
      const place = before === undefined ? {} : { before };
      const page = await runs.query({ index: "gsi5", pk, descending: true, limit: ENTRIES, ...place });
      const ids = page.items.filter((entry) => matchesEntry(entry, filters)).map(runIdOf);
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

const filtersOf = (filter: RunFilter): Filters => ({
  states: filter.state,
  name: filter.name,
  modelId: filter.model_id,
  creator: filter.creator,
  executor: filter.executor,
  source: filter.source,
  executionLocation: filter.execution_location,
  createdAfter: filter.created_after,
  createdBefore: filter.created_before,
  updatedAfter: filter.updated_after,
  environmentId: filter.environment_id,
  skillSpec: filter.skill ?? filter.skill_spec,
  scheduleId: filter.schedule_id,
  ancestorRunId: filter.ancestor_run_id,
  artifactType: filter.artifact_type,
  metadata: filter.metadata,
  q: filter.q,
});
