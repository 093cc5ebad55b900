import { endpoint } from "#shared/http/endpoint.ts";
import { toReplayHeaders } from "#shared/http/response.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import type { Cursors } from "#shared/pagination/cursor.ts";
import { setArchivedOfMatching } from "#shared/runs/listing/archive-matching-runs.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { MatchingRunsRequest, UnarchiveRunsResponse } from "#shared/wire/runs/change-runs.ts";

/**
 * POST /agent/runs/unarchive: returns all archived runs that match a filter to the list. One call looks at up to
 * 200 matching runs; while `page_info.has_next_page` is true, send the request again with `next_cursor` as `cursor`. A run
 * that cannot be returned is listed in `refused` with its error code and does not fail the request.
 */
export const unarchiveRuns = endpoint({
  request: { body: MatchingRunsRequest },
  reply: { 200: UnarchiveRunsResponse },
  async run({ body, principal, header }, ports: RunPorts & { readonly cursors: Cursors }) {
    const once = toIdempotentRequest(header, principal, "unarchive-runs", body);
    const call = { request: body, principal, once };
    const { response, replayed } = await setArchivedOfMatching(call, false, ports);
    const { changed: unarchived, ...rest } = response;
    return { status: 200, body: { unarchived, ...rest }, headers: toReplayHeaders(replayed) };
  },
});
