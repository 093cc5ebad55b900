import { queueConsumer } from "#shared/queue/consumer.ts";
import { RunMessage } from "#shared/queue/run-queue.ts";
import { failByPlatform } from "#shared/runs/end-run.ts";
import type { RunPorts } from "#shared/runs/ports.ts";

/** SQS `runs-dead`: a run that could not be dispatched ends in ERROR instead of waiting for ever. */
export const failRun = queueConsumer({
  message: RunMessage,
  async run(message, ports: RunPorts) {
    await failByPlatform(message.run_id, "the run could not be dispatched", ports);
  },
});
