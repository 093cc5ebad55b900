/**
 * Executes a run whose command is an argument, with a limit of 64 MiB and 2,000 files, and watches its file system from outside. Only root may
 * mount one, so it is a program of its own. Prints what it has seen as JSON.
 */
import { mkdtemp, readdir, readFile, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { HarnessPrograms } from "#server/sandbox/harness-programs.ts";
import { runExecution, startHarness } from "#shared/sandbox/harness-process.ts";
import { removeAbandoned } from "#shared/sandbox/scratch.ts";
import { FakeControlPlane } from "../../lab/fake-control-plane.ts";

const [command = "true", end = "wait"] = process.argv.slice(2);
process.env["RUNYARD_RUN_DISK_MIB"] = "64";
process.env["RUNYARD_RUN_FILES"] = "2000";

const parent = await mkdtemp(join(tmpdir(), "own-"));
const scratch = join(parent, "scratch");
const programs = new HarnessPrograms({ RUNYARD_SANDBOX: "bubblewrap" }, scratch);
await using plane = await FakeControlPlane.start({ prompt: `\`\`\`sh\n${command}\n\`\`\`` });
const waiting = await startHarness(programs.main(), "own-file-system");
const seen = { bytes: 0, files: 0, mountedHere: false, isOwn: false };
let hasEnded = false;
const ended = runExecution(plane.envelope, { program: programs.main(), waiting, graceMs: 5_000, print: () => {} });
const watching = watch();
if (end === "kill") {
  while (seen.bytes < 10 * 1024 * 1024) await sleep(10);
  waiting.child.kill("SIGKILL");
}
await ended;
hasEnded = true;
await watching;
await removeAbandoned(scratch);
const left = await readdir(scratch);
await rm(parent, { recursive: true });
console.log(JSON.stringify({ ...seen, left, outputs: plane.outputs, summary: plane.outcome?.summary }));
process.exit(0);

/** Notes the most that the file system of the execution has held. Until it is mounted, its directory is on that of the host. */
async function watch(): Promise<void> {
  const folder = `/proc/${waiting.child.pid}/root${waiting.scratch}`;
  const host = await statfs(parent);
  while (!hasEnded) {
    const now = await statfs(folder).catch(() => undefined);
    if (now !== undefined && now.blocks !== host.blocks) {
      seen.isOwn = true;
      seen.bytes = Math.max(seen.bytes, (now.blocks - now.bfree) * now.bsize);
      seen.files = Math.max(seen.files, now.files - now.ffree);
    }
    if ((await readFile("/proc/mounts", "utf8")).includes(waiting.scratch)) seen.mountedHere = true;
    await sleep(5);
  }
}
