import { endpoint } from "#shared/http/endpoint.ts";
import { toReplayHeaders } from "#shared/http/response.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import type { Cursors } from "#shared/pagination/cursor.ts";
import { setArchivedOfMatching } from "#shared/runs/listing/archive-matching-runs.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { ArchiveRunsResponse, MatchingRunsRequest } from "#shared/wire/runs/change-runs.ts";

/**
 * POST /agent/runs/archive: archives all runs that match a filter. One call looks at up to 200 matching runs; while
 * `page_info.has_next_page` is true, send the request again with `next_cursor` as `cursor`. A run that cannot be archived
 * is listed in `refused` with its error code and does not fail the request.
 */
export const archiveRuns = endpoint({
  request: { body: MatchingRunsRequest },
  reply: { 200: ArchiveRunsResponse },
  async run({ body, principal, header }, ports: RunPorts & { readonly cursors: Cursors }) {
    const once = toIdempotentRequest(header, principal, "archive-runs", body);
    const call = { request: body, principal, once };
    const { response, replayed } = await setArchivedOfMatching(call, true, ports);
    const { changed: archived, ...rest } = response;
    return { status: 200, body: { archived, ...rest }, headers: toReplayHeaders(replayed) };
  },
});
