import { type AgentPrincipal, listVisibleOwners, type PersonalPrincipal } from "#shared/principals/principal.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import type { Filters, FoundRun } from "./filters.ts";
import { type Candidate, createMatcher, loadRuns } from "./matches.ts";
import type { Order } from "./order.ts";
import { toScopes } from "./run-index-store.ts";
import { search } from "./search.ts";
import { chooseSources, toRange } from "./sources.ts";
import { withActiveAncestors } from "./task-status.ts";

/** Runs are changed from the newest to the oldest, so that those below a run come before it. */
const ORDER: Order = { sortBy: "created_at", descending: true };

interface RunPage {
  readonly runs: readonly (Candidate & FoundRun)[];
  /** The position after which the next page begins; undefined if there is nothing more. */
  readonly next: string | undefined;
}

/** Reads a page of the runs that match, newest first. A page may be empty while there is a next one. */
export async function readMatchingRuns(
  query: {
    readonly filters: Filters;
    readonly after: string | undefined;
    readonly limit: number;
    readonly isLate: () => boolean;
  },
  principal: PersonalPrincipal | AgentPrincipal,
  ports: RunPorts,
): Promise<RunPage> {
  const { after, limit, isLate } = query;
  const scopes = toScopes(listVisibleOwners(principal));
  const filters = await withActiveAncestors(query.filters, scopes, ports);
  const { sources, open } = await chooseSources(scopes, ORDER, filters, ports);
  const count = limit + 1;
  const { found, stoppedAt } = await search({
    sources,
    order: ORDER,
    range: toRange(ORDER, filters, after),
    wanted: count,
    match: createMatcher({ scopes, order: ORDER, filters: open, wanted: count }, ports),
    isLate,
  });
  const page = found.slice(0, limit);
  const next = found.length > limit ? page.at(-1)?.position : stoppedAt;
  return { runs: await loadRuns(page, scopes, filters, ports), next };
}
