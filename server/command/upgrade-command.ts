import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { openDatabase } from "../database/open-database.ts";
import { toDisplayPath } from "../host/paths.ts";
import { complain, Problem, say } from "../host/terminal.ts";
import { backUp } from "../transfer/backup.ts";
import { writeDestination } from "../transfer/destination.ts";
import { servePaths } from "./local-state.ts";
import type { Program } from "./program.ts";
import { findProcess } from "./service-process.ts";
import { stopCommand } from "./stop-command.ts";
import { parseFlags } from "./usage.ts";
import { VERSION } from "./version.ts";

const help = ({ usage, homeText }: Program): string => `Usage: ${usage} upgrade [options]

Prepares the data for this release: stops the service, backs its data up, and changes the schema of the database. Run it with
the new release, before the service starts again. If it fails, the data are as before.

  --backup FILE   archive of the backup (default: a new file in backups next to the data directory)
  --data DIR      data directory of the service (default: data in ${homeText})
  --help          show this text`;

/** Backs up the data of an earlier release, and migrates its database. */
export async function upgradeCommand(args: readonly string[], program: Program): Promise<number> {
  const { values } = parseFlags(args, { data: { type: "string" }, backup: { type: "string" } });
  if (values["help"]) {
    say(help(program));
    return 0;
  }
  const { data } = servePaths(program.home, values.data);
  const file = path.join(data, "runyard.db");
  if (!existsSync(file))
    throw new Problem(`${toDisplayPath(data)} has no data to upgrade: ${toDisplayPath(file)} does not exist.`);
  const found = await findProcess(data);
  if (found?.isRunning === true) await stopCommand(["--data", data], program);
  const backup = values.backup ?? (await chooseBackup(data));
  const { files } = await writeDestination(backup, (directory) => backUp(data, directory));
  say(`Backup: ${backup}, with ${files} files.`);
  try {
    await openDatabase(file).close();
  } catch (error) {
    complain(`The data were not changed. Start the earlier release again, or restore the backup elsewhere.`);
    throw error;
  }
  say(`${toDisplayPath(data)} is ready for runyard-server ${VERSION}. Start it with: ${program.usage} serve`);
  say(`To go back, install the earlier release and run: ${program.usage} restore ${backup} --data NEW_DIRECTORY`);
  return 0;
}

async function chooseBackup(data: string): Promise<string> {
  const folder = path.join(path.dirname(data), "backups");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const time = new Date().toISOString().slice(0, 19).replaceAll(":", "");
  return path.join(folder, `before-${VERSION}-${time}.tar.gz`);
}
