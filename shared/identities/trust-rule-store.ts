import { scopesMember } from "#shared/principals/scopes.ts";
import { checkIdentityExists } from "#shared/records/identity.ts";
import { checkMember } from "#shared/records/member.ts";
import { checkTrustRule, parseTrustRule, type TrustRule, trustRuleKey } from "#shared/records/trust-rule.ts";
import { keys } from "#shared/table/keys.ts";
import type { Put, Table, TransactionWrite, Update } from "#shared/table/table.ts";
import { transact } from "#shared/table/transact.ts";

/** Rules of one issuer and audience that are read for a token. */
const MAX_CANDIDATES = 100;

/** A key as it is stored for a token. */
export interface TokenKey {
  readonly hash: string;
  readonly uid: string;
  readonly created_at: number;
  readonly expires_at_ms: number;
}

/** The trust rules of identities. */
export function trustRuleStore(table: Table) {
  return {
    /** The rules of an identity, oldest first. */
    async list(team: string, identity: string): Promise<TrustRule[]> {
      const { pk, sk: prefix } = keys.trustRule(team, identity, "");
      const { items } = await table.query({ pk, prefix });
      return items.map(parseTrustRule);
    },

    async get(team: string, identity: string, uid: string): Promise<TrustRule | undefined> {
      const item = await table.get(keys.trustRule(team, identity, uid));
      return item === undefined ? undefined : parseTrustRule(item);
    },

    /** The rules for tokens of an issuer and an audience, those of one identity if it is named. */
    async find(issuer: string, audience: string, identity: string | undefined): Promise<TrustRule[]> {
      const { pk, sk: prefix } = keys.trustRuleByIssuer(issuer, audience, identity ?? "", "");
      const { items } = await table.query({
        pk,
        ...(identity === undefined ? {} : { prefix }),
        limit: MAX_CANDIDATES,
      });
      return items.map(parseTrustRule);
    },

    /**
     * Creates a rule with the idempotency record of its request.
     * @throws ConflictError naming `idempotency`, or `identity` where it is deleted
     */
    async create(rule: TrustRule, idempotency: Put): Promise<void> {
      await transact(table, {
        idempotency,
        identity: checkIdentityExists(rule.team_uid, rule.identity_uid),
        rule: putRule(rule),
        byIssuer: putByIssuer(rule),
      });
    },

    /**
     * Replaces a rule that was read as `before`.
     * @throws ConflictError if it was changed or deleted since
     */
    async replace(before: TrustRule, rule: TrustRule): Promise<void> {
      const moved = before.issuer !== rule.issuer || before.audience !== rule.audience;
      await transact(table, {
        rule: { ...putRule(rule), if: { updated_at: { eq: before.updated_at } } },
        byIssuer: putByIssuer(rule),
        before: moved ? deleteByIssuer(before) : undefined,
      });
    },

    /** @throws ConflictError if it was changed or deleted since it was read */
    async delete(rule: TrustRule): Promise<void> {
      await transact(table, {
        rule: { kind: "delete", key: trustRuleKey(rule), if: { updated_at: { eq: rule.updated_at } } },
        byIssuer: deleteByIssuer(rule),
      });
    },
  };
}

/**
 * Stores a key by a rule. The table deletes the key after its expiry; it is not in the key list of the identity.
 * @throws ConflictError naming `rateLimit`, `identity`, `rule` and `member` where they changed meanwhile
 */
export async function storeTokenKey(
  rule: TrustRule,
  { hash, ...key }: TokenKey,
  rateLimit: Update,
  table: Table,
): Promise<void> {
  const { uid, team_uid, identity_uid, saved_by, max_budget_usd, scopes } = rule;
  await transact(table, {
    rateLimit,
    identity: checkIdentityExists(team_uid, identity_uid),
    rule: checkTrustRule(rule),
    member: checkMember(team_uid, saved_by.uid),
    key: {
      kind: "put",
      item: {
        ...keys.apiKey(hash),
        v: 1,
        kind: "agent",
        identity_uid,
        team_uid,
        ...key,
        name: "OIDC token",
        rule_uid: uid,
        saved_by: saved_by.uid,
        ...(max_budget_usd === undefined ? {} : { max_budget_usd }),
        ...scopesMember(scopes),
        expires_at: Math.ceil(key.expires_at_ms / 1000),
      },
      if: { pk: { exists: false } },
    },
  });
}

const putRule = (rule: TrustRule): Put => ({
  kind: "put",
  item: { ...trustRuleKey(rule), v: 1, ...rule },
  if: { pk: { exists: false } },
});

const byIssuer = ({ issuer, audience, identity_uid, uid }: TrustRule) =>
  keys.trustRuleByIssuer(issuer, audience, identity_uid, uid);

const putByIssuer = (rule: TrustRule): Put => ({ kind: "put", item: { ...byIssuer(rule), v: 1, ...rule } });

const deleteByIssuer = (rule: TrustRule): TransactionWrite => ({ kind: "delete", key: byIssuer(rule) });

/** The writes that delete rules together with their identity. */
export const deleteTrustRules = (rules: readonly TrustRule[]): TransactionWrite[] =>
  rules.flatMap((rule): TransactionWrite[] => [{ kind: "delete", key: trustRuleKey(rule) }, deleteByIssuer(rule)]);
