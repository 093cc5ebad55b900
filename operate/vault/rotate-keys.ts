import type { Item, Table } from "#shared/table/table.ts";
import { writeIf } from "#shared/table/write-if.ts";
import { CACHED_MS, formatKeySet } from "#shared/vault/cached-key-set.ts";
import type { KeySetStore } from "#shared/vault/key-set-store.ts";
import { isSecretValue, resealValue } from "#shared/vault/secret-value-store.ts";
import { decodeKey, makeStoredKey, parseKeySet, type StoredKey } from "#shared/vault/vault-keys.ts";

/** Milliseconds for which a former key is kept: backups of the table, of up to 35 days, have values that it has encrypted. */
const KEPT_MS = 36 * 24 * 3_600_000;
/** Milliseconds until no process encrypts with a former key any more. */
const WAIT_MS = CACHED_MS + 30_000;

export interface RotationPorts {
  /** The set of keys that encrypt values of the table. */
  readonly keySets: readonly KeySetStore[];
  readonly table: Pick<Table, "write">;
  /** All items of the table. */
  readonly scan: () => AsyncIterable<Item>;
  readonly now: () => number;
  readonly sleep: (milliseconds: number) => Promise<void>;
}

export interface Rotation {
  readonly keys: number;
  readonly values: number;
}

/**
 * Adds a key to each key set, waits until all processes use it, and encrypts the values of former keys with it. If it is interrupted, the
 * next rotation completes it. Keys that no value and no backup needs are removed.
 */
export async function rotateKeys({ keySets, table, scan, now, sleep }: RotationPorts): Promise<Rotation> {
  const rotated: { readonly keySet: KeySetStore; readonly former: readonly StoredKey[]; readonly next: StoredKey }[] =
    [];
  for (const keySet of keySets) {
    const content = await keySet.read();
    if (content === undefined) continue;
    const former = parseKeySet(content);
    const next = makeStoredKey(now());
    await keySet.replace(formatKeySet([...former, next]));
    rotated.push({ keySet, former, next });
  }
  if (rotated.length === 0) return { keys: 0, values: 0 };
  await sleep(WAIT_MS);
  const changes = new Map(
    rotated.flatMap(({ former, next }) => former.map((from) => [from.id, { from, next }] as const)),
  );
  let values = 0;
  for await (const item of scan()) {
    const change = isSecretValue(item) ? changes.get(String(item["key"])) : undefined;
    if (change === undefined) continue;
    // The write fails where the value was deleted meanwhile.
    if (await writeIf(table, resealValue(item, decodeKey(change.from), decodeKey(change.next)))) values++;
  }
  for (const { keySet, former, next } of rotated) await removeOldKeys(keySet, [...former, next], now() - KEPT_MS);
  return { keys: rotated.length, values };
}

/** Removes the keys whose successor is older than `before`. The set is read again, since another rotation may have added a key meanwhile. */
async function removeOldKeys(keySet: KeySetStore, rotated: readonly StoredKey[], before: number): Promise<void> {
  const old = rotated.filter((_, index) => (rotated[index + 1]?.created_at ?? Number.POSITIVE_INFINITY) <= before);
  const content = old.length === 0 ? undefined : await keySet.read();
  if (content === undefined) return;
  const ids = new Set(old.map(({ id }) => id));
  await keySet.replace(formatKeySet(parseKeySet(content).filter(({ id }) => !ids.has(id))));
}
