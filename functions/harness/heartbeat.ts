import { recordHeartbeat } from "#shared/executions/heartbeat.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import { HeartbeatRequest, HeartbeatResponse } from "#shared/wire/harness.ts";

/** POST /harness-support/heartbeat: records a heartbeat, and returns new follow-ups and whether to stop. */
export const heartbeat = endpoint({
  request: { body: HeartbeatRequest },
  reply: { 200: HeartbeatResponse },
  whileStopping: true,
  async run({ body, principal, header }, ports: RunPorts) {
    return { status: 200, body: await recordHeartbeat(principal, header, body, ports) };
  },
});
