import { spawn } from "node:child_process";
import { once } from "node:events";
import { lstat, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { removeTree } from "#shared/sandbox/remove-tree.ts";
import { createHash } from "../support/lazy-crypto.ts";

/** An image whose files are on this machine. */
const StoredImage = v.object({
  /** The digest of what its reference named: a manifest, or a list of one for each platform. */
  digest: v.string(),
  /** The variables of its configuration, as NAME=value. */
  env: v.array(v.string()),
  /** Where its configuration says that commands start. */
  working_directory: v.exactOptional(v.string()),
  /** What its files have on disk, and how many there are. */
  bytes: v.number(),
  files: v.number(),
  pulled_bytes: v.number(),
  pulled_at: v.string(),
});
export type StoredImage = v.InferOutput<typeof StoredImage>;

/** What a reference named when its registry was asked last. */
const Resolution = v.object({ digest: v.string(), checked_at: v.number() });
type Resolution = v.InferOutput<typeof Resolution>;

/** Images below a directory of this machine, which other executions use at the same time. */
export interface ImageStore {
  /** Finds an image, and marks it as used. */
  find(digest: string): Promise<StoredImage | undefined>;
  /** The directory that has the files of an image. */
  root(digest: string): string;
  /** Records that the image is still used, so that it is not removed. */
  touch(digest: string): Promise<void>;
  /** Makes an image in a new directory, which becomes that of the digest when `make` resolves. Needs the lock of the digest. */
  add(digest: string, make: (directory: string) => Promise<StoredImage>): Promise<StoredImage>;
  readResolution(key: string): Promise<Resolution | undefined>;
  writeResolution(key: string, resolution: Resolution): Promise<void>;
  removeResolution(key: string): Promise<void>;
  /** Waits until no other execution of this machine has the lock. */
  lock(name: string, signal: AbortSignal): Promise<AsyncDisposable>;
}

const MANIFEST_DIGEST = /^sha256:[0-9a-f]{64}$/;
const LOCK_SECONDS = 900;

export async function openImageStore(directory: string): Promise<ImageStore> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const toName = (digest: string) => {
    if (!MANIFEST_DIGEST.test(digest)) throw new Error(`${digest} is no digest of SHA-256`);
    return digest.replace(":", "-");
  };
  const place = (digest: string) => join(directory, toName(digest));
  const tag = (key: string) => join(directory, `${hash(key)}.tag`);
  const touch = (digest: string) => writeFile(`${place(digest)}.used`, "");
  const store: ImageStore = {
    root: (digest) => join(place(digest), "rootfs"),
    touch,
    async find(digest) {
      // Before it is looked for: an image that is used now is not removed.
      await touch(digest);
      return await readJson(join(place(digest), "image.json"), StoredImage);
    },
    async add(digest, make) {
      const draft = await mkdtemp(join(directory, "new-"));
      try {
        await touch(digest);
        const image = await make(draft);
        await writeFile(join(draft, "image.json"), JSON.stringify(image));
        // What is there has no record.
        await removeTree(place(digest));
        await rename(draft, place(digest));
        return image;
      } finally {
        await removeTree(draft);
      }
    },
    readResolution: (key) => readJson(tag(key), Resolution),
    async writeResolution(key, resolution) {
      const draft = join(directory, `${hash(key)}.${process.pid}.new-tag`);
      await writeFile(draft, JSON.stringify(resolution));
      await rename(draft, tag(key));
    },
    removeResolution: (key) => rm(tag(key), { force: true }),
    lock: (name, signal) => takeLock(join(directory, `${hash(name)}.lock`), signal),
  };
  return store;
}

const hash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 40);

async function readJson<S extends v.GenericSchema>(file: string, schema: S): Promise<v.InferOutput<S> | undefined> {
  const text = await readFile(file, "utf8").catch(() => undefined);
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), text);
  return parsed.success ? parsed.output : undefined;
}

/** Holds the lock by a process that ends with this one. */
async function takeLock(file: string, signal: AbortSignal): Promise<AsyncDisposable> {
  // Lock files that were not taken for long are removed.
  await writeFile(file, "");
  const options = ["--exclusive", "--wait", String(LOCK_SECONDS), file];
  const holder = spawn("flock", [...options, "/bin/sh", "-c", "echo locked; read end"], {
    cwd: "/",
    detached: true,
    env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin" },
    stdio: ["pipe", "pipe", "ignore"],
  });
  holder.stdin.on("error", () => {});
  const ended = once(holder, "exit").catch(() => undefined);
  try {
    await Promise.race([
      once(holder.stdout, "data", { signal }),
      ended.then(() => Promise.reject(new Error("another execution pulls the image and did not end in time"))),
    ]);
  } catch (error) {
    holder.kill("SIGKILL");
    // The lock may have been taken meanwhile.
    holder.stdin.end();
    throw error;
  }
  return {
    async [Symbol.asyncDispose]() {
      holder.stdin.end();
      await ended;
    },
  };
}

/** Whether a path is a directory, and no link to one. */
export const isDirectory = async (path: string): Promise<boolean> =>
  (await lstat(path).catch(() => undefined))?.isDirectory() === true;
