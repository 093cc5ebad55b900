import ipaddr from "ipaddr.js";
import { invalid, notFound } from "#shared/errors.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runIdempotent,
} from "#shared/idempotency/idempotent-request.ts";
import { uuidv7 } from "#shared/ids.ts";
import { tooMany } from "#shared/limits/scope-limit.ts";
import type { Issuers } from "#shared/oidc/issuers.ts";
import type { Cursors } from "#shared/pagination/cursor.ts";
import { refuseLimitedKey } from "#shared/principals/key-budget.ts";
import { type PersonalPrincipal, type Principal, toProfile } from "#shared/principals/principal.ts";
import { grantScopes, listScopes, scopesMember } from "#shared/principals/scopes.ts";
import type { TrustRule } from "#shared/records/trust-rule.ts";
import { isSameAddress } from "#shared/run-identity/own-issuer.ts";
import { retryOnConflict } from "#shared/table/optimistic-write.ts";
import type { Table } from "#shared/table/table.ts";
import { ConflictError } from "#shared/table/transact.ts";
import { scopeOfAddress } from "#shared/wire/network/addresses.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import { MAX_TTL_SECONDS, type TrustRuleItem, type TrustRuleRequest } from "#shared/wire/trust-rule.ts";
import { readIdentity, refuseUnavailable } from "./read-identities.ts";
import { trustRuleStore } from "./trust-rule-store.ts";

export interface TrustRulePorts {
  readonly table: Table;
  readonly now: () => number;
  readonly cursors: Cursors;
  readonly issuers: Pick<Issuers, "allowsPrivate">;
  readonly baseUrl: string;
}

/** Rules that one identity may have. */
const MAX_RULES = 20;

interface SavedRule {
  readonly rule: TrustRule;
  readonly replayed: boolean;
}

/** Creates a rule of an identity, once. */
export async function addTrustRule(
  identityUid: string,
  request: TrustRuleRequest,
  caller: PersonalPrincipal,
  idempotency: IdempotentRequest,
  ports: TrustRulePorts,
): Promise<SavedRule> {
  const { table, now: clock } = ports;
  refuseIssuer(request.issuer, ports);
  const found = await readIdentity(identityUid, caller, table);
  refuseUnavailable(found);
  const { uid: identity_uid, team_uid } = found.identity;
  const store = trustRuleStore(table);
  return runIdempotent<SavedRule>(
    table,
    idempotency,
    clock,
    async (record) => {
      if ((await store.list(team_uid, identity_uid)).length >= MAX_RULES) {
        throw tooMany(MAX_RULES, "trust rules of this identity");
      }
      const now = clock();
      const ids = { uid: uuidv7(now), team_uid, identity_uid, created_at: now };
      const rule = { ...ids, ...toMembers(request, caller), updated_at: now };
      try {
        await store.create(rule, record(rule.uid));
      } catch (error) {
        if (!(error instanceof ConflictError)) throw error;
        throw error.failed.has("idempotency") ? new IdempotencyRecordExists() : notFound("identity");
      }
      return { rule, replayed: false };
    },
    async (uid) => {
      const rule = await store.get(team_uid, identity_uid, uid);
      if (rule === undefined) throw notFound("trust rule");
      const { created_at } = rule;
      const ids = { uid, team_uid, identity_uid, created_at };
      // As the request creates it, also for a repeat that comes after a change.
      return { rule: { ...ids, ...toMembers(request, caller), updated_at: created_at }, replayed: true };
    },
  );
}

function toMembers(request: TrustRuleRequest, caller: PersonalPrincipal) {
  refuseLimitedKey(caller, "trust rules");
  return {
    issuer: request.issuer,
    audience: request.audience,
    subject_pattern: request.subject_pattern,
    ...(typeof request.max_budget_usd === "number" ? { max_budget_usd: request.max_budget_usd } : {}),
    ttl_seconds: request.ttl_seconds ?? MAX_TTL_SECONDS,
    ...scopesMember(grantScopes(request.scopes, caller)),
    saved_by: toProfile(caller),
  };
}

/** Refuses an issuer that the service would not connect to. Names are checked when it connects. */
function refuseIssuer(issuer: string, { issuers, baseUrl }: TrustRulePorts): void {
  if (isSameAddress(issuer, baseUrl)) throw invalid("issuer", "must not be this service itself");
  if (issuers.allowsPrivate) return;
  if (!issuer.startsWith("https:")) throw invalid("issuer", "must be an https URL");
  const host = URL.parse(issuer)?.hostname.replace(/^\[(.*)\]$/, "$1") ?? "";
  if (ipaddr.isValid(host) && scopeOfAddress(host) !== "public") {
    throw invalid("issuer", "must be an address on the internet");
  }
}

/** The rules of an identity, oldest first. */
export async function readTrustRules(
  identityUid: string,
  principal: Principal,
  { table }: TrustRulePorts,
): Promise<TrustRule[]> {
  const { identity } = await readIdentity(identityUid, principal, table);
  return trustRuleStore(table).list(identity.team_uid, identity.uid);
}

export interface RulePath {
  readonly identityUid: string;
  readonly ruleUid: string;
}

/** @throws RunyardError 404 */
export async function readTrustRule(
  { identityUid, ruleUid }: RulePath,
  principal: Principal,
  { table }: TrustRulePorts,
): Promise<TrustRule> {
  const { identity } = await readIdentity(identityUid, principal, table);
  const rule = await trustRuleStore(table).get(identity.team_uid, identity.uid, ruleUid);
  if (rule === undefined) throw notFound("trust rule");
  return rule;
}

/** Replaces a rule. Keys that it gave before stay valid until they expire, with the budget and the scopes that they were given. */
export async function replaceTrustRule(
  path: RulePath,
  request: TrustRuleRequest,
  caller: PersonalPrincipal,
  ports: TrustRulePorts,
): Promise<TrustRule> {
  refuseIssuer(request.issuer, ports);
  return changeRule(path, caller, ports, async (before) => {
    const { uid, team_uid, identity_uid, created_at } = before;
    const now = Math.max(ports.now(), before.updated_at + 1);
    const rule = { uid, team_uid, identity_uid, created_at, ...toMembers(request, caller), updated_at: now };
    await trustRuleStore(ports.table).replace(before, rule);
    return rule;
  });
}

/** Deletes a rule. Its keys are refused from the next request. */
export async function removeTrustRule(path: RulePath, caller: Principal, ports: TrustRulePorts): Promise<void> {
  await changeRule(path, caller, ports, (rule) => trustRuleStore(ports.table).delete(rule));
}

function changeRule<T>(
  path: RulePath,
  caller: Principal,
  ports: TrustRulePorts,
  change: (rule: TrustRule) => Promise<T>,
): Promise<T> {
  return retryOnConflict("the trust rule is", async () => change(await readTrustRule(path, caller, ports)));
}

/** A rule as responses show it. */
export function toTrustRuleItem({ team_uid: _, created_at, updated_at, ...rule }: TrustRule): TrustRuleItem {
  const times = { created_at: toTimestamp(created_at), updated_at: toTimestamp(updated_at) };
  return { ...rule, scopes: listScopes(rule.scopes), ...times };
}
