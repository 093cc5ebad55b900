import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { readTrustRules, type TrustRulePorts, toTrustRuleItem } from "#shared/identities/trust-rules.ts";
import { pageQuery, paginate } from "#shared/pagination/page.ts";
import { toPrincipalKey } from "#shared/principals/principal.ts";
import { ListTrustRulesResponse } from "#shared/wire/trust-rule.ts";

/** GET /agent/identities/{identityUid}/trust-rules: lists the trust rules of an identity, oldest first. */
export const listTrustRules = endpoint({
  request: { path: v.object({ identityUid: PathId }), query: pageQuery },
  reply: { 200: ListTrustRulesResponse },
  async run({ path, query, principal }, ports: TrustRulePorts) {
    const all = (await readTrustRules(path.identityUid, principal, ports)).map(toTrustRuleItem);
    const binding = ["trust-rules", toPrincipalKey(principal), path.identityUid];
    const { items, page } = await paginate(all, query, { binding, placeOf: ({ uid }) => uid }, ports.cursors);
    return { status: 200, body: { trust_rules: items, ...page } };
  },
});
