import { sortByText } from "#shared/arrays.ts";
import { invalid, notFound, RunyardError } from "#shared/errors.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runIdempotent,
} from "#shared/idempotency/idempotent-request.ts";
import { uuidv7 } from "#shared/ids.ts";
import { type RateLimitToken, rateLimited } from "#shared/limits/token-bucket.ts";
import { refuseLimitedKey } from "#shared/principals/key-budget.ts";
import { type PersonalPrincipal, toProfile } from "#shared/principals/principal.ts";
import { grantScopes, listScopes } from "#shared/principals/scopes.ts";
import type { Person } from "#shared/records/member.ts";
import { toUserProfile } from "#shared/records/user.ts";
import { retryOnConflict } from "#shared/table/optimistic-write.ts";
import type { Put, Table } from "#shared/table/table.ts";
import { ConflictError } from "#shared/table/transact.ts";
import type { CreatedKey, CreateKeyRequest, KeyItem } from "#shared/wire/key.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import type { UserProfile } from "#shared/wire/run.ts";
import { generateKey, type KeyFields } from "./generate-key.ts";
import type { KeyOwner } from "./key-owner.ts";
import { keyStore, type StoredKey } from "./key-store.ts";

interface KeyPorts {
  readonly table: Table;
  readonly now: () => number;
}

/** Each failed attempt means that another request succeeded, so this many concurrent requests are served. */
const MAX_ATTEMPTS = 25;

/** Keys that one owner may have. */
const MAX_KEYS = 50;

interface IssueOptions {
  readonly idempotency: IdempotentRequest;
  readonly rateLimitToken: RateLimitToken;
  /** The person who creates the key. Its scopes are at most those of the request's credential. */
  readonly creator: PersonalPrincipal;
  /** The hash of the owner's key that the request was authenticated with, if any: it must not have been revoked meanwhile. */
  readonly usedKey?: string | undefined;
}

/** Creates a key once. A repeated request cannot return the same response, since the key itself is not stored. */
export function issueKey(
  owner: KeyOwner,
  request: CreateKeyRequest,
  { idempotency, rateLimitToken, creator, usedKey }: IssueOptions,
  ports: KeyPorts,
): Promise<CreatedKey> {
  const expiresAt = request.expires_at ? Date.parse(request.expires_at) : undefined;
  if (expiresAt !== undefined && expiresAt <= ports.now()) throw invalid("expires_at", "must be in the future");
  const scopes = grantScopes(request.scopes, creator);
  refuseLimitedKey(creator, "keys");
  const { name, max_budget_usd, max_runs_per_day } = request;
  const limits = {
    ...(typeof max_budget_usd === "number" ? { budget_usd_month: max_budget_usd } : {}),
    ...(typeof max_runs_per_day === "number" ? { runs_per_day: max_runs_per_day } : {}),
  };
  const fields = { name, expiresAt, scopes, limits, createdBy: toProfile(creator) };
  return runIdempotent(
    ports.table,
    idempotency,
    ports.now,
    (record) => addKey(owner, fields, { record, rateLimitToken, usedKey }, ports),
    async (uid) => {
      throw new RunyardError("conflict", {
        detail: `this request already created the key ${uid}, and a key is shown only once: delete it and create another with a new Idempotency-Key`,
        retryable: false,
      });
    },
  );
}

async function addKey(
  owner: KeyOwner,
  fields: Pick<KeyFields, "name" | "expiresAt" | "scopes" | "limits"> & { readonly createdBy: UserProfile },
  {
    record,
    rateLimitToken,
    usedKey,
  }: Pick<IssueOptions, "rateLimitToken" | "usedKey"> & {
    readonly record: (uid: string) => Put;
  },
  { table, now: clock }: KeyPorts,
): Promise<CreatedKey> {
  const store = keyStore(table);
  const creator = fields.createdBy.uid;
  return retryOnChange(async () => {
    const list = await store.readList(owner);
    if (usedKey !== undefined && !list.entries.some(({ hash }) => hash === usedKey)) throw keyRevoked();
    if (list.entries.length >= MAX_KEYS) {
      throw new RunyardError("conflict", {
        detail: `the limit of ${MAX_KEYS} keys is reached: delete one first`,
        retryable: false,
      });
    }
    const now = clock();
    const uid = uuidv7(now);
    const key = generateKey(owner, { uid, now, ...fields });
    try {
      await store.add(owner, list, key, { idempotency: record(uid), creator, rateLimit: rateLimitToken(now) });
      return { ...toKeyItem(key.stored), key: key.raw };
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      if (error.failed.has("idempotency")) throw new IdempotencyRecordExists();
      if (error.failed.has("rateLimit")) throw rateLimited(now);
      throw error.failed.has("owner") ? notFound("identity") : error;
    }
  });
}

/**
 * Creates a key for an operator of the service who has lost theirs, regardless of limits.
 * @returns the key itself
 */
export async function issueRecoveryKey(
  owner: KeyOwner,
  createdBy: Person,
  { table, now: clock }: KeyPorts,
): Promise<string> {
  const store = keyStore(table);
  return retryOnChange(async () => {
    const now = clock();
    const key = generateKey(owner, {
      uid: uuidv7(now),
      name: "recovery key",
      now,
      createdBy: toUserProfile(createdBy),
    });
    await store.addUncounted(owner, await store.readList(owner), key);
    return key.raw;
  });
}

/** The keys of an owner, oldest first, including expired ones. */
export async function readKeys(owner: KeyOwner, { table }: KeyPorts): Promise<KeyItem[]> {
  const store = keyStore(table);
  const { entries } = await store.readList(owner);
  const stored = [...(await store.readKeys(entries)).values()];
  return sortByText(stored, ({ uid }) => uid).map(toKeyItem);
}

/** Revokes a key: requests with it are refused from then on. */
export async function revokeKey(owner: KeyOwner, uid: string, { table }: KeyPorts): Promise<void> {
  const store = keyStore(table);
  await retryOnChange(async () => {
    const list = await store.readList(owner);
    const entry = list.entries.find((one) => one.uid === uid);
    if (entry === undefined) throw notFound("key");
    await store.revoke({ owner, list, entries: [entry] });
  });
}

const keyRevoked = () =>
  new RunyardError("authentication_required", {
    detail: "the API key is not valid",
    headers: { "www-authenticate": "Bearer" },
  });

const retryOnChange = <T>(attempt: () => Promise<T>): Promise<T> =>
  retryOnConflict("the keys are", attempt, { maxAttempts: MAX_ATTEMPTS });

function toKeyItem(key: StoredKey): KeyItem {
  const { uid, name, suffix, created_at, created_by, expires_at_ms, scopes, last_used_at } = key;
  const { budget_usd_month, runs_per_day } = key;
  return {
    uid,
    name,
    suffix,
    created_at: toTimestamp(created_at),
    ...(created_by === undefined ? {} : { created_by }),
    ...(expires_at_ms === undefined ? {} : { expires_at: toTimestamp(expires_at_ms) }),
    scopes: listScopes(scopes),
    ...(budget_usd_month === undefined ? {} : { max_budget_usd: budget_usd_month }),
    ...(runs_per_day === undefined ? {} : { max_runs_per_day: runs_per_day }),
    ...(last_used_at === undefined ? {} : { last_used_at: toTimestamp(last_used_at) }),
  };
}
