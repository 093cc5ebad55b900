import { commitAbandonedArtifacts } from "#shared/artifacts/uploaded-artifacts.ts";
import { storeUploadedTranscript } from "#shared/conversations/raw-transcript.ts";
import { composeTranscript } from "#shared/conversations/transcript.ts";
import { noteSetup } from "#shared/environments/note-setup.ts";
import type { EndPorts } from "#shared/executions/execution-ports.ts";
import { stopSandboxes } from "#shared/executions/sandbox-stops.ts";
import { queueConsumer } from "#shared/queue/consumer.ts";
import { RunMessage } from "#shared/queue/run-queue.ts";
import { isTerminal } from "#shared/records/run.ts";
import type { RunHead } from "#shared/records/run-head.ts";
import { releaseCapacity } from "#shared/runs/capacity/release-capacity.ts";
import { noteRunOfSchedule } from "#shared/schedules/note-run.ts";
import { scheduleStore } from "#shared/schedules/schedule-store.ts";
import { traceRun } from "#shared/tracing/trace-run.ts";
import { noteRunOfTrigger } from "#shared/triggers/note-run.ts";
import { countUsage } from "#shared/usage/count-usage.ts";
import { releaseWorker } from "#shared/workers/offer-run.ts";

/**
 * SQS `ends`: passes the freed slot on, stops the sandboxes that the run has left behind, keeps what its executions have uploaded, counts its
 * usage, composes the transcript of an ended run, records the result of the setup in its environment and the outcome of the run
 * with its schedule or trigger, and exports the trace of the run.
 */
export const endRun = queueConsumer({
  message: RunMessage,
  async run(message, ports: EndPorts) {
    const run = await releaseCapacity(message.run_id, ports);
    if (run?.stops !== undefined) await stopSandboxes(run, ports);
    if (run !== undefined) await keepUploads(run, ports);
    // Before the transcript: the reaper repeats the message until the transcript is there.
    if (run !== undefined) await countUsage(run, ports);
    if (run !== undefined) await releaseWorker(run, ports);
    await composeTranscript(message.run_id, ports);
    await noteSetup(message.run_id, ports);
    if (run !== undefined) await noteOrigin(run, ports);
    if (run !== undefined) await traceRun(run, ports);
  },
});

/** Records the outcome of a run with the schedule or the trigger that has started it. */
async function noteOrigin({ p, state }: RunHead, ports: EndPorts): Promise<void> {
  if (!isTerminal(state)) return;
  const { table, now } = ports;
  if (p.schedule !== undefined) await noteRunOfSchedule(p.schedule, { schedules: scheduleStore(table), table, now });
  if (p.trigger !== undefined) await noteRunOfTrigger(p.trigger, ports);
}

/** Keeps what executions have uploaded, however they ended. A run that is queued again continues with an earlier raw transcript. */
async function keepUploads(run: RunHead, ports: EndPorts): Promise<void> {
  await commitAbandonedArtifacts(run, ports);
  if (isTerminal(run.state)) await storeUploadedTranscript(run, ports);
}
