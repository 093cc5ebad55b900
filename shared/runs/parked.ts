import { activeRuns } from "./active-runs.ts";
import type { RunPorts } from "./ports.ts";
import { ownerOf } from "./run-head.ts";

/** Waiting runs that are sent when one ends; more than one, since one of them may have been cancelled meanwhile. */
const SENT = 3;
const LOOKED_AT = 50;

/** Asks for the dispatch of the oldest waiting runs of the owner whose run has ended. Those without a slot wait on. */
export async function sendOldestWaiting(endedRunId: string, ports: RunPorts): Promise<void> {
  const ended = await ports.runs.head(endedRunId);
  if (ended === undefined) return;
  const owner = ownerOf(ended);
  const active = await activeRuns(owner, ports, LOOKED_AT);
  const waiting = active.filter(({ state, location }) => state === "QUEUED" && location !== "LOCAL").slice(0, SENT);
  await Promise.all(waiting.map(({ runId }) => ports.queue.sendRun(runId, owner)));
}
