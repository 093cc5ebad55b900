import { decodeJwt, errors } from "jose";
import { invalid, RunyardError } from "#shared/errors.ts";
import { uuidv7 } from "#shared/ids.ts";
import { createRateLimitToken, type RateLimits, rateLimited } from "#shared/limits/token-bucket.ts";
import { logLine } from "#shared/log/log.ts";
import type { Issuers } from "#shared/oidc/issuers.ts";
import { verifyToken } from "#shared/oidc/verify-token.ts";
import { hashKey, newKey } from "#shared/principals/api-key.ts";
import type { TrustRule } from "#shared/records/trust-rule.ts";
import { isSameAddress } from "#shared/run-identity/own-issuer.ts";
import type { Table } from "#shared/table/table.ts";
import { ConflictError } from "#shared/table/transact.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import type { TokenRequest, TokenResponse } from "#shared/wire/trust-rule.ts";
import { identityStore } from "./identity-store.ts";
import { refuseUnavailable } from "./read-identities.ts";
import { matchesSubject } from "./subject-pattern.ts";
import { storeTokenKey, trustRuleStore } from "./trust-rule-store.ts";

export interface TokenPorts {
  readonly table: Table;
  readonly now: () => number;
  readonly rates: RateLimits;
  readonly issuers: Issuers;
  readonly baseUrl: string;
}

/** Values of the `aud` claim that rules are looked up for. */
const MAX_AUDIENCES = 10;

/**
 * Exchanges an OIDC token for a key of the identity whose trust rule it matches. A rule must be found before the issuer's keys
 * are requested, so that a caller cannot make the service send requests to issuers that nobody trusts.
 * @throws RunyardError 403 naming the claim that is refused
 */
export async function exchangeToken({ token, identity_uid }: TokenRequest, ports: TokenPorts): Promise<TokenResponse> {
  const { issuer, audiences } = readUnverified(token);
  // A run must not turn its identity token into a key that outlives it.
  if (isSameAddress(issuer, ports.baseUrl)) throw refuse("iss", "tokens of this service itself are not accepted");
  const rules = await findRules(issuer, audiences, identity_uid ?? undefined, ports.table);
  const [first] = rules;
  if (first === undefined) throw refuse("iss, aud", "no trust rule accepts this issuer with this audience");
  const { audience } = first;
  const { sub } = await verifyToken(token, { issuer, audience, now: ports.now(), refuse }, ports.issuers);
  const matching = rules.filter((rule) => matchesSubject(rule.subject_pattern, sub));
  const [rule] = matching;
  if (rule === undefined) throw refuse("sub", "matches the subject pattern of no trust rule");
  if (matching.some((other) => other.identity_uid !== rule.identity_uid)) {
    throw invalid("identity_uid", "is required, because trust rules of several identities match the token");
  }
  return createKey(rule, ports);
}

const refuse = (claim: string, why: string) => new RunyardError("not_authorized", { detail: `${claim}: ${why}` });

/** Reads which rules a token may match. Nothing here is trusted before the signature is verified. */
function readUnverified(token: string): { readonly issuer: string; readonly audiences: readonly string[] } {
  try {
    const { iss, aud } = decodeJwt(token);
    const audiences = (Array.isArray(aud) ? aud : [aud]).filter((one) => typeof one === "string");
    if (typeof iss !== "string") throw refuse("iss", "is missing");
    if (audiences.length === 0 || audiences.length > MAX_AUDIENCES) throw refuse("aud", "is missing or too long");
    return { issuer: iss, audiences };
  } catch (error) {
    throw error instanceof errors.JWTInvalid ? refuse("token", "is not a signed JWT") : error;
  }
}

async function findRules(
  issuer: string,
  audiences: readonly string[],
  identity: string | undefined,
  table: Table,
): Promise<TrustRule[]> {
  const store = trustRuleStore(table);
  const found = await Promise.all(audiences.map((audience) => store.find(issuer, audience, identity)));
  return found.flat();
}

async function createKey(rule: TrustRule, { table, now: clock, rates }: TokenPorts): Promise<TokenResponse> {
  const { identity_uid, team_uid, ttl_seconds } = rule;
  const found = await identityStore(table).find([team_uid], identity_uid);
  if (found === undefined) throw ruleEnded();
  refuseUnavailable(found);
  const now = clock();
  const key = newKey("agent");
  const stored = { hash: hashKey(key), uid: uuidv7(now), created_at: now, expires_at_ms: now + ttl_seconds * 1000 };
  const rateLimit = createRateLimitToken(`identity:${identity_uid}`, "key", rates)(now);
  try {
    await storeTokenKey(rule, stored, rateLimit, table);
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    throw error.failed.has("rateLimit") ? rateLimited(now) : ruleEnded();
  }
  logLine("info", "an OIDC token was exchanged", { identity: identity_uid, rule: rule.uid, key: stored.uid });
  return { key, expires_at: toTimestamp(stored.expires_at_ms) };
}

const ruleEnded = () =>
  refuse("iss, aud", "the trust rule has ended: its identity is deleted, or the person who saved it left the team");
