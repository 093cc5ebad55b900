import type { DeadLetterQueue, PassQueue } from "#shared/queue/run-queue.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import type { Sandbox } from "#shared/sandbox/sandbox.ts";
import type { TracePorts } from "#shared/tracing/trace-run.ts";
import type { OfferPorts } from "#shared/workers/worker-ports.ts";

/** What completing the end of a run needs. */
export type EndPorts = OfferPorts & TracePorts & { readonly sandbox: Pick<Sandbox, "stop"> };

/** What the reaper needs. */
export type ReaperPorts = RunPorts & { readonly passes: PassQueue; readonly deadRuns: DeadLetterQueue };
