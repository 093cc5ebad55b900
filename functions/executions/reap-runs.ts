import { drainDeadRuns } from "#shared/executions/dead-runs.ts";
import type { ReaperPorts } from "#shared/executions/execution-ports.ts";
import { reapUntilQuiet } from "#shared/executions/reaper-passes.ts";
import { eventConsumer } from "#shared/queue/event-consumer.ts";
import { ReaperMessage } from "#shared/queue/run-queue.ts";

/**
 * Each minute: checks the runs that are due, and handles dead letters of `runs`. The queue `reaper` of a single machine requests
 * another pass within the minute, while runs are active.
 */
export const reapRuns = eventConsumer({
  message: ReaperMessage,
  async run({ pass }, ports: ReaperPorts) {
    await reapUntilQuiet(pass, ports);
  },
  async everyMinute(ports: ReaperPorts) {
    await drainDeadRuns(ports);
    await reapUntilQuiet(0, ports);
  },
});
