import { endpoint } from "#shared/http/endpoint.ts";
import { toReplayHeaders } from "#shared/http/response.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import type { Cursors } from "#shared/pagination/cursor.ts";
import { deleteMatchingRuns } from "#shared/retention/delete-matching-runs.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { DeleteRunsResponse, MatchingRunsRequest } from "#shared/wire/runs/change-runs.ts";

/**
 * POST /agent/runs/delete: deletes all ended runs that match a filter. Each is deleted as by `DELETE /agent/runs/{runId}`:
 * with the runs below it, and its files within about an hour. One call looks at up to 200 matching runs; while
 * `page_info.has_next_page` is true, send the request again with `next_cursor` as `cursor`. A run that cannot be deleted
 * is listed in `refused` with its error code and does not fail the request.
 */
export const deleteRuns = endpoint({
  request: { body: MatchingRunsRequest },
  reply: { 200: DeleteRunsResponse },
  async run({ body, principal, header }, ports: RunPorts & { readonly cursors: Cursors }) {
    const once = toIdempotentRequest(header, principal, "delete-runs", body);
    const { response, replayed } = await deleteMatchingRuns({ request: body, principal, once }, ports);
    const { changed: deleted, ...rest } = response;
    return { status: 200, body: { deleted, ...rest }, headers: toReplayHeaders(replayed) };
  },
});
