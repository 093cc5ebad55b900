import { logLine } from "#shared/log/log.ts";
import { queueConsumer } from "#shared/queue/consumer.ts";
import { type DeadLetterQueue, RunMessage } from "#shared/queue/run-queue.ts";
import { failByPlatform } from "#shared/runs/end-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";

/** The dead letters of `runs`: ends a run that could not be dispatched in ERROR. */
export const deadRunConsumer = queueConsumer({
  message: RunMessage,
  async run(message, ports: RunPorts) {
    await failByPlatform(message.run_id, "the run could not be dispatched", ports);
  },
});

/** Handles the dead letters that are there now. One that fails stays in the queue, which raises an alarm. */
export async function drainDeadRuns(ports: RunPorts & { readonly deadRuns: DeadLetterQueue }): Promise<void> {
  try {
    await ports.deadRuns.drain((event) => deadRunConsumer.handle(event, ports));
  } catch (error) {
    // Passes of the reaper matter more; the next minute tries it again.
    logLine("error", "dead letters were not handled", { error });
  }
}
