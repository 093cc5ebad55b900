import { hashKey, newKey } from "#shared/principals/api-key.ts";
import { type StoredScopes, scopesMember } from "#shared/principals/scopes.ts";
import type { UserProfile } from "#shared/wire/run.ts";
import type { KeyOwner } from "./key-owner.ts";
import type { NewKey, StoredKey } from "./key-store.ts";

export interface KeyFields {
  readonly uid: string;
  readonly name: string;
  /** Milliseconds. */
  readonly now: number;
  readonly expiresAt?: number | undefined;
  /** @default all scopes */
  readonly scopes?: StoredScopes;
  /** @default none */
  readonly limits?: Pick<StoredKey, "budget_usd_month" | "runs_per_day"> | undefined;
  readonly createdBy: UserProfile | undefined;
  /** The key itself. @default a random one */
  readonly raw?: string;
}

/** Generates a key for an owner. The key itself is stored nowhere, only its hash. */
export function generateKey(owner: KeyOwner, fields: KeyFields): NewKey {
  const { uid, name, now, expiresAt, scopes, limits, createdBy, raw = newKey(owner.kind) } = fields;
  return {
    raw,
    hash: hashKey(raw),
    stored: {
      uid,
      name,
      suffix: raw.slice(-4),
      created_at: now,
      ...(expiresAt === undefined ? {} : { expires_at_ms: expiresAt }),
      ...scopesMember(scopes),
      ...limits,
      ...(createdBy === undefined ? {} : { created_by: createdBy }),
    },
  };
}
