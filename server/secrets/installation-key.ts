import * as v from "valibot";
import type { Table } from "#shared/table/table.ts";
import { seal, unseal } from "#shared/vault/sealed-box.ts";
import { toSecretValue } from "#shared/vault/secret-value-store.ts";
import { fixedVaultKeys, type VaultKeys } from "#shared/vault/vault-keys.ts";
import type { Database } from "../database/database.ts";
import { createKeyFile, deriveKey, KeyFileError, readKeyFile } from "./key-file.ts";

/** The id of the key that follows from the key file. */
const FILE_KEY = "file";

const LIST_FORMER = "SELECT team, id, sealed FROM former_secret_values";
const REMOVE_FORMER = "DELETE FROM former_secret_values WHERE team = ? AND id = ?";
const GET_PROOF = "SELECT value FROM installation WHERE name = 'key-proof'";
const PUT_PROOF = "INSERT INTO installation (name, value) VALUES ('key-proof', ?)";

const FormerRows = v.array(v.object({ team: v.string(), id: v.string(), sealed: v.instance(Uint8Array) }));
const ProofRow = v.object({ value: v.instance(Uint8Array) });
const PROOF = "key-proof";

/**
 * Reads the installation key, or creates it at the first start.
 * @throws KeyFileError if the file is missing or is not the key that the database was created with
 */
export async function openInstallationKey(database: Database, file: string): Promise<Buffer> {
  const row = await database.read(() => database.statement(GET_PROOF).get());
  const key = readKeyFile(file);
  if (row === undefined) {
    const first = key ?? createKeyFile(file);
    await database.write(() => database.statement(PUT_PROOF).run(seal(deriveKey(first, PROOF), PROOF, PROOF)));
    return first;
  }
  if (key === undefined) throw new KeyFileError(`The key file ${file} is missing. Put it back from a backup.`);
  try {
    unseal(deriveKey(key, PROOF), PROOF, v.parse(ProofRow, row).value);
  } catch (error) {
    throw new KeyFileError(`${file} is not the key of this database. Put the key file back from a backup.`, error);
  }
  return key;
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
