import { worker } from "#shared/queue/worker.ts";
import { livePorts } from "#shared/runs/live.ts";
import { sendOldestWaiting } from "#shared/runs/parked.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import { RunMessage } from "#shared/runs/run-queue.ts";
import { composeTranscript } from "#shared/runs/transcript.ts";

/** SQS `ends`: hands the freed slot on and composes the transcript of a run that ended. */
export const endRun = worker({
  message: RunMessage,
  async run(message, ports: RunPorts) {
    await sendOldestWaiting(message.run_id, ports);
    await composeTranscript(message.run_id, ports);
  },
});

export const handler = endRun.lambda(livePorts);
