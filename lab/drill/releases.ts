import { existsSync, readFileSync } from "node:fs";
import { cp, mkdir, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { root, runCommand } from "../../scripts/run-command.ts";
import { lastLines } from "../../server/host/commands.ts";
import { Problem } from "../../server/host/terminal.ts";

/** Generated or installed, so that a copy of the committed files lacks them. */
const SHARED = ["node_modules", "dist/web"];

/** A directory with the files of a release, from which it is deployed. */
export interface Release {
  readonly directory: string;
  readonly name: string;
}

/** Checks out a commit into a worktree of its own. */
export async function checkOutRelease(commit: string, directory: string): Promise<Release> {
  await git(["worktree", "add", "--detach", "--quiet", directory, commit]);
  const isSameLock = readLock(directory) === readLock(root);
  if (isSameLock) await share(directory);
  else await install(directory);
  const name = (await git(["log", "-1", "--format=%h %s", commit])).trim();
  return { directory, name: isSameLock ? name : `${name} (with packages of its own)` };
}

export async function removeRelease({ directory }: Release): Promise<void> {
  await git(["worktree", "remove", "--force", directory]);
}

/** Copies the checkout as it is, with changes that are not committed. */
export async function copyCheckout(directory: string): Promise<Release> {
  const files = (await git(["ls-files", "--cached", "--others", "--exclude-standard"])).trim().split("\n");
  for (const file of files.filter((name) => !SHARED.includes(name))) {
    // A deleted file is in the list until the deletion is committed.
    if (existsSync(path.join(root, file))) await cp(path.join(root, file), path.join(directory, file));
  }
  await share(directory);
  return { directory, name: "this checkout" };
}

/** Writes the settings of the next deployment, as docs/aws.md describes. */
export async function writeSettings({ directory }: Release, settings: Readonly<Record<string, string>>): Promise<void> {
  await writeFile(path.join(directory, "cdk.context.json"), JSON.stringify(settings, null, 2));
}

async function share(directory: string): Promise<void> {
  for (const name of SHARED.filter((it) => existsSync(path.join(root, it)))) {
    await mkdir(path.dirname(path.join(directory, name)), { recursive: true });
    await symlink(path.join(root, name), path.join(directory, name));
  }
}

async function install(directory: string): Promise<void> {
  const { exitCode, output } = await runCommand("npm", ["ci", "--no-audit", "--no-fund"], {
    cwd: directory,
    timeoutSeconds: 900,
  });
  if (exitCode !== 0) throw new Problem("npm ci of the previous release failed.", lastLines(output, 15));
}

const readLock = (directory: string): string => readFileSync(path.join(directory, "package-lock.json"), "utf8");

async function git(args: readonly string[]): Promise<string> {
  const { exitCode, output } = await runCommand("git", args);
  if (exitCode !== 0) throw new Problem(`git ${args[0]} failed.`, lastLines(output, 5));
  return output;
}
