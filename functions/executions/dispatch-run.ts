import { type DispatchPorts, startExecution } from "#shared/executions/dispatch-run.ts";
import { queueConsumer } from "#shared/queue/consumer.ts";
import { RunMessage } from "#shared/queue/run-queue.ts";

/** SQS `runs`: takes a slot and starts the run's sandbox. */
export const dispatchRun = queueConsumer({
  message: RunMessage,
  async run(message, ports: DispatchPorts) {
    await startExecution(message.run_id, ports);
  },
});
