import * as v from "valibot";
import { type ErrorCode, RunyardError } from "#shared/errors.ts";
import { describeChange } from "#shared/http/audit/trail.ts";
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
import { type FoundRun, groupByTeam } from "./filters.ts";
import { readMatchingRuns } from "./matching-runs.ts";
import { toFilters } from "./run-filter.ts";
import { toScopes } from "./run-index-store.ts";

/** Runs that one request changes, and milliseconds after which it starts no further ones. */
const MAX_RUNS = 200;
const WORK_MS = 8_000;
/** Runs that are changed at the same time. */
const AT_ONCE = 4;

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
  const call = { request, principal, deadline: ports.now() + WORK_MS };
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
  readonly deadline: number;
}

async function planPage(
  { request: { filter }, principal, deadline, after }: PageCall & { readonly after: string | undefined },
  { toFilter, concerns }: RunChange,
  ports: RunPorts,
): Promise<Plan> {
  const query = { filters: toFilters(toFilter(filter)), after, limit: MAX_RUNS, deadline };
  const { runs, next } = await readMatchingRuns(query, principal, ports);
  const planned = runs.filter(concerns).map(({ id, position }) => ({ id, position }));
  return { runs: planned, ...(next !== undefined && { next }) };
}

async function changePage(
  { request: { filter }, principal, deadline, plan }: PageCall & { readonly plan: Plan },
  { apply }: RunChange,
  ports: RunPorts,
): Promise<Omit<ChangeResponse, "page_info"> & { readonly next: string | undefined }> {
  const found = await ports.runs.many(plan.runs.map(({ id }) => id));
  const teams = groupByTeam(found.filter((run) => run !== undefined));
  const described = filter === undefined ? {} : { filter: withoutText(filter) };
  describeChange([...teams].map(([team, own]) => [team, { matched: own.length, ...described }]));
  const changed: string[] = [];
  const refused: { run_id: string; error_code: ErrorCode }[] = [];
  let { next } = plan;
  let matched = 0;
  while (matched < found.length) {
    const some = plan.runs.slice(matched, matched + AT_ONCE);
    const codes = await Promise.all(some.map((_, index) => applyOrRefuse(found[matched + index], principal, apply)));
    for (const [index, { id }] of some.entries()) {
      const code = codes[index];
      if (code === undefined) changed.push(id);
      else refused.push({ run_id: id, error_code: code });
    }
    matched += some.length;
    if (matched < found.length && ports.now() > deadline) {
      next = some.at(-1)?.position;
      break;
    }
  }
  return { matched, changed, refused, next };
}

/** The filter for the audit log, which has no text of prompts. */
const withoutText = (filter: RunFilter): RunFilter => (filter.q === undefined ? filter : { ...filter, q: "***" });

/**
 * Changes a run; returns the error code where that is refused. A run that is gone was deleted with one above it, or by an earlier
 * attempt of the request.
 */
async function applyOrRefuse(
  run: FoundRun | undefined,
  principal: Principal,
  apply: RunChange["apply"],
): Promise<ErrorCode | undefined> {
  if (run === undefined) return undefined;
  // Since the plan was made, the caller may have been removed from a team.
  if (!sees(principal, run.head, run.body)) return "not_authorized";
  try {
    await apply(run);
    return undefined;
  } catch (error) {
    if (!(error instanceof RunyardError)) throw error;
    return error.code === "resource_not_found" ? undefined : error.code;
  }
}
