import * as v from "valibot";
import { invalid } from "#shared/errors.ts";
import type { SecretVault } from "#shared/vault/secret-vault.ts";
import type { Database } from "../database/database.ts";
import { createKeyFile, deriveKey, KeyFileError, readKeyFile } from "./key-file.ts";
import { seal, unseal } from "./sealed-box.ts";

/** The limit of a Systems Manager parameter. */
const MAX_BYTES = 4096;

const PUT = "INSERT INTO secret_values (team, id, sealed) VALUES (?, ?, ?) ON CONFLICT DO NOTHING";
const GET = "SELECT sealed FROM secret_values WHERE team = ? AND id = ?";
const REMOVE = "DELETE FROM secret_values WHERE team = ? AND id = ?";
const GET_PROOF = "SELECT value FROM installation WHERE name = 'key-proof'";
const PUT_PROOF = "INSERT INTO installation (name, value) VALUES ('key-proof', ?)";

const SealedRow = v.object({ sealed: v.instance(Uint8Array) });
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

/** The secret vault in SQLite. Values are encrypted with a key that is not in the database. */
export function sqliteSecretVault(database: Database, installationKey: Uint8Array): SecretVault {
  const key = deriveKey(installationKey, "secrets");
  const toName = (team: string, id: string) => JSON.stringify([team, id]);
  return {
    async put(team, id, value) {
      if (Buffer.byteLength(value) > MAX_BYTES) throw invalid("value", `must have at most ${MAX_BYTES} bytes`);
      const sealed = seal(key, toName(team, id), value);
      const { changes } = await database.write(() => database.statement(PUT).run(team, id, sealed));
      if (changes === 0) throw new Error(`the secret ${id} has a value already`);
    },

    getAll: (team, ids) =>
      database.read(() => {
        const values = new Map<string, string>();
        for (const id of ids) {
          const row = database.statement(GET).get(team, id);
          if (row !== undefined) values.set(id, unseal(key, toName(team, id), v.parse(SealedRow, row).sealed));
        }
        return values;
      }),

    async remove(team, id) {
      await database.write(() => database.statement(REMOVE).run(team, id));
    },
  };
}
