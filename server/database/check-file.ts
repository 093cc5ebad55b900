import { DatabaseSync } from "node:sqlite";
import * as v from "valibot";
import { MIGRATIONS } from "./migrations.ts";
import { DatabaseError, toOpenError } from "./sqlite-errors.ts";

const Check = v.object({ quick_check: v.string() });
const Version = v.object({ user_version: v.number() });

/**
 * Checks a database file that no process uses, without changing it.
 * @throws DatabaseError if it is damaged or was written by a newer release
 */
export function checkDatabaseFile(file: string): void {
  try {
    const connection = new DatabaseSync(`file://${encodeURI(file)}?immutable=1`, { readOnly: true });
    try {
      const { quick_check: result } = v.parse(Check, connection.prepare("PRAGMA quick_check(1)").get());
      if (result !== "ok") throw new DatabaseError(`${file} is damaged: ${result}.`);
      const { user_version: version } = v.parse(Version, connection.prepare("PRAGMA user_version").get());
      if (version > MIGRATIONS.length) throw new DatabaseError(`${file} was written by a newer release of Runyard.`);
    } finally {
      connection.close();
    }
  } catch (error) {
    throw toOpenError(error, file);
  }
}
