import { endpoint } from "#shared/http/endpoint.ts";
import type { Cursors } from "#shared/pagination/cursor.ts";
import { pageOf, pageQuery } from "#shared/pagination/page.ts";
import { listTeamsToRead } from "#shared/principals/default-team.ts";
import { toPrincipalKey } from "#shared/principals/principal.ts";
import type { Table } from "#shared/table/table.ts";
import { ListWorkersResponse, type WorkerItem } from "#shared/wire/worker.ts";
import { connectedWorkers } from "#shared/workers/worker.ts";

const placeOf = ({ worker_host }: WorkerItem): string => worker_host;

interface WorkerListPorts {
  readonly table: Table;
  readonly now: () => number;
  readonly cursors: Cursors;
}

/** GET /agent/connected-self-hosted-workers: the workers of the caller's teams that are connected now, by their id. */
export const listWorkers = endpoint({
  request: { query: pageQuery },
  reply: { 200: ListWorkersResponse },
  async run({ query, principal }, ports: WorkerListPorts) {
    const teams = listTeamsToRead(principal);
    const found = await connectedWorkers(teams, ports);
    const all = found.sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
    const binding = ["workers", toPrincipalKey(principal), teams];
    const { items, page } = await pageOf(all, query, { binding, placeOf }, ports.cursors);
    return { status: 200, body: { workers: items, ...page } };
  },
});
