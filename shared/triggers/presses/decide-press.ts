import { isTerminal, statusText } from "#shared/records/run.ts";
import { cancelByService } from "#shared/runs/cancel-run.ts";
import { readConversationTail } from "#shared/runs/conversation-store.ts";
import type { FoundRun } from "#shared/runs/read-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { type AccessPorts, findAccessRefusal } from "../access.ts";
import { findAuthorRefusal } from "../author.ts";
import { type Delivery, type DeliveryOutcome, deliveryStore } from "../delivery-store.ts";
import type { ReceivedEvent } from "../event.ts";
import type { Press } from "../sources/source.ts";
import type { Trigger } from "../trigger-store.ts";

/**
 * Performs the action of a pressed button. The person who pressed it needs the rights of an author. The trigger's events and filter do not
 * apply, since the reply has the button.
 * @param followUp sends the event to the run, with its outcome
 */
export async function decidePress(
  delivery: Delivery,
  trigger: Trigger,
  event: ReceivedEvent,
  press: Press,
  followUp: (run: FoundRun) => Promise<void>,
  ports: RunPorts & AccessPorts,
): Promise<void> {
  const decide = (outcome: DeliveryOutcome) => deliveryStore(ports.table).decide(trigger.uid, delivery, outcome);
  const ignore = (detail: string, run_id?: string) =>
    decide({ outcome: "ignored", reason: "event", detail, ...(run_id === undefined ? {} : { run_id }) });
  if (press.action === "open") return ignore("a button has opened the run", press.runId);
  const refusal = findAuthorRefusal(trigger, event);
  if (refusal !== undefined) return decide({ outcome: "ignored", reason: "author", detail: statusText(refusal) });
  const noAccess = await findAccessRefusal(trigger, event, ports);
  if (noAccess !== undefined) return decide(noAccess);
  const run = await findRun(press.runId, trigger, ports);
  if (run === undefined) return ignore("the run of the button was deleted, or is of another trigger");
  const { run_id, state } = run.head;
  if (press.action === "answer") {
    return event.text.trim() === "" ? ignore("the answer is empty", run_id) : followUp(run);
  }
  // A repeat after the run was stopped has the same outcome.
  if (isTerminal(state) && state !== "CANCELLED") return ignore("the run has ended", run_id);
  await cancelByService(run_id, `${event.author.name} on Slack`, ports);
  return decide({ outcome: "followed_up", run_id, detail: "a button has stopped the run" });
}

/** The latest run of the conversation of a trigger's run. */
async function findRun(runId: string, { uid }: Trigger, { runs, table }: RunPorts): Promise<FoundRun | undefined> {
  const found = await runs.headAndBody(runId);
  if (found?.body.trigger?.trigger_id !== uid) return undefined;
  const { latestRunId } = await readConversationTail(found.body.conversation_id, table);
  return latestRunId === runId ? found : runs.headAndBody(latestRunId);
}
