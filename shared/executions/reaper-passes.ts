import { logLine } from "#shared/log/log.ts";
import type { PassQueue } from "#shared/queue/run-queue.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { reapRuns } from "./reap-runs.ts";

/** Passes within a minute, including the scheduler's own, and the seconds between them. */
const PASSES = 4;
const PASS_SECONDS = 15;

/** Runs one pass and requests the next one while runs are active; the scheduler starts again each minute. */
export async function reapUntilQuiet(pass: number, ports: RunPorts & { readonly passes: PassQueue }): Promise<void> {
  const result = await reapRuns(ports);
  logLine(result.circuitOpen || result.failed > 0 ? "error" : "info", "reaper pass", { ...result, pass });
  if (result.alive && pass + 1 < PASSES) await ports.passes.sendPass(pass + 1, PASS_SECONDS);
}
