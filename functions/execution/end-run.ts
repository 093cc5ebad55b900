import { noteSetup } from "#shared/environments/note-setup.ts";
import { worker } from "#shared/queue/worker.ts";
import { livePorts } from "#shared/runs/live.ts";
import { handOn } from "#shared/runs/parked.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import { RunMessage } from "#shared/runs/run-queue.ts";
import { composeTranscript } from "#shared/runs/transcript.ts";

/** SQS `ends`: hands the freed slot on, composes the transcript of a run that ended, and tells its environment how it went. */
export const endRun = worker({
  message: RunMessage,
  async run(message, ports: RunPorts) {
    await handOn(message.run_id, ports);
    await composeTranscript(message.run_id, ports);
    await noteSetup(message.run_id, ports);
  },
});

export const handler = endRun.lambda(livePorts);
