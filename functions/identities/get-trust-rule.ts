import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { readTrustRule, type TrustRulePorts, toTrustRuleItem } from "#shared/identities/trust-rules.ts";
import { TrustRuleItem } from "#shared/wire/trust-rule.ts";

/** GET /agent/identities/{identityUid}/trust-rules/{ruleUid}: returns a trust rule. */
export const getTrustRule = endpoint({
  request: { path: v.object({ identityUid: PathId, ruleUid: PathId }) },
  reply: { 200: TrustRuleItem },
  async run({ path, principal }, ports: TrustRulePorts) {
    return { status: 200, body: toTrustRuleItem(await readTrustRule(path, principal, ports)) };
  },
});
