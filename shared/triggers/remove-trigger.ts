import { listSecretIds } from "#shared/webhooks/replace-secret.ts";
import { retryOnChange } from "./read-trigger.ts";
import type { TriggerPorts } from "./trigger-ports.ts";
import { triggerStore } from "./trigger-store.ts";

/** Deletes a trigger, then its secrets. From then on its deliveries are refused; its runs continue. */
export function removeTrigger(
  teams: readonly string[],
  uid: string,
  { table, webhookSecrets }: Pick<TriggerPorts, "table" | "webhookSecrets">,
): Promise<void> {
  return retryOnChange(teams, uid, table, async (trigger) => {
    await triggerStore(table).delete(trigger);
    for (const id of listSecretIds(trigger)) await webhookSecrets.remove(trigger.owner.uid, id);
  });
}
