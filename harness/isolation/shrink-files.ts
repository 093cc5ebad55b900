import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startLaunch } from "./launch.ts";
import type { FileLimits } from "./machine.ts";
import { killTree } from "./processes.ts";
import type { Sandbox, WorkspacePaths } from "./sandbox.ts";

/** The share of its limits that is left to the files of a run, so that its next command has room. */
const KEPT_SHARE = 0.95;
const BLOCK_BYTES = 512;
const MAX_MS = 60_000;
const SCRIPT = "shrink-files.sh";

/**
 * Returns a function that removes the files of a run that changed last, until the others are within the limits. A command that fills the
 * disk is ended, but what it has written would stay as long as the run goes on. A command in the sandbox does it, since others of the run may
 * exchange files for links meanwhile.
 */
export function createShrinking({ layer, helpers, ...commands }: Sandbox, host: WorkspacePaths, limits: FileLimits) {
  const { paths, launch } = helpers ?? commands;
  // Now, because nothing can be written to a disk that is full.
  writeFileSync(join(host.steps, SCRIPT), buildScript(paths, layer?.seen ?? "", limits), { mode: 0o444 });
  return async (): Promise<void> => {
    const { process } = startLaunch(launch(SCRIPT, {}, false));
    const timer = setTimeout(() => void killTree(process.pid, undefined), MAX_MS);
    // Where it could not be started, the files are measured again all the same.
    await once(process, "close").catch(() => {});
    clearTimeout(timer);
    // The kernel keeps files that it has shown until then.
    await layer?.remount().catch(() => {});
  };
}

/**
 * Finds the time until which the files fit, oldest first, and removes what changed later. No `find` needs a path that it could not open, so
 * that depth hides nothing. The same pass gives the owner all permissions of directories; another one follows only where they hid something,
 * because each takes time in which the limits are exceeded.
 */
function buildScript(
  { workspace, home, tmp, output }: WorkspacePaths,
  layer: string,
  { diskBytes, files }: FileLimits,
): string {
  const find = `find ${workspace} ${home} ${tmp} ${layer} -mindepth 1`;
  const open = String.raw`\( ! -type d -o -perm -700 -o -exec chmod u+rwx {} + \)`;
  const most = `-v blocks=${Math.floor((diskBytes * KEPT_SHARE) / BLOCK_BYTES)} -v files=${Math.floor(files * KEPT_SHARE)}`;
  // It reads on to the end, so that the others fail only by themselves.
  const program =
    "found { next } $1 != last { before = last; last = $1 } { used += $2 } used > blocks || NR > files { found = 1; print (before == 0 ? 0 : before) }";
  return [
    "exec 3>&- >/dev/null 2>&1; set +e -o pipefail",
    `search() { ${find} ${open} -printf '%C@ %b\\n' | LC_ALL=C sort --numeric-sort --buffer-size=64M | LC_ALL=C awk ${most} '${program}'; }`,
    "time=$(search) || time=$(search)",
    // A directory that has lost its last file has changed too.
    `if [ -n "$time" ]; then ${find} -depth ! -path ${output} -newerct "@$time" -delete; fi`,
    "",
  ].join("\n");
}
