import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { replaceTrustRule, type TrustRulePorts, toTrustRuleItem } from "#shared/identities/trust-rules.ts";
import { requirePerson } from "#shared/principals/require-role.ts";
import { TrustRuleItem, TrustRuleRequest } from "#shared/wire/trust-rule.ts";

/**
 * PUT /agent/identities/{identityUid}/trust-rules/{ruleUid}: replaces a trust rule. Optional members that are absent get
 * their defaults. Keys that the rule gave before are valid until they expire. Requires a personal key.
 */
export const updateTrustRule = endpoint({
  request: { path: v.object({ identityUid: PathId, ruleUid: PathId }), body: TrustRuleRequest },
  reply: { 200: TrustRuleItem },
  async run({ path, body, principal }, ports: TrustRulePorts) {
    const rule = await replaceTrustRule(path, body, requirePerson(principal), ports);
    return { status: 200, body: toTrustRuleItem(rule) };
  },
});
