import { cancelByService } from "#shared/runs/cancel-run.ts";
import type { FoundRun } from "#shared/runs/read-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { type AccessPorts, findAccessRefusal } from "../access.ts";
import { type Delivery, type DeliveryOutcome, deliveryStore } from "../delivery-store.ts";
import type { ReceivedEvent } from "../event.ts";
import type { Press } from "../sources/source.ts";
import type { Trigger } from "../trigger-store.ts";
import { findPressRefusal, judgePress } from "./judge-press.ts";

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
  const refused = findPressRefusal(trigger, event, press);
  if (refused !== undefined && "ignored" in refused) return decide(refused.ignored);
  const noAccess = await findAccessRefusal(trigger, event, ports);
  if (noAccess !== undefined) return decide(noAccess);
  const judged = await judgePress(trigger, event, press, ports);
  if ("ignored" in judged) return decide(judged.ignored);
  if (press.action === "answer") return followUp(judged.run);
  const { run_id } = judged.run.head;
  await cancelByService(run_id, `${event.author.name} on Slack`, ports);
  return decide({ outcome: "followed_up", run_id, detail: "a button has stopped the run" });
}
