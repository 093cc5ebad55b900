import { sortByText } from "#shared/arrays.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import type { Cursors } from "#shared/pagination/cursor.ts";
import { pageQuery, paginate } from "#shared/pagination/page.ts";
import { listTeamsToRead } from "#shared/principals/default-team.ts";
import { toPrincipalKey } from "#shared/principals/principal.ts";
import { ListWorkersResponse, type WorkerItem } from "#shared/wire/worker.ts";
import { findConnectedWorkers, type WorkerReadPorts } from "#shared/workers/connected-workers.ts";

const placeOf = ({ worker_host }: WorkerItem): string => worker_host;

interface WorkerListPorts extends WorkerReadPorts {
  readonly cursors: Cursors;
}

/**
 * GET /agent/connected-self-hosted-workers: lists the connected self-hosted workers of the caller's teams. Workers are
 * sorted by id. Connections that share an id are one worker.
 */
export const listWorkers = endpoint({
  request: { query: pageQuery },
  reply: { 200: ListWorkersResponse },
  async run({ query, principal }, ports: WorkerListPorts) {
    const teams = listTeamsToRead(principal);
    const found = await findConnectedWorkers(teams, ports);
    const all = sortByText(found, placeOf);
    const binding = ["workers", toPrincipalKey(principal), teams];
    const url = ports.workerSocketUrl;
    const { items, page } = await paginate(all, query, { binding, placeOf }, ports.cursors);
    return { status: 200, body: { workers: items, ...(url === undefined ? {} : { ws_url: url }), ...page } };
  },
});
