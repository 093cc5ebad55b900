import * as v from "valibot";
import { storeClientEvent } from "#shared/executions/client-events.ts";
import { authorizeExecution } from "#shared/executions/execution-access.ts";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { ClientEvent } from "#shared/wire/event.ts";
import { Empty } from "#shared/wire/harness.ts";

/**
 * POST /agent/runs/{runId}/client-events: adds an event to the timeline of the caller's run. Only the key of the run's
 * current execution can call this. A repeated `event_uuid` is stored once. A run stores at most 2,000 of these events.
 */
export const createClientEvent = endpoint({
  request: { path: v.object({ runId: PathId }), body: ClientEvent },
  reply: { 200: Empty },
  async run({ path, body, principal, header }, ports: RunPorts) {
    await storeClientEvent(await authorizeExecution(principal, header, ports, path.runId), body, ports);
    return { status: 200, body: {} };
  },
});
