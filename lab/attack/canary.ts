import { createHash } from "node:crypto";
import {
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

/** Names that the harness removes, replaces or writes, so that a link in place of one of its directories leads to them. */
const NAMES = [
  ...["workspace.tar.gz", "changes.diff", "left.txt", "index", "config", ".bashrc"],
  ...Array.from({ length: 100 }, (_, index) => `file-${index}`),
];
const FOLDERS = ["", "deep", "output", "victim", ".git", "objects", "workspace.tar.gz.d"];

/** Creates files of the host that no sandbox may change, remove or read. They belong to the user of the harness. */
export function plantCanary(folder: string, word: string, user: number): void {
  for (const below of FOLDERS) {
    mkdirSync(join(folder, below), { recursive: true });
    for (const name of NAMES) writeFileSync(join(folder, below, name), `${word} ${below}/${name}\n`);
  }
  symlinkSync("file-0", join(folder, "link"));
  for (const path of listTree(folder)) if (!lstatSync(path).isSymbolicLink()) chownSync(path, user, user);
}

/** Describes everything about a tree that a sandbox could change: one line a file. */
export const describeTree = (folder: string): string[] =>
  listTree(folder).map((path) => {
    const { mode, uid, size, mtimeMs, ctimeMs, nlink, ino } = lstatSync(path);
    return [path, mode, uid, size, mtimeMs, ctimeMs, nlink, ino, digest(path)].join(" ");
  });

/** Lists the lines of which one description has more than the other. */
export function findChanges(before: readonly string[], after: readonly string[]): string[] {
  const [old, current] = [new Set(before), new Set(after)];
  return [
    ...before.filter((line) => !current.has(line)).map((line) => `- ${line}`),
    ...after.filter((line) => !old.has(line)).map((line) => `+ ${line}`),
  ];
}

function listTree(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true });
  const paths = entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? listTree(path) : [path];
  });
  return [folder, ...paths].toSorted();
}

function digest(path: string): string {
  const stats = lstatSync(path);
  if (stats.isSymbolicLink()) return readlinkSync(path);
  return stats.isFile() ? createHash("sha256").update(readFileSync(path)).digest("hex") : "";
}
