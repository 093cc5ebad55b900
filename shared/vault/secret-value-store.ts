import * as v from "valibot";
import { splitIntoBatches } from "#shared/arrays.ts";
import { invalid } from "#shared/errors.ts";
import { keys as tableKeys } from "#shared/table/keys.ts";
import type { Item, Table, Update } from "#shared/table/table.ts";
import { writeIf } from "#shared/table/write-if.ts";
import { seal, unseal } from "./sealed-box.ts";
import type { SecretVault } from "./secret-vault.ts";
import type { VaultKey, VaultKeys } from "./vault-keys.ts";

/** Bytes of a value. */
const MAX_BYTES = 4096;
/** Items that one read returns. */
const BATCH = 100;

const SecretValue = v.object({ pk: v.string(), sk: v.string(), key: v.string(), sealed: v.instance(Uint8Array) });

/** Values that an earlier release stored in another place. */
export type FormerSecrets = Pick<SecretVault, "getAll" | "remove">;

/**
 * Values as items of the table, encrypted with AES-256-GCM under a key that is not in the table. Team and id are authenticated, so
 * that a value that is copied to another item cannot be decrypted.
 * @param former where values are that are not in the table
 */
export function tableVault(
  table: Pick<Table, "batchGet" | "write">,
  keys: VaultKeys,
  former?: FormerSecrets,
): SecretVault {
  const open = async (team: string, id: string, item: Item): Promise<string> => {
    const { key, sealed } = v.parse(SecretValue, item);
    return unseal((await keys.find(key)).key, toName(team, id), sealed);
  };
  const readValues = async (team: string, ids: readonly string[]): Promise<Map<string, string>> => {
    const values = new Map<string, string>();
    for (const batch of splitIntoBatches([...new Set(ids)], BATCH)) {
      const items = await table.batchGet(batch.map((id) => tableKeys.secretValue(team, id)));
      for (const [index, id] of batch.entries()) {
        const item = items[index];
        if (item !== undefined) values.set(id, await open(team, id, item));
      }
    }
    return values;
  };
  return {
    async put(team, id, value) {
      checkSize(value);
      const { id: key, key: bytes } = await keys.current();
      await table.write({ kind: "put", item: toSecretValue(team, id, key, seal(bytes, toName(team, id), value)) });
    },

    async replace(team, id, value) {
      checkSize(value);
      const { id: key, key: bytes } = await keys.current();
      const set = { key, sealed: seal(bytes, toName(team, id), value) };
      await writeIf(table, {
        kind: "update",
        key: tableKeys.secretValue(team, id),
        set,
        if: { key: { exists: true } },
      });
    },

    async getAll(team, ids) {
      const values = await readValues(team, ids);
      const missing = ids.filter((id) => !values.has(id));
      if (missing.length === 0 || former === undefined) return values;
      const found = new Map([...values, ...(await former.getAll(team, missing))]);
      const moved = missing.filter((id) => !found.has(id));
      // A value that was moved meanwhile is in the table by now.
      return moved.length === 0 ? found : new Map([...found, ...(await readValues(team, moved))]);
    },

    async remove(team, id) {
      // In this order, because a value that is moved meanwhile is stored in the table before it is deleted from its former place.
      await former?.remove(team, id);
      await table.write({ kind: "delete", key: tableKeys.secretValue(team, id) });
    },
  };
}

function checkSize(value: string): void {
  if (Buffer.byteLength(value) > MAX_BYTES) throw invalid("value", `must have at most ${MAX_BYTES} bytes`);
}

/** The item of an encrypted value. */
export const toSecretValue = (team: string, id: string, key: string, sealed: Uint8Array) => ({
  ...tableKeys.secretValue(team, id),
  v: 1,
  key,
  sealed,
});

/** The write that encrypts a value with another key, unless it was changed or deleted since it was read. */
export function resealValue(item: Item, from: VaultKey, to: VaultKey): Update {
  const { pk, sk, sealed } = v.parse(SecretValue, item);
  const prefix = tableKeys.secretValue("", "");
  const name = toName(pk.slice(prefix.pk.length), sk.slice(prefix.sk.length));
  const set = { key: to.id, sealed: seal(to.key, name, unseal(from.key, name, sealed)) };
  return { kind: "update", key: { pk, sk }, set, if: { key: { eq: from.id } } };
}

/** What the encryption of a value authenticates. */
const toName = (team: string, id: string): string => JSON.stringify([team, id]);

/** Whether an item is an encrypted value. */
export const isSecretValue = ({ pk }: Item): boolean => pk.startsWith(tableKeys.secretValue("", "").pk);
