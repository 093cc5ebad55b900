import { RunyardError } from "#shared/errors.ts";
import { assertHarnessInstance } from "#shared/executions/execution-access.ts";
import { recordShutdown } from "#shared/executions/expired-execution.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { Empty, ReportShutdownRequest } from "#shared/wire/harness.ts";

/**
 * POST /harness-support/report-shutdown: reports that the sandbox of an execution has stopped. A run in progress is
 * executed again from its last checkpoint; after 3 losses without a new checkpoint it ends in `ERROR`. For a cancelled
 * run, the timeline records `run_stopped`.
 */
export const reportShutdown = endpoint({
  request: { body: ReportShutdownRequest },
  reply: { 200: Empty },
  whileStopping: true,
  async run({ body, principal, header }, ports: RunPorts) {
    if (principal.kind !== "run") throw new RunyardError("not_authorized");
    assertHarnessInstance(principal.head, header);
    await recordShutdown(principal.head, principal.executionId, body, ports);
    return { status: 200, body: {} };
  },
});
