import { appendFileSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeTree } from "#shared/sandbox/remove-tree.ts";
import type { WorkspacePaths } from "./sandbox.ts";

/** The directories of one execution on the host, which are removed with it. */
export interface Workspace {
  readonly root: string;
  readonly paths: WorkspacePaths;
  /** Generated files of /etc; commands cannot write here. */
  readonly etc: string;
  remove(): Promise<void>;
}

/** Without an identity, no commit works. Repositories and the variables of git, such as GIT_AUTHOR_NAME, take precedence. */
const GIT_IDENTITY = "[user]\n\tname = Runyard\n\temail = agent@runyard.invalid\n";

/** Makes this the author of commits, where neither a repository nor a variable says otherwise. @param home of the commands */
export function setCommitAuthor(home: string, author: string): void {
  const [, name = "", email = ""] = /^(.*) <(.*)>$/s.exec(author) ?? [];
  appendFileSync(join(home, ".gitconfig"), `[user]\n\tname = ${quoteValue(name)}\n\temail = ${quoteValue(email)}\n`);
}

/** A value of git's configuration. A control character would end it, or the file. */
const quoteValue = (text: string): string => `"${text.replace(/\p{Cc}+/gu, " ").replace(/["\\]/g, "\\$&")}"`;

/** Creates the directories below TMPDIR. */
export function createWorkspace(): Workspace {
  // Synchronous, since a directory takes microseconds, and a promise for it takes more.
  const root = mkdtempSync(join(tmpdir(), "runyard-"));
  const inside = (name: string) => join(root, name);
  const workspace = inside("workspace");
  const paths = {
    workspace,
    home: inside("home"),
    tmp: inside("tmp"),
    steps: inside("steps"),
    output: join(workspace, "output"),
  };
  const etc = inside("etc");
  for (const path of [...Object.values(paths), etc]) mkdirSync(path);
  writeFileSync(join(paths.home, ".gitconfig"), GIT_IDENTITY);
  return { root, paths, etc, remove: () => removeTree(root) };
}

/** The workspace of any execution, with or without the random part of its root. */
const ANY_WORKSPACE = /^(?:\/workspace|.*?\/runyard-\w{6}\/workspace)(?=\/|$)/;

/** Converts a directory as the commands of an earlier execution saw it: in its workspace, it is in this one now. */
export const moveToWorkspace = (directory: string, workspace: string): string =>
  directory.replace(ANY_WORKSPACE, () => workspace);
