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
  readonly scopes: readonly string[];
  readonly after: Place;
}

type PlacedRun = FoundRun & { readonly place: Place };

interface CancelledRuns {
  readonly response: CancelRunsResponse;
  readonly replayed: boolean;
}

type CancelPorts = RunPorts & { readonly cursors: Cursors };

/** Cancels the runs that match and have not ended. */
export async function cancelMatchingRuns(
  { principal, once, request }: ReceivedCall,
  ports: CancelPorts,
): Promise<CancelledRuns> {
  if (principal.kind === "run") {
    throw new RunyardError("not_authorized", { detail: "a run's key cancels its descendants one by one" });
  }
  const { filter, cursor } = request;
  await refuseUnknownAncestor(filter.ancestor_run_id, principal, ports, "filter.ancestor_run_id");
  const scopes = toScopes(listVisibleOwners(principal));
  const binding = ["cancel-runs", toPrincipalKey(principal), scopes, filter];
  // Read before the request is recorded, so that a cursor of another request leaves no record.
  const after = cursor === undefined ? START : parsePlace(await ports.cursors.read(binding, cursor));
  return runResumable(ports, once, {
    run: async () => {
      const { next, ...response } = await cancelAll({ principal, once, request, scopes, after }, ports);
      if (next === undefined) return { ...response, has_more: false };
      return { ...response, has_more: true, next_cursor: await ports.cursors.write(binding, formatPlace(next)) };
    },
    parse: (kept) => v.parse(Kept, kept),
  });
}

const Kept = v.pipe(v.string(), v.parseJson(), CancelRunsResponse);

/** A place among the active runs: one of the sources, and the run of it that was read last. */
interface Place {
  readonly source: number;
  readonly before: string | undefined;
}
const START: Place = { source: 0, before: undefined };

const formatPlace = ({ source, before = "" }: Place): string => `${source} ${before}`;
function parsePlace(text: string): Place {
  const [source = "0", before = ""] = text.split(" ");
  return { source: Number(source), before: before === "" ? undefined : before };
}

async function cancelAll(
  { request: { filter, force = false }, principal, scopes, after }: CancelManyCall,
  ports: RunPorts,
): Promise<Omit<CancelRunsResponse, "has_more"> & { readonly next: Place | undefined }> {
  const deadline = ports.now() + WORK_MS;
  const isLate = () => ports.now() > deadline;
  const { runs: found, next } = await findMatching({ filters: toFilters(filter), scopes, after, isLate }, ports);
  describeBulkChange(found, filter);
  const targets = found.map((run) => ({ ...run, id: run.head.run_id }));
  const cancel = async ({ head, body }: FoundRun) => {
    await cancelFoundRun({ head, body, principal, force }, ports);
  };
  const { matched, changed, refused } = await changeEach(targets, cancel, isLate);
  const last = matched < found.length ? found[matched - 1]?.place : next;
  return { matched, cancelled: changed.length, refused, next: last };
}

interface MatchingQuery {
  readonly filters: Filters;
  readonly scopes: readonly string[];
  readonly after: Place;
  readonly isLate: () => boolean;
}

interface FoundPage {
  readonly runs: readonly PlacedRun[];
  /** Where the next page begins; undefined if there is none. */
  readonly next: Place | undefined;
}

/** Finds the runs that match, newest first: those that wait are cancelled before those that work, whose slots they would take. */
async function findMatching({ filters, scopes, after, isLate }: MatchingQuery, { runs }: RunPorts): Promise<FoundPage> {
  const found: PlacedRun[] = [];
  for (const [source, read] of runIndexStore(runs).activeByCreation(scopes).entries()) {
    if (source < after.source) continue;
    let before = source === after.source ? after.before : undefined;
    for (let more = true; more; ) {
      if (found.length > MAX_RUNS) return toPage(found);
      if (isLate()) return { runs: found, next: { source, before } };
      const page = await read(before === undefined ? {} : { before }, ENTRIES, true);
      const ids = page.items.filter((entry) => matchesEntry(entry, filters)).map(parseRunId);
      const some = (await runs.many(ids)).filter((run) => run !== undefined);
      const active = some.filter(({ head }) => !isTerminal(head.state));
      // Entries of this index sort by the ids of their runs.
      found.push(
        ...matchingRuns(active, filters).map((run) => ({ ...run, place: { source, before: run.head.run_id } })),
      );
      const last = page.items.at(-1)?.["created_key"];
      more = page.more && last !== undefined;
      before = String(last);
    }
  }
  return toPage(found);
}

/** The first runs, and where the others begin. */
function toPage(found: readonly PlacedRun[]): FoundPage {
  const runs = found.slice(0, MAX_RUNS);
  return { runs, next: runs.length < found.length ? runs.at(-1)?.place : undefined };
}
