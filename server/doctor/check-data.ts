import { access, constants, lstat, readdir, readFile, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { listLeftScratch } from "#shared/sandbox/scratch.ts";
import { measureFiles } from "../disk/disk-budget.ts";
import { formatBytes } from "../disk/format-bytes.ts";
import { findMissingImageTools, imagesPath, listImages } from "../sandbox/images.ts";
import { listMirrors, mirrorsPath } from "../sandbox/mirrors.ts";
import { scratchPath } from "../sandbox/scratch-path.ts";
import { type Check, failed, ok, warning } from "./check.ts";

/** Below this, a start is likely to fill the disk soon. */
const LOW_BYTES = 2 * 1024 ** 3;
const MINIMUM_BYTES = 100 * 1024 ** 2;

/** The rights of the data directory and of its key. */
export async function checkDataDirectory(directory: string): Promise<Check[]> {
  const found = await lstat(directory).catch(() => undefined);
  if (found === undefined) return [await checkParent(directory)];
  if (!found.isDirectory())
    return [failed("data", `${directory} is not a directory`, "Choose another one with --data.")];
  if (!(await isWritable(directory))) return [notWritable(directory)];
  const checks = [
    (found.mode & 0o077) === 0
      ? ok("data", `${directory} is accessible to its owner only`)
      : failed("data", `${directory} is accessible to other users`, `Run: chmod 700 '${directory}'`),
  ];
  return [...checks, ...(await checkKey(directory))];
}

async function checkKey(directory: string): Promise<Check[]> {
  const file = path.join(directory, "runyard.key");
  const database = await lstat(path.join(directory, "runyard.db")).catch(() => undefined);
  const found = await lstat(file).catch(() => undefined);
  if (found === undefined) {
    if (database === undefined) return [];
    return [failed("key", `${file} is missing, so secrets cannot be read`, "Put it back from a backup.")];
  }
  if ((found.mode & 0o077) !== 0)
    return [failed("key", `${file} is accessible to other users`, `Run: chmod 600 '${file}'`)];
  const readable = await readFile(file).then(
    () => true,
    () => false,
  );
  return [readable ? ok("key", "readable by its owner only") : notWritable(directory)];
}

async function checkParent(directory: string): Promise<Check> {
  const parent = await existingParent(directory);
  return (await isWritable(parent))
    ? ok("data", `${directory} will be created at the first start`)
    : notWritable(parent);
}

async function existingParent(directory: string): Promise<string> {
  const parent = path.dirname(directory);
  const exists = await lstat(parent).catch(() => undefined);
  return exists !== undefined || parent === directory ? parent : existingParent(parent);
}

const notWritable = (directory: string): Check =>
  failed("data", `${directory} cannot be written`, "Choose another directory with --data, or change its owner.");

const isWritable = (directory: string): Promise<boolean> =>
  access(directory, constants.W_OK | constants.R_OK | constants.X_OK).then(
    () => true,
    () => false,
  );

/** Whether files of executions are left that could not be removed. */
export async function checkScratch(directory: string): Promise<Check> {
  const leftovers = await listLeftScratch(scratchPath(directory) ?? tmpdir());
  if (leftovers.length === 0) return ok("scratch", "no files of ended executions are left");
  return warning(
    "scratch",
    `files of ${leftovers.length} executions could not be removed: ${leftovers.join(", ")}`,
    "The service tries again after each execution; its log has the reason. Else remove them by hand.",
  );
}

/** The workspaces of runs and the setups of environments that are saved, which the service removes by itself. */
export async function checkSnapshots(directory: string): Promise<Check> {
  const place = path.join(directory, "files", "snapshots");
  const runs = await readdir(place).catch(() => []);
  const bytes = await measureFiles(place).catch(() => 0);
  return ok("snapshots", `of ${runs.length} runs and setups, ${formatBytes(bytes)}; removed after 30 days`);
}

/** The mirrors of repositories, which the service removes by itself. */
export async function checkMirrors(directory: string): Promise<Check> {
  const mirrors = await listMirrors(mirrorsPath(directory));
  const bytes = mirrors.reduce((sum, mirror) => sum + mirror.bytes, 0);
  return ok("mirrors", `${mirrors.length} of repositories, ${formatBytes(bytes)}`);
}

/** The images of environments, which the service removes by itself, and the programs that pull them. */
export async function checkImages(directory: string, searchPath?: string): Promise<Check> {
  const images = await listImages(imagesPath(directory));
  const bytes = images.reduce((sum, image) => sum + image.bytes, 0);
  const summary = `${images.length} of environments, ${formatBytes(bytes)}`;
  const missing = findMissingImageTools(searchPath);
  if (missing.length === 0 || process.platform !== "linux") return ok("images", summary);
  // Most services need none, so nothing is wrong.
  return ok("images", `${summary}; for a docker_image, environments need: sudo apt-get install ${missing.join(" ")}`);
}

/** The free space of the disk with the data directory. */
export async function checkFreeSpace(directory: string): Promise<Check> {
  const exists = await lstat(directory).catch(() => undefined);
  const { bavail, bsize } = await statfs(exists === undefined ? await existingParent(directory) : directory);
  const free = bavail * bsize;
  const detail = `${formatBytes(free)} are free`;
  const remedy = "Free some space, or put the data on another disk with --data.";
  if (free < MINIMUM_BYTES) return failed("disk", detail, remedy);
  return free < LOW_BYTES ? warning("disk", detail, remedy) : ok("disk", detail);
}
