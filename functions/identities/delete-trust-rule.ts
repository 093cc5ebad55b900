import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { NO_CONTENT } from "#shared/http/response.ts";
import { removeTrustRule, type TrustRulePorts } from "#shared/identities/trust-rules.ts";
import { requirePerson } from "#shared/principals/require-role.ts";

/**
 * DELETE /agent/identities/{identityUid}/trust-rules/{ruleUid}: deletes a trust rule. The keys that it gave are refused
 * from the next request. Requires a personal key.
 */
export const deleteTrustRule = endpoint({
  request: { path: v.object({ identityUid: PathId, ruleUid: PathId }) },
  reply: { 204: NO_CONTENT },
  async run({ path, principal }, ports: TrustRulePorts) {
    await removeTrustRule(path, requirePerson(principal), ports);
    return { status: 204 };
  },
});
