import { recordHeartbeat } from "#shared/executions/heartbeat.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { HeartbeatRequest, HeartbeatResponse } from "#shared/wire/harness.ts";

/**
 * POST /harness-support/heartbeat: renews the lease of an execution and returns new follow-ups. Call again after
 * `next_heartbeat_seconds`. An execution that sends no request for 30 seconds expires, and the run is executed again
 * from its last checkpoint. If `cancel` is true, stop all processes.
 */
export const heartbeat = endpoint({
  request: { body: HeartbeatRequest },
  reply: { 200: HeartbeatResponse },
  whileStopping: true,
  quiet: true,
  async run({ body, principal, header }, ports: RunPorts) {
    return { status: 200, body: await recordHeartbeat(principal, header, body, ports) };
  },
});
