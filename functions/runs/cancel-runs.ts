import { endpoint } from "#shared/http/endpoint.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { cancelMatchingRuns } from "#shared/runs/listing/cancel-matching-runs.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import { CancelRunsRequest, CancelRunsResponse } from "#shared/wire/cancel.ts";

/** POST /agent/runs/cancel: cancels the runs that match a filter. Runs that have ended are skipped; one request takes up to 1,000. */
export const cancelRuns = endpoint({
  request: { body: CancelRunsRequest },
  reply: { 200: CancelRunsResponse },
  async run({ body, principal, header }, ports: RunPorts) {
    const once = toIdempotentRequest(header, principal, "cancel-runs", body);
    const { response, replayed } = await cancelMatchingRuns({ request: body, principal, once }, ports);
    return { status: 200, body: response, ...(replayed ? { headers: { "idempotent-replay": "true" } } : {}) };
  },
});
