import * as v from "valibot";
import { RunyardError } from "#shared/errors.ts";
import type { IdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { runResumable } from "#shared/idempotency/resumable-request.ts";
import type { Cursors } from "#shared/pagination/cursor.ts";
import {
  type AgentPrincipal,
  listVisibleOwners,
  type PersonalPrincipal,
  type Principal,
  toPrincipalKey,
} from "#shared/principals/principal.ts";
import { refuseUnknownAncestor } from "#shared/runs/read-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { sees } from "#shared/runs/run-tree.ts";
import type { RunFilter } from "#shared/wire/cancel.ts";
import { PageInfo } from "#shared/wire/list.ts";
import type { MatchingRunsRequest } from "#shared/wire/runs/change-runs.ts";
import { changeEach, describeBulkChange } from "./change-each.ts";
import type { FoundRun } from "./filters.ts";
import { readMatchingRuns } from "./matching-runs.ts";
import { toFilters } from "./run-filter.ts";
import { toScopes } from "./run-index-store.ts";

/** Runs that one request changes, and milliseconds after which it starts no further ones. */
const MAX_RUNS = 200;
const WORK_MS = 8_000;

/** What is done to each run that matches. */
interface RunChange {
  /** Names the change in the records of requests, such as `delete-runs`. */
  readonly operation: string;
  /** Returns the filter of a request, which has none if it is about all runs. */
  readonly toFilter: (filter: RunFilter | undefined) => RunFilter;
  /** Whether the change is about the run at all; others do not match. */
  readonly concerns: (run: FoundRun) => boolean;
  /** @throws RunyardError if this run cannot be changed */
  readonly apply: (run: FoundRun) => Promise<void>;
}

export interface ChangeCall {
  readonly request: MatchingRunsRequest;
  readonly principal: Principal;
  readonly once: IdempotentRequest;
}

export type ChangePorts = RunPorts & { readonly cursors: Cursors };

const ChangeResponse = v.object({
  matched: v.number(),
  changed: v.array(v.string()),
  refused: v.array(v.object({ run_id: v.string(), error_code: v.string() })),
  page_info: PageInfo,
});
type ChangeResponse = v.InferOutput<typeof ChangeResponse>;

export interface ChangedRuns {
  readonly response: ChangeResponse;
  readonly replayed: boolean;
}

/** Changes the runs that match: one page of them, since there may be any number. One that is refused stops nothing. */
export async function changeMatchingRuns(
  { request, principal, once }: ChangeCall,
  change: RunChange,
  ports: ChangePorts,
): Promise<ChangedRuns> {
  if (principal.kind === "run") {
    throw new RunyardError("not_authorized", { detail: "a run's key changes its descendants one by one" });
  }
  await refuseUnknownAncestor(request.filter?.ancestor_run_id, principal, ports, "filter.ancestor_run_id");
  const binding = [change.operation, toPrincipalKey(principal), toScopes(listVisibleOwners(principal)), request.filter];
  // Read before the request is recorded, so that a cursor of another request leaves no record.
  const after = request.cursor === undefined ? undefined : await ports.cursors.read(binding, request.cursor);
  const deadline = ports.now() + WORK_MS;
  const call = { request, principal, isLate: () => ports.now() > deadline };
  return runResumable(ports, once, {
    plan: async () => JSON.stringify(await planPage({ ...call, after }, change, ports)),
    run: async (planned) => {
      const plan = v.parse(v.pipe(v.string(), v.parseJson(), Plan), planned);
      const { next, ...response } = await changePage({ ...call, plan }, change, ports);
      const cursor = next === undefined ? {} : { next_cursor: await ports.cursors.write(binding, next) };
      return { ...response, page_info: { has_next_page: next !== undefined, ...cursor } };
    },
    parse: (kept) => v.parse(v.pipe(v.string(), v.parseJson(), ChangeResponse), kept),
  });
}

/** The runs that a request changes, so that a repeat changes and returns the same ones. */
const Plan = v.object({
  runs: v.array(v.object({ id: v.string(), position: v.string() })),
  next: v.exactOptional(v.string()),
});
type Plan = v.InferOutput<typeof Plan>;

interface PageCall {
  readonly request: MatchingRunsRequest;
  readonly principal: PersonalPrincipal | AgentPrincipal;
  readonly isLate: () => boolean;
}

async function planPage(
  { request: { filter }, principal, isLate, after }: PageCall & { readonly after: string | undefined },
  { toFilter, concerns }: RunChange,
  ports: RunPorts,
): Promise<Plan> {
  const query = { filters: toFilters(toFilter(filter)), after, limit: MAX_RUNS, isLate };
  const { runs, next } = await readMatchingRuns(query, principal, ports);
  const planned = runs.filter(concerns).map(({ id, position }) => ({ id, position }));
  return { runs: planned, ...(next !== undefined && { next }) };
}

async function changePage(
  { request: { filter }, principal, isLate, plan }: PageCall & { readonly plan: Plan },
  { apply }: RunChange,
  ports: RunPorts,
): Promise<Omit<ChangeResponse, "page_info"> & { readonly next: string | undefined }> {
  const found = await ports.runs.many(plan.runs.map(({ id }) => id));
  describeBulkChange(
    found.filter((run) => run !== undefined),
    filter,
  );
  const targets = plan.runs.map(({ id, position }, index) => ({ id, position, run: found[index] }));
  const results = await changeEach(targets, ({ run }) => applyIfPresent(run, principal, apply), isLate);
  const last = targets[results.matched - 1];
  return { ...results, next: results.matched < targets.length ? last?.position : plan.next };
}

/** Changes a run. One that is gone was deleted with one above it, or by an earlier attempt of the request. */
async function applyIfPresent(
  run: FoundRun | undefined,
  principal: Principal,
  apply: RunChange["apply"],
): Promise<void> {
  if (run === undefined) return;
  // Since the plan was made, the caller may have been removed from a team.
  if (!sees(principal, run.head, run.body)) throw new RunyardError("not_authorized");
  try {
    await apply(run);
  } catch (error) {
    if (!(error instanceof RunyardError) || error.code !== "resource_not_found") throw error;
  }
}
