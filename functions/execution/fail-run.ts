import { queueConsumer } from "#shared/queue/consumer.ts";
import { RunMessage } from "#shared/queue/run-queue.ts";
import { failByPlatform } from "#shared/runs/end-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";

/** SQS `runs-dead`: ends a run that could not be dispatched in ERROR. */
export const failRun = queueConsumer({
  message: RunMessage,
  async run(message, ports: RunPorts) {
    await failByPlatform(message.run_id, "the run could not be dispatched", ports);
  },
});
