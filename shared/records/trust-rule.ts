import * as v from "valibot";
import { keys } from "#shared/table/keys.ts";
import type { Check, Item, Key } from "#shared/table/table.ts";
import { Scope } from "#shared/wire/keys/scope.ts";
import { UserProfile } from "#shared/wire/run.ts";

/** A trust rule as it is stored, once under its identity and once under its issuer and audience. */
const TrustRule = v.object({
  uid: v.string(),
  team_uid: v.string(),
  identity_uid: v.string(),
  issuer: v.string(),
  audience: v.string(),
  subject_pattern: v.string(),
  max_budget_usd: v.exactOptional(v.number()),
  ttl_seconds: v.number(),
  /** The scopes of its keys; absent where they have all. */
  scopes: v.exactOptional(v.array(Scope)),
  created_at: v.number(),
  updated_at: v.number(),
  /** The person who last saved it. The rule and its keys are valid while they are a member of the team. */
  saved_by: UserProfile,
});
export type TrustRule = v.InferOutput<typeof TrustRule>;

export const parseTrustRule = (item: Item): TrustRule => v.parse(TrustRule, item);

type RuleId = Pick<TrustRule, "team_uid" | "identity_uid" | "uid">;

export const trustRuleKey = ({ team_uid, identity_uid, uid }: RuleId): Key =>
  keys.trustRule(team_uid, identity_uid, uid);

/** Fails where the rule was changed or deleted since it was read. */
export const checkTrustRule = (rule: TrustRule): Check => ({
  kind: "check",
  key: trustRuleKey(rule),
  if: { updated_at: { eq: rule.updated_at } },
});
