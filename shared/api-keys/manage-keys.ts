import * as v from "valibot";
import { invalid, notFound, RunyardError, retryableConflict } from "#shared/errors.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runIdempotent,
} from "#shared/idempotency/idempotent-request.ts";
import { uuidv7 } from "#shared/ids.ts";
import { type RateLimitToken, throwIfRateLimited } from "#shared/limits/token-bucket.ts";
import { keys } from "#shared/table/keys.ts";
import { ConditionFailed, type Put, type Table, type TransactionWrite } from "#shared/table/table.ts";
import type { CreatedKey, CreateKeyRequest, KeyItem } from "#shared/wire/key.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import type { UserProfile } from "#shared/wire/run.ts";
import { type KeyOwner, keyListKey, MAX_KEYS, makeKey, parseKeyList, StoredKey, toKeyListUpdate } from "./key-list.ts";

interface KeyPorts {
  readonly table: Table;
  readonly now: () => number;
}

/** Each attempt that fails has let another one through, so as many at once are served. */
const ATTEMPTS = 25;

/** Creates a key of the holder once. A repeat cannot be answered as the first was, since nobody knows the key any more. */
export function createKey(
  holder: KeyOwner,
  request: CreateKeyRequest,
  {
    once,
    rateLimitToken,
    createdBy,
  }: { readonly once: IdempotentRequest; readonly rateLimitToken: RateLimitToken; readonly createdBy: UserProfile },
  ports: KeyPorts,
): Promise<CreatedKey> {
  const expiresAt = request.expires_at ? Date.parse(request.expires_at) : undefined;
  if (expiresAt !== undefined && expiresAt <= ports.now()) throw invalid("expires_at", "must be in the future");
  return runIdempotent(
    ports.table,
    once,
    ports.now,
    (record) => addKey(holder, { name: request.name, expiresAt, createdBy }, { record, rateLimitToken }, ports),
    async (uid) => {
      throw new RunyardError("conflict", {
        detail: `this request has made the key ${uid} already, and a key is shown only once: delete it and make another, with a new Idempotency-Key`,
        retryable: false,
      });
    },
  );
}

async function addKey(
  holder: KeyOwner,
  given: { readonly name: string; readonly expiresAt: number | undefined; readonly createdBy: UserProfile },
  { record, rateLimitToken }: { readonly record: (uid: string) => Put; readonly rateLimitToken: RateLimitToken },
  { table, now: clock }: KeyPorts,
): Promise<CreatedKey> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const ring = parseKeyList(await table.get(keyListKey(holder)));
    if (ring.entries.length >= MAX_KEYS) {
      throw new RunyardError("conflict", {
        detail: `there are ${MAX_KEYS} keys already, which is the most: delete one first`,
        retryable: false,
      });
    }
    const now = clock();
    const uid = uuidv7(now);
    const made = makeKey(holder, { uid, now, ...given });
    const entries = [...ring.entries, made.entry];
    const standing = stillThere(holder, given.createdBy.uid);
    const writes = [toKeyListUpdate(holder, ring, entries), record(uid), made.put, ...standing, rateLimitToken(now)];
    try {
      await table.transact(writes);
      return { ...toKeyItem(made.stored), key: made.raw };
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
      if (error.positions.includes(1)) throw new IdempotencyRecordExists();
      throwIfRateLimited(error, writes, now);
      if (standing.some((write) => error.positions.includes(writes.indexOf(write)))) throw notFound("identity");
    }
  }
  throw retryableConflict("the keys change too fast; send the request again");
}

/**
 * An identity that is deleted meanwhile gets no more keys, and somebody who is removed from the team makes none. The count lets
 * the removal of a member notice a key that they create at the same moment.
 */
function stillThere(holder: KeyOwner, creator: string): TransactionWrite[] {
  if (holder.kind === "personal") return [];
  const exists = { pk: { exists: true } } as const;
  return [
    { kind: "check", key: keys.identity(holder.team, holder.identity), if: exists },
    { kind: "update", key: keys.member(holder.team, creator), add: { keys_created: 1 }, if: exists },
  ];
}

/** The keys of the holder, oldest first, those that have expired among them. */
export async function listKeys(holder: KeyOwner, { table }: KeyPorts): Promise<KeyItem[]> {
  const { entries } = parseKeyList(await table.get(keyListKey(holder)));
  const items = await table.batchGet(entries.map(({ hash }) => keys.apiKey(hash)));
  const stored = items.filter((item) => item !== undefined).map((item) => v.parse(StoredKey, item));
  return stored.sort((a, b) => (a.uid < b.uid ? -1 : 1)).map(toKeyItem);
}

/** Deletes a key: it is refused from the next request on. */
export async function deleteKey(holder: KeyOwner, uid: string, { table }: KeyPorts): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const ring = parseKeyList(await table.get(keyListKey(holder)));
    const entry = ring.entries.find((one) => one.uid === uid);
    if (entry === undefined) throw notFound("key");
    const rest = ring.entries.filter((one) => one !== entry);
    try {
      return await table.transact([
        toKeyListUpdate(holder, ring, rest),
        { kind: "delete", key: keys.apiKey(entry.hash) },
      ]);
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
    }
  }
  throw retryableConflict("the keys change too fast; send the request again");
}

function toKeyItem({ uid, name, suffix, created_at, created_by, expires_at_ms, last_used_at }: StoredKey): KeyItem {
  return {
    uid,
    name,
    suffix,
    created_at: toTimestamp(created_at),
    ...(created_by === undefined ? {} : { created_by }),
    ...(expires_at_ms === undefined ? {} : { expires_at: toTimestamp(expires_at_ms) }),
    ...(last_used_at === undefined ? {} : { last_used_at: toTimestamp(last_used_at) }),
  };
}
