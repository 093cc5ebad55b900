import { formatBytes } from "../disk/format-bytes.ts";
import { toDisplayPath } from "../host/paths.ts";
import { Problem, say, warn } from "../host/terminal.ts";
import { backUp, restore } from "../transfer/backup.ts";
import { readSource, throwIfNotEmpty, writeDestination } from "../transfer/destination.ts";
import { exportData } from "../transfer/export.ts";
import { importHere } from "../transfer/import-here.ts";
import { servePaths } from "./local-state.ts";
import type { Program } from "./program.ts";
import { findProcess } from "./service-process.ts";
import { parseFlags, UsageError } from "./usage.ts";

interface Transfer {
  readonly name: string;
  /** The name of the argument in the help text. */
  readonly argument: string;
  readonly description: string;
  run(place: string, data: string): Promise<void>;
}

const backupTransfer: Transfer = {
  name: "backup",
  argument: "TO",
  description: `Copies the database, the files and the key to TO, also while the service runs. TO is a new directory, or a new archive if
it ends in .tar, .tar.gz or .tgz. Keep it as safe as the data directory: it contains the key that decrypts secrets.`,
  async run(to, data) {
    const { files, bytes } = await writeDestination(to, (directory) => backUp(data, directory));
    say(
      `${toDisplayPath(data)} was copied to ${to}: the database, the key and ${files} files (${formatBytes(bytes)}).`,
    );
  },
};

const restoreTransfer: Transfer = {
  name: "restore",
  argument: "FROM",
  description: `Copies the backup FROM to the data directory, which must be empty. The next start continues its runs and creates a
new key for the admin. Do not let the service that was backed up run at the same time: both would execute its runs.`,
  async run(from, data) {
    await throwIfRunning(data);
    await throwIfNotEmpty(data, "Restore into another directory with --data, or move this one away.");
    const { files, createdAt } = await readSource(from, (directory) => restore(directory, data));
    say(`The backup of ${createdAt} was restored to ${toDisplayPath(data)}, with ${files} files.`);
  },
};

const exportTransfer: Transfer = {
  name: "export",
  argument: "TO",
  description: `Writes the items of the table as JSON Lines and the files to TO, also while the service runs, for another machine or a
deployment on AWS. TO is a new directory or archive, as for a backup. Secrets are not exported, only listed.`,
  async run(to, data) {
    const { items, files, secrets } = await writeDestination(to, (directory) => exportData(data, directory));
    say(`${items} items and ${files} files of ${toDisplayPath(data)} were exported to ${to}.`);
    listSecrets("These secrets have to be created again after the import", secrets);
  },
};

const importTransfer: Transfer = {
  name: "import",
  argument: "FROM",
  description: `Imports the export FROM into the data directory, which must be empty. An interrupted import can be repeated. API keys
stay valid. To import into a deployment on AWS, use \`npm run aws -- import\` in a checkout.`,
  async run(from, data) {
    await throwIfRunning(data);
    const { items, files, secrets, wasComplete } = await readSource(from, (directory) => importHere(directory, data));
    if (wasComplete) return say(`${toDisplayPath(data)} contains this export already; nothing was changed.`);
    say(`${items} items and ${files} files were imported into ${toDisplayPath(data)}.`);
    listSecrets("Create these secrets again", secrets);
  },
};

export const backupCommand = (args: readonly string[], program: Program) => runTransfer(backupTransfer, args, program);
export const restoreCommand = (args: readonly string[], program: Program) =>
  runTransfer(restoreTransfer, args, program);
export const exportCommand = (args: readonly string[], program: Program) => runTransfer(exportTransfer, args, program);
export const importCommand = (args: readonly string[], program: Program) => runTransfer(importTransfer, args, program);

async function runTransfer(transfer: Transfer, args: readonly string[], program: Program): Promise<number> {
  const { values, positionals } = parseFlags(args, { data: { type: "string" } }, 1);
  if (values["help"]) {
    say(help(transfer, program));
    return 0;
  }
  const [place] = positionals;
  if (place === undefined) throw new UsageError(`${transfer.name} needs the argument ${transfer.argument}.`);
  await transfer.run(place, servePaths(program.home, values.data).data);
  return 0;
}

const help = ({ name, argument, description }: Transfer, { usage, homeText }: Program): string =>
  `Usage: ${usage} ${name} ${argument} [options]

${description}

  --data DIR   data directory of the service (default: data in ${homeText})
  --help       show this text`;

async function throwIfRunning(data: string): Promise<void> {
  const found = await findProcess(data);
  if (found?.isRunning !== true) return;
  throw new Problem(`A service runs on ${toDisplayPath(data)}: stop process ${found.service.process.pid} first.`);
}

function listSecrets(title: string, secrets: readonly { readonly team_uid: string; readonly name: string }[]): void {
  if (secrets.length === 0) return;
  warn(`${title}:`);
  for (const { team_uid, name } of secrets) say(`    ${name}  (team ${team_uid})`);
}
