import * as v from "valibot";
import { BudgetUsd } from "./config.ts";
import { Scope, Scopes } from "./keys/scope.ts";
import { PageInfo } from "./list.ts";
import { optional, textOfBytes } from "./primitives.ts";
import { UserProfile } from "./run.ts";

export const MAX_TTL_SECONDS = 3600;

/** A new trust rule, or all members of an existing one. */
export const TrustRuleRequest = v.object({
  /** The issuer of the tokens, exactly as in their `iss` claim. */
  issuer: v.pipe(
    textOfBytes(512, 1),
    v.regex(/^https?:\/\/[^\s/?#@\\]+(\/[^\s?#\\]*)?$/, "must be an https URL without query, fragment and credentials"),
  ),
  /** A value that the `aud` claim of the tokens must have. */
  audience: textOfBytes(512, 1),
  /** The `sub` claim of the tokens. Each `*` stands for any text. */
  subject_pattern: v.pipe(
    textOfBytes(512, 1),
    v.check((pattern) => /[^*]/.test(pattern), "must have more than asterisks, since every subject would match"),
  ),
  /** The maximum budget of each run that a key of this rule creates. By default the runs are not limited. */
  max_budget_usd: optional(BudgetUsd),
  /** Seconds for which the keys are valid, 60 to 3,600. Defaults to 3,600. */
  ttl_seconds: optional(v.pipe(v.number(), v.integer(), v.minValue(60), v.maxValue(MAX_TTL_SECONDS))),
  /** What the keys may be used for. By default they have all scopes of the request's own credential, which has to have each of them. */
  scopes: optional(Scopes),
});
export type TrustRuleRequest = v.InferOutput<typeof TrustRuleRequest>;

/** A rule by which OIDC tokens are exchanged for API keys of an identity. */
export const TrustRuleItem = v.object({
  /** The trust rule's id. */
  uid: v.string(),
  /** The identity that the keys are for. */
  identity_uid: v.string(),
  /** The issuer of the tokens. */
  issuer: v.string(),
  /** A value of the `aud` claim of the tokens. */
  audience: v.string(),
  /** The `sub` claim of the tokens. Each `*` stands for any text. */
  subject_pattern: v.string(),
  /** The maximum budget of each run that a key of the rule creates. */
  max_budget_usd: v.exactOptional(v.number()),
  /** Seconds for which the keys are valid. */
  ttl_seconds: v.number(),
  /** What the keys may be used for. */
  scopes: v.array(Scope),
  /** The time of creation. @format date-time */
  created_at: v.string(),
  /** The time of the latest change. @format date-time */
  updated_at: v.string(),
  /** The person who last saved the rule. It works as long as they are a member of the team. */
  saved_by: UserProfile,
});
export type TrustRuleItem = v.InferOutput<typeof TrustRuleItem>;

/** A page of trust rules. */
export const ListTrustRulesResponse = v.object({
  /** The trust rules, oldest first. */
  trust_rules: v.array(TrustRuleItem),
  /** The position of the page in the list. */
  page_info: v.exactOptional(PageInfo),
});

/** An OIDC token to exchange for an API key. */
export const TokenRequest = v.object({
  /** The OIDC token, a signed JWT. */
  token: textOfBytes(16_384, 1),
  /** The identity that the key is for. Required if the token matches rules of several identities. */
  identity_uid: optional(textOfBytes(512, 1)),
});
export type TokenRequest = v.InferOutput<typeof TokenRequest>;

/** An API key that expires. */
export const TokenResponse = v.object({
  /** The API key, returned once. */
  key: v.string(),
  /** The expiry time of the key. @format date-time */
  expires_at: v.string(),
});
export type TokenResponse = v.InferOutput<typeof TokenResponse>;
