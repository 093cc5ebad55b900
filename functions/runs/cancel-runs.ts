import { endpoint } from "#shared/http/endpoint.ts";
import { toReplayHeaders } from "#shared/http/response.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import type { Cursors } from "#shared/pagination/cursor.ts";
import { cancelMatchingRuns } from "#shared/runs/listing/cancel-matching-runs.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { CancelRunsRequest, CancelRunsResponse } from "#shared/wire/cancel.ts";

/**
 * POST /agent/runs/cancel: cancels all active runs that match a filter. One call processes up to 1,000 runs; while
 * `has_more` is true, send the request again with `next_cursor` as `cursor`. The filter takes the same members as the list of runs and must have at
 * least one. A run that cannot be cancelled is listed in `refused` with its error code and does not fail the request.
 */
export const cancelRuns = endpoint({
  request: { body: CancelRunsRequest },
  reply: { 200: CancelRunsResponse },
  async run({ body, principal, header }, ports: RunPorts & { readonly cursors: Cursors }) {
    const once = toIdempotentRequest(header, principal, "cancel-runs", body);
    const { response, replayed } = await cancelMatchingRuns({ request: body, principal, once }, ports);
    return { status: 200, body: response, headers: toReplayHeaders(replayed) };
  },
});
