import { logLine } from "#shared/log/log.ts";
import type { PassQueue } from "#shared/queue/run-queue.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import { reapRuns } from "./reap-runs.ts";

/** Passes within a minute, the scheduler's own included, and the seconds between them. */
const PASSES = 4;
const PASS_SECONDS = 15;

/** One pass, and the next one soon while anything is alive; the scheduler begins anew each minute. */
export async function reapUntilQuiet(pass: number, ports: RunPorts & { readonly passes: PassQueue }): Promise<void> {
  const result = await reapRuns(ports);
  logLine(result.circuitOpen || result.failed > 0 ? "error" : "info", "reaper pass", { ...result, pass });
  if (result.alive && pass + 1 < PASSES) await ports.passes.sendPass(pass + 1, PASS_SECONDS);
}
