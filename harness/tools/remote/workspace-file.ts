import { rm } from "node:fs/promises";
import { join, posix } from "node:path";
import type { Shell } from "../../commands/shell.ts";
import { quoteForShell } from "../../commands/shell-quote.ts";
import { openInside } from "../../files/path-containment.ts";
import type { WorkspacePaths } from "../../isolation/sandbox.ts";
import { randomUUID } from "../../support/lazy-crypto.ts";

export interface FileAccess {
  readonly shell: Shell;
  /** Paths on the host, and as commands see them. */
  readonly host: WorkspacePaths;
  readonly seen: WorkspacePaths;
}

export interface WorkspaceFile {
  /** A copy on the host, which exists while it is in use. */
  readonly file: string;
  readonly sizeBytes: number;
  /** Its path relative to the workspace. */
  readonly path: string;
}

/**
 * Calls `use` with a file of the workspace. The file is copied inside the sandbox with the rights of commands, so that a link cannot give
 * access to other files, to a directory where the harness can check that the copy is not a link.
 * @param path as commands see it
 * @throws when there is no such file in the workspace, or it is larger than `maxBytes`
 */
export async function withWorkspaceFile<T>(
  path: string,
  { shell, host, seen }: FileAccess,
  maxBytes: number,
  signal: AbortSignal,
  use: (file: WorkspaceFile) => Promise<T>,
): Promise<T> {
  const whole = posix.resolve(shell.here, path);
  const relative = posix.relative(seen.workspace, whole);
  if (relative === "" || relative === ".." || relative.startsWith("../")) {
    throw new Error(`${path} is not in the workspace ${seen.workspace}`);
  }
  const copy = `runyard-${randomUUID()}`;
  const [from, to] = [quoteForShell(whole), quoteForShell(posix.join(seen.tmp, copy))];
  const script = [
    `[ -f ${from} ] || { echo "there is no such file" >&2; exit 1; }`,
    `size=$(stat -Lc %s -- ${from} 2>/dev/null || stat -Lf %z -- ${from})`,
    `[ "$size" -le ${maxBytes} ] || { echo "the file has more than ${maxBytes} bytes" >&2; exit 1; }`,
    `cp -- ${from} ${to}`,
  ].join("\n");
  const file = join(host.tmp, copy);
  try {
    const { exitCode, text } = await shell.runAside(script, signal);
    if (exitCode !== 0) throw new Error(`${path}: ${text.trim() || `exit code ${exitCode}`}`);
    // MCP servers of the run are running and can write to this directory.
    await using opened = await openInside(host.tmp, file);
    if (opened.sizeBytes > maxBytes) throw new Error(`${path} is too large`);
    return await use({ file: opened.path, sizeBytes: opened.sizeBytes, path: relative });
  } finally {
    await rm(file, { force: true });
  }
}
