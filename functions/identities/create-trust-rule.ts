import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { toReplayHeaders } from "#shared/http/response.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { addTrustRule, type TrustRulePorts, toTrustRuleItem } from "#shared/identities/trust-rules.ts";
import { requirePerson } from "#shared/principals/require-role.ts";
import { TrustRuleItem, TrustRuleRequest } from "#shared/wire/trust-rule.ts";

/**
 * POST /agent/identities/{identityUid}/trust-rules: creates a trust rule of an identity. Tokens of the issuer that match
 * the rule can be exchanged for API keys of the identity. An identity can have at most 20 trust rules. Requires a
 * personal key.
 */
export const createTrustRule = endpoint({
  request: { path: v.object({ identityUid: PathId }), body: TrustRuleRequest },
  reply: { 201: TrustRuleItem },
  errors: ["feature_not_available"],
  async run({ path, body, principal, header }, ports: TrustRulePorts) {
    const person = requirePerson(principal);
    const once = toIdempotentRequest(header, principal, `create-trust-rule:${path.identityUid}`, body);
    const { rule, replayed } = await addTrustRule(path.identityUid, body, person, once, ports);
    return {
      status: 201,
      body: toTrustRuleItem(rule),
      headers: toReplayHeaders(replayed),
    };
  },
});
