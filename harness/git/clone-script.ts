import { dirname, join } from "node:path";
import { removeTree } from "#shared/sandbox/remove-tree.ts";
import type { CommandRunner } from "../commands/command-runner.ts";
import { quoteForShell } from "../commands/shell-quote.ts";
import { type InsideFile, openInside } from "../files/path-containment.ts";
import type { WorkspacePaths } from "../isolation/sandbox.ts";
import { cutBytes } from "../support/text-limits.ts";

/** The file in the `.git` directory of a clone that names the commit that was cloned; a restored workspace has it too. */
export const BASE_FILE = "runyard-base";
const SCRIPT_MS = 120_000;
const OUTPUT_BYTES = 300;

export interface CloneScriptOptions {
  /** Runs scripts inside the sandbox: the repositories are untrusted. */
  readonly runner: CommandRunner;
  /** Paths on the host, and as commands see them. */
  readonly host: WorkspacePaths;
  readonly seen: WorkspacePaths;
  readonly deadlineAt: number;
}

interface CloneScript {
  /** The file that the script writes, in a directory of its own below that of temporary files. */
  readonly file: string;
  /** Writes the script. @param file as commands see it */
  write(file: string): string;
}

/**
 * Runs a script that reads a clone and writes a file, which is removed afterwards.
 * @param read called with the output, which is as untrusted as the file
 * @throws an Error with the output of a script that fails
 */
export async function runCloneScript<T>(
  { runner, host, seen, deadlineAt }: CloneScriptOptions,
  script: CloneScript,
  read: (output: string, open: () => Promise<InsideFile>) => Promise<T>,
): Promise<T> {
  const file = join(host.tmp, script.file);
  const command = script.write(join(seen.tmp, script.file));
  const timeoutMs = Math.max(1, Math.min(SCRIPT_MS, deadlineAt - Date.now()));
  try {
    const { exitCode, text } = await runner.run({
      command,
      workingDirectory: seen.workspace,
      timeoutMs,
      isHelper: true,
    });
    if (exitCode !== 0) throw new Error(`git ended with exit code ${exitCode}: ${cutBytes(text.trim(), OUTPUT_BYTES)}`);
    return await read(text, () => openInside(host.tmp, file));
  } finally {
    await removeTree(dirname(file)).catch(() => undefined);
  }
}

interface ScriptStart {
  /** The clone, as commands see it. */
  readonly repository: string;
  /** A commit; empty for the commit that was cloned, which is recorded in the clone. */
  readonly base: string;
  /** The variable with the path of the file that the script writes. */
  readonly variable: string;
  readonly file: string;
}

/**
 * Starts a script in a clone. Its git directory is `$own/git`, which only borrows the objects of the clone: the clone's configuration could
 * name programs for git to run as hook, filter, diff driver or file system monitor. `read_clone` reads names of the clone, by commands that
 * run no such program.
 */
export const startCloneScript = ({ repository, base, variable, file }: ScriptStart): readonly string[] => [
  'for name in "${!GIT_@}"; do unset "$name"; done',
  "export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_ATTR_NOSYSTEM=1 GIT_OPTIONAL_LOCKS=0 GIT_NO_LAZY_FETCH=1",
  "export GIT_TERMINAL_PROMPT=0 GIT_ALLOW_PROTOCOL=none LC_ALL=C",
  `cd -- ${quoteForShell(repository)}`,
  `${variable}=${quoteForShell(file)}`,
  `base=${quoteForShell(base)}`,
  `mkdir -p -- "\${${variable}%/*}"`,
  `own=$(mktemp -d "\${${variable}%/*}/own.XXXXXX")`,
  "trap 'rm -rf -- \"$own\"' EXIT",
  `read_clone() { git -c safe.directory='*' -c core.fsmonitor=false -c core.hooksPath=/dev/null "$@"; }`,
  `[ -n "$base" ] || base=$(head -n 1 .git/${BASE_FILE} 2>/dev/null) || true`,
];
