import { existsSync } from "node:fs";
import path from "node:path";
import { openDatabase } from "../database/open-database.ts";
import { toDisplayPath } from "../host/paths.ts";
import { Problem, say } from "../host/terminal.ts";
import { moveFormerSecrets, openInstallationKey, rotateInstallationKey } from "../secrets/installation-key.ts";
import { sqliteTable } from "../table/sqlite-table.ts";
import { servePaths } from "./local-state.ts";
import type { Program } from "./program.ts";
import { findProcess } from "./service-process.ts";
import { parseFlags, UsageError } from "./usage.ts";

const help = ({ usage, homeText }: Program): string => `Usage: ${usage} vault rotate [options]

Replaces the key in runyard.key, and encrypts all values of secrets with the new one. The service must be stopped. If it is
interrupted, repeat it: at each moment, the data can be read. Backups keep the key that they were made with. URLs of files
that the service has signed before no longer work.

  --data DIR   data directory of the service (default: data in ${homeText})
  --help       show this text`;

/** Rotates the installation key. */
export async function vaultCommand(args: readonly string[], program: Program): Promise<number> {
  const { values, positionals } = parseFlags(args, { data: { type: "string" } }, 1);
  if (values["help"]) {
    say(help(program));
    return 0;
  }
  const [verb = ""] = positionals;
  if (verb !== "rotate") throw new UsageError(`vault ${verb}: the only command is vault rotate.`);
  const { data } = servePaths(program.home, values.data);
  const file = path.join(data, "runyard.db");
  if (!existsSync(file))
    throw new Problem(`${toDisplayPath(data)} has no data: ${toDisplayPath(file)} does not exist.`);
  const found = await findProcess(data);
  if (found?.isRunning === true) {
    throw new Problem(`A service runs on ${toDisplayPath(data)}.`, [`Stop it first: ${program.usage} stop`]);
  }
  const database = openDatabase(file);
  try {
    const key = path.join(data, "runyard.key");
    await openInstallationKey(database, key);
    await moveFormerSecrets(database, sqliteTable(database));
    const count = await rotateInstallationKey(database, key);
    say(`${toDisplayPath(key)} has a new key, which encrypts ${count === 1 ? "one value" : `${count} values`}.`);
  } finally {
    await database.close();
  }
  return 0;
}
