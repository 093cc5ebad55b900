import type { IdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { refuseLimitedKey } from "#shared/principals/key-budget.ts";
import type { Principal } from "#shared/principals/principal.ts";
import { intersectScopes, scopesMember } from "#shared/principals/scopes.ts";
import { type ReplacedSecret, replaceSecretOnce } from "#shared/webhooks/replace-secret.ts";
import { generateSigningSecret } from "#shared/webhooks/signature.ts";
import { readTrigger } from "./read-trigger.ts";
import type { TriggerPorts } from "./trigger-ports.ts";
import { type Trigger, triggerStore } from "./trigger-store.ts";
import { checkSecret } from "./triggers.ts";

/** Replaces the secret of a trigger once, by a given one or a generated one. The previous secret is valid for 24 hours. */
export const rotateSecret = (
  teams: readonly string[],
  uid: string,
  caller: Principal,
  secret: string | undefined,
  idempotency: IdempotentRequest,
  ports: TriggerPorts,
): Promise<ReplacedSecret<Trigger>> =>
  replaceSecretOnce(
    {
      noun: "trigger",
      async read() {
        const trigger = await readTrigger(teams, uid, ports.table);
        refuseLimitedKey(caller, "triggers");
        checkSecret(trigger, secret);
        const { scopes, ...others } = trigger;
        // The new secret starts runs, which have no more than the caller has.
        return { ...others, ...scopesMember(intersectScopes(scopes, caller.scopes)) };
      },
      getScope: ({ owner }) => owner.uid,
      generate: () => secret ?? generateSigningSecret(),
      replace: (before, trigger, record) => triggerStore(ports.table).update(before, trigger, { idempotency: record }),
    },
    idempotency,
    ports,
  );
