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
import type { RunFilter } from "#shared/wire/cancel.ts";
import { PageInfo } from "#shared/wire/list.ts";
import type { MatchingRunsRequest } from "#shared/wire/runs/change-runs.ts";
import type { FoundRun } from "./filters.ts";
import { groupByTeam, readMatchingRuns } from "./matching-runs.ts";
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
  return runResumable(ports, once, {
    run: async () => {
      const { next, ...response } = await changePage({ request, principal, after }, change, ports);
      const cursor = next === undefined ? {} : { next_cursor: await ports.cursors.write(binding, next) };
      return { ...response, page_info: { has_next_page: next !== undefined, ...cursor } };
    },
    parse: (kept) => v.parse(v.pipe(v.string(), v.parseJson(), ChangeResponse), kept),
  });
}

interface PageCall {
  readonly request: MatchingRunsRequest;
  readonly principal: PersonalPrincipal | AgentPrincipal;
  readonly after: string | undefined;
}

async function changePage(
  { request: { filter }, principal, after }: PageCall,
  { toFilter, concerns, apply }: RunChange,
  ports: RunPorts,
): Promise<Omit<ChangeResponse, "page_info"> & { readonly next: string | undefined }> {
  const deadline = ports.now() + WORK_MS;
  const filters = toFilters(toFilter(filter));
  const found = await readMatchingRuns({ filters, after, limit: MAX_RUNS, deadline }, principal, ports);
  const runs = found.runs.filter(concerns);
  const described = filter === undefined ? {} : { filter: withoutText(filter) };
  const teams = groupByTeam(runs);
  describeChange(new Map([...teams].map(([team, own]) => [team, { matched: own.length, ...described }])));
  const changed: string[] = [];
  const refused: { run_id: string; error_code: ErrorCode }[] = [];
  let next = found.next;
  let matched = 0;
  while (matched < runs.length) {
    const some = runs.slice(matched, matched + AT_ONCE);
    const codes = await Promise.all(some.map((run) => applyOrRefuse(run, apply)));
    for (const [index, { id }] of some.entries()) {
      const code = codes[index];
      if (code === undefined) changed.push(id);
      else refused.push({ run_id: id, error_code: code });
    }
    matched += some.length;
    if (matched < runs.length && ports.now() > deadline) {
      next = some.at(-1)?.position;
      break;
    }
  }
  return { matched, changed, refused, next };
}

/** The filter for the audit log, which has no text of prompts. */
const withoutText = (filter: RunFilter): RunFilter => (filter.q === undefined ? filter : { ...filter, q: "***" });

/** Changes a run; returns the error code where that is refused. A run that is gone was deleted with one above it. */
async function applyOrRefuse(run: FoundRun, apply: RunChange["apply"]): Promise<ErrorCode | undefined> {
  try {
    await apply(run);
    return undefined;
  } catch (error) {
    if (!(error instanceof RunyardError)) throw error;
    return error.code === "resource_not_found" ? undefined : error.code;
  }
}
