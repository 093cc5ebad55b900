import { type IdempotentRequest, runIdempotent } from "#shared/idempotency/idempotent-request.ts";
import type { Principal } from "#shared/principals/principal.ts";
import type { Put } from "#shared/table/table.ts";
import { listSecretIds } from "#shared/webhooks/replace-secret.ts";
import { requireOwners, retryOnChange } from "./read-trigger.ts";
import type { TriggerPorts } from "./trigger-ports.ts";
import { triggerStore } from "./trigger-store.ts";

type RemovalPorts = Pick<TriggerPorts, "table" | "webhookSecrets">;

/** Deletes a trigger on request of its owner. A repeated request finds that it has deleted the trigger itself. */
export function removeTriggerOnce(
  uid: string,
  { principal, idempotency }: { readonly principal: Principal; readonly idempotency: IdempotentRequest },
  ports: RemovalPorts & Pick<TriggerPorts, "now">,
): Promise<{ readonly replayed: boolean }> {
  return runIdempotent<{ readonly replayed: boolean }>(
    ports.table,
    idempotency,
    ports.now,
    async (record) => {
      await removeTrigger(await requireOwners(principal, uid, ports.table), uid, ports, record(uid));
      return { replayed: false };
    },
    async () => ({ replayed: true }),
  );
}

/** Deletes a trigger, then its secrets. From then on its deliveries are refused; its runs continue. */
export function removeTrigger(
  teams: readonly string[],
  uid: string,
  { table, webhookSecrets }: RemovalPorts,
  idempotency?: Put,
): Promise<void> {
  return retryOnChange(teams, uid, table, async (trigger) => {
    await triggerStore(table).delete(trigger, { idempotency });
    for (const id of listSecretIds(trigger)) await webhookSecrets.remove(trigger.owner.uid, id);
  });
}
