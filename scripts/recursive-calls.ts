import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./run-command.ts";

/** Code that works on directories which commands of a run can write. */
const FILES = "{harness,shared/sandbox,server/sandbox}/**/*.ts";
/** The module that removes such directories without following paths. */
const EXCEPT = ["shared/sandbox/remove-tree.ts"];
/** A file operation of Node that goes through a whole directory tree by paths, each of which is a race with the commands. */
const RECURSIVE = /\b(?:rm|cp|readdir|opendir)(?:Sync)?\((?:[^;]*?)\brecursive: true/g;

/** A line for each recursive file operation where commands may change the directories at the same time. */
export function findRecursiveCalls(): string[] {
  const files = globSync(FILES, { cwd: root, exclude: EXCEPT });
  return files.flatMap((file) => recursiveCallsIn(file, readFileSync(join(root, file), "utf8")));
}

export const recursiveCallsIn = (file: string, text: string): string[] =>
  [...text.matchAll(RECURSIVE)].map(({ index, 0: found }) => {
    const line = text.slice(0, index).split("\n").length;
    return `${file}:${line}: recursive ${found.slice(0, found.indexOf("("))}: use removeTree, or work inside the sandbox`;
  });
