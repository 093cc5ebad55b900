import type { RunPorts } from "#shared/runs/run-ports.ts";
import type { WorkerSockets } from "#shared/sandbox/worker-sockets.ts";

/** What offering runs to workers, and sending them cancellations, needs. */
export interface OfferPorts extends RunPorts {
  readonly sockets: WorkerSockets;
}
