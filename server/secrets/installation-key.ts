import { renameSync, rmSync } from "node:fs";
import path from "node:path";
import * as v from "valibot";
import { keys as tableKeys } from "#shared/table/keys.ts";
import type { Item, Table } from "#shared/table/table.ts";
import { seal, unseal } from "#shared/vault/sealed-box.ts";
import { resealValue, toSecretValue } from "#shared/vault/secret-value-store.ts";
import { fixedVaultKeys, type VaultKey, type VaultKeys } from "#shared/vault/vault-keys.ts";
import type { Database } from "../database/database.ts";
import { syncPathNow } from "../disk/sync-path.ts";
import { decodeItem, encodeItem } from "../table/item-text.ts";
import { createKeyFile, deriveKey, KeyFileError, readKeyFile } from "./key-file.ts";

/** The id of the key that follows from the key file. */
const FILE_KEY = "file";

const LIST_FORMER = "SELECT team, id, sealed FROM former_secret_values";
const REMOVE_FORMER = "DELETE FROM former_secret_values WHERE team = ? AND id = ?";
const GET_PROOF = "SELECT value FROM installation WHERE name = 'key-proof'";
const PUT_PROOF = "INSERT INTO installation (name, value) VALUES ('key-proof', ?)";

const FormerRows = v.array(v.object({ team: v.string(), id: v.string(), sealed: v.instance(Uint8Array) }));
const REPLACE_PROOF = "UPDATE installation SET value = ? WHERE name = 'key-proof'";
const LIST_VALUES = "SELECT item, tagged FROM items WHERE pk >= ? AND pk < ?";
const PUT_VALUE = "UPDATE items SET item = ?, tagged = ? WHERE pk = ? AND sk = ?";
const SECRET_PREFIX = tableKeys.secretValue("", "").pk;

const ProofRow = v.object({ value: v.instance(Uint8Array) });
const PROOF = "key-proof";

/** The key file of a rotation that has not ended. A backup contains it too. */
export const nextKeyFile = (file: string): string => `${file}.next`;

/**
 * Reads the installation key, or creates it at the first start. Completes a rotation that was interrupted after the database had got the
 * next key, and forgets one that was interrupted before.
 * @throws KeyFileError if the file is missing or is not the key that the database was created with
 */
export async function openInstallationKey(database: Database, file: string): Promise<Buffer> {
  const row = await database.read(() => database.statement(GET_PROOF).get());
  const key = readKeyFile(file);
  const nextFile = nextKeyFile(file);
  if (row === undefined) {
    const first = key ?? createKeyFile(file);
    await database.write(() => database.statement(PUT_PROOF).run(makeProof(first)));
    return first;
  }
  if (key === undefined) throw new KeyFileError(`The key file ${file} is missing. Put it back from a backup.`);
  const proof = v.parse(ProofRow, row).value;
  const failure = findFailure(key, proof);
  if (failure === undefined) {
    rmSync(nextFile, { force: true });
    return key;
  }
  const next = readKeyFile(nextFile);
  if (next === undefined || findFailure(next, proof) !== undefined)
    throw new KeyFileError(`${file} is not the key of this database. Put the key file back from a backup.`, failure);
  replaceKeyFile(file);
  return next;
}

/**
 * Replaces the installation key, and encrypts all values with the new one. The database changes all of them in one transaction, together
 * with the proof of its key, so that at each moment it has one key, in one of two files. If it is interrupted, the next start completes or
 * forgets it. Resolves with the number of values.
 * @throws KeyFileError if a value cannot be decrypted; then nothing changes
 */
export async function rotateInstallationKey(database: Database, file: string): Promise<number> {
  const former = vaultKeys(await openInstallationKey(database, file));
  const key = createKeyFile(nextKeyFile(file));
  const [from, to] = [await former.current(), await vaultKeys(key).current()];
  const values = await database.write(() => {
    const items = database.statement(LIST_VALUES).all(SECRET_PREFIX, `${SECRET_PREFIX}\u{10ffff}`).map(decodeItem);
    for (const item of items) {
      const { item: text, tagged } = encodeItem({ ...item, ...reseal(item, from, to).set });
      database.statement(PUT_VALUE).run(text, tagged, item.pk, item.sk);
    }
    database.statement(REPLACE_PROOF).run(makeProof(key));
    return items.length;
  });
  replaceKeyFile(file);
  return values;
}

function reseal(item: Item, from: VaultKey, to: VaultKey) {
  try {
    return resealValue(item, from, to);
  } catch (error) {
    throw new KeyFileError(
      `The value ${item.pk} ${item.sk} cannot be decrypted, so nothing was changed. Delete its secret.`,
      error,
    );
  }
}

function replaceKeyFile(file: string): void {
  renameSync(nextKeyFile(file), file);
  syncPathNow(path.dirname(file));
}

const makeProof = (key: Uint8Array): Uint8Array => seal(deriveKey(key, PROOF), PROOF, PROOF);

/** Why a key is not that of the database; undefined if it is. */
function findFailure(key: Uint8Array, proof: Uint8Array): unknown {
  try {
    unseal(deriveKey(key, PROOF), PROOF, proof);
    return undefined;
  } catch (error) {
    return error;
  }
}

/** The key that encrypts the values of secrets. */
export const vaultKeys = (installationKey: Uint8Array): VaultKeys =>
  fixedVaultKeys({ id: FILE_KEY, key: deriveKey(installationKey, "secrets") });

/**
 * Moves the values that earlier releases stored apart from the table into the vault. They are encrypted with the same key already. If it
 * is interrupted, the next start moves the rest.
 */
export async function moveFormerSecrets(database: Database, table: Pick<Table, "write">): Promise<void> {
  const rows = await database.read(() => v.parse(FormerRows, database.statement(LIST_FORMER).all()));
  for (const { team, id, sealed } of rows) {
    await table.write({ kind: "put", item: toSecretValue(team, id, FILE_KEY, sealed) });
    await database.write(() => database.statement(REMOVE_FORMER).run(team, id));
  }
}
