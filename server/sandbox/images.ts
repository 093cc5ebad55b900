import { accessSync, constants } from "node:fs";
import { lstat, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import * as v from "valibot";
import { removeTree } from "#shared/sandbox/remove-tree.ts";
import type { DecidedIsolation } from "../host/isolation.ts";
import { Problem } from "../host/terminal.ts";

/** Where executions keep images of environments, below the data directory. */
export const imagesPath = (directory: string): string => path.join(directory, "images");

/** The programs that pull and unpack images, by the Debian package that has them. */
const TOOLS: Readonly<Record<string, string>> = {
  skopeo: "skopeo",
  umoci: "umoci",
  bwrap: "bubblewrap",
  ip: "iproute2",
  unshare: "util-linux",
  nsenter: "util-linux",
  flock: "util-linux",
};
/** Agents that bring programs of their own, which need those of the host. */
const OTHER_HARNESSES = ["claude", "codex", "gemini", "acp"];

/** Lists the Debian packages with the programs that this machine lacks for images. */
export function findMissingImageTools(searchPath: string = process.env["PATH"] ?? ""): string[] {
  const folders = [...searchPath.split(path.delimiter), "/usr/sbin", "/sbin"].filter((folder) =>
    folder.startsWith("/"),
  );
  const missing = Object.entries(TOOLS).filter(
    ([name]) => !folders.some((folder) => isExecutable(path.join(folder, name))),
  );
  return [...new Set(missing.map(([, debian]) => debian))];
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Says why runs cannot have an image of their own on this machine, and what to do; undefined if they can. */
export function findImageProblem(
  isolation: DecidedIsolation | undefined,
  harness: string | undefined,
  missing: readonly string[] = findMissingImageTools(),
): string | undefined {
  const begin = "the environment has a docker_image";
  if (isolation !== undefined && !isolation.isolation.startsWith("bubblewrap"))
    return `${begin}, which needs bubblewrap, and commands of this service are not isolated by it: clear it, or install bubblewrap`;
  if (missing.length > 0)
    return `${begin}, and this machine lacks the programs for it: install ${missing.join(", ")} (sudo apt-get install ${missing.join(" ")}), or clear it`;
  if (harness !== undefined && OTHER_HARNESSES.includes(harness))
    return `${begin}, in which the harness ${harness} does not run on this machine: clear it, or leave config.harness out`;
  return undefined;
}

const ImageRecord = v.object({ digest: v.string(), bytes: v.number(), pulled_at: v.string() });

/** An image that is unpacked on this machine. */
export interface KeptImage {
  readonly name: string;
  readonly digest: string;
  readonly usedAt: number;
  readonly bytes: number;
}

interface ImageLimits {
  /** The most that all images have. */
  readonly bytes?: number;
}

/** An image that an execution may still use; executions say so each ten minutes. */
const IN_USE_MS = 60 * 60_000;
const UNUSED_MS = 14 * 24 * 3_600_000;
const MAX_BYTES = 20 * 1024 * 1024 * 1024;
/** A lock, which image a run has, or the marker of an image that was not pulled. */
const OLD_MS = 30 * 24 * 3_600_000;

/** Reads the setting RUNYARD_IMAGES_MIB. @throws Problem if it is not a number */
export function readImageLimits({ RUNYARD_IMAGES_MIB: value }: NodeJS.ProcessEnv): ImageLimits {
  if (!value) return {};
  if (/^[1-9]\d{0,8}$/.test(value)) return { bytes: Number(value) * 1024 ** 2 };
  throw new Problem(`RUNYARD_IMAGES_MIB must be a whole number above 0, not "${value}"`);
}

/** Lists the images in a directory, the last used one first. */
export async function listImages(directory: string): Promise<KeptImage[]> {
  const names = (await readdir(directory).catch(() => [])).filter((name) => /^sha256-[0-9a-f]{64}$/.test(name));
  const images = names.map(async (name) => {
    const text = await readFile(path.join(directory, name, "image.json"), "utf8").catch(() => undefined);
    const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), ImageRecord), text);
    const usedAt = await readUsedAt(directory, name);
    const { digest, bytes } = parsed.success ? parsed.output : { digest: name.replace("-", ":"), bytes: 0 };
    return { name, digest, bytes, usedAt };
  });
  return (await Promise.all(images)).toSorted((a, b) => b.usedAt - a.usedAt);
}

/**
 * Removes the images that were not used for long, and the least recently used ones above the limit, but none that an execution uses.
 * Resolves with the number of removed images.
 */
export async function expireImages(
  directory: string,
  now: number,
  { bytes = MAX_BYTES }: ImageLimits = {},
): Promise<number> {
  let total = 0;
  const removed = (await listImages(directory)).filter((image) => {
    total += image.bytes;
    return image.usedAt < now - IN_USE_MS && (total > bytes || image.usedAt < now - UNUSED_MS);
  });
  let count = 0;
  for (const image of removed) if (await removeImage(directory, image)) count++;
  await removeOld(directory, now);
  return count;
}

/**
 * Renames the image before deleting it, so that no execution finds it incomplete. An execution marks an image as used before it looks
 * whether it is there: one that did so since the image was listed gets it back, and a later one does not find it.
 * @returns false if an execution uses it now
 */
export async function removeImage(directory: string, { name, usedAt }: KeptImage): Promise<boolean> {
  const [image, place] = [path.join(directory, name), path.join(directory, `new-removed-${name}`)];
  await removeTree(place);
  await rename(image, place);
  if ((await readUsedAt(directory, name)) !== usedAt) {
    await rename(place, image);
    return false;
  }
  await removeTree(place);
  await rm(path.join(directory, `${name}.used`), { force: true });
  return true;
}

const readUsedAt = async (directory: string, name: string): Promise<number> =>
  (await stat(path.join(directory, `${name}.used`)).catch(() => undefined))?.mtimeMs ?? 0;

async function removeOld(directory: string, now: number): Promise<void> {
  for (const name of await readdir(directory).catch(() => [])) {
    const file = path.join(directory, name);
    const age = now - ((await lstat(file).catch(() => undefined))?.mtimeMs ?? now);
    // A pull ends within its time limit.
    if (name.startsWith("new-") && age > IN_USE_MS) await removeTree(file);
    else if (/\.(tag|new-tag|lock|used)$/.test(name) && age > OLD_MS) await rm(file, { force: true });
  }
}
