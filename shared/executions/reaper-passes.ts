import { logLine } from "#shared/log/log.ts";
import type { PassQueue } from "#shared/queue/run-queue.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { reapRuns } from "./reap-runs.ts";

/** Runs one pass and requests the next one while runs are active; the scheduler starts again each minute. */
export async function reapUntilQuiet(pass: number, ports: RunPorts & { readonly passes: PassQueue }): Promise<void> {
  const result = await reapRuns(ports);
  logLine(result.circuitOpen || result.failed > 0 ? "error" : "info", "reaper pass", { ...result, pass });
  const { passes } = ports;
  const isLast = (pass + 1) * passes.everySeconds >= 60;
  if (result.alive && !isLast) await passes.sendPass(pass + 1, passes.everySeconds);
}
