import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { glob, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import * as v from "valibot";
import { isPackaged, projectRoot } from "../paths.ts";

const STAMP = path.join(projectRoot, "dist/web-stamp");
const MODULES = path.join(projectRoot, "dist/web-modules.json");

/** The directory of the built web app. */
export const webAppDirectory = path.join(projectRoot, isPackaged ? "web" : "dist/web");

/**
 * Replaces the last build by a finished one, and records what it was built from: a service and tests may read the last one
 * meanwhile. `modules` are files relative to the checkout.
 */
export async function installWebBuild(built: string, modules: readonly string[]): Promise<void> {
  const last = `${built}-last`;
  await rename(webAppDirectory, last).catch(ignoreMissing);
  await rename(built, webAppDirectory);
  await rm(last, { recursive: true, force: true });
  await writeFile(MODULES, JSON.stringify(modules));
  await writeFile(STAMP, await hashSources());
}

function ignoreMissing(error: unknown): void {
  if (!isCode(error, "ENOENT")) throw error;
}

const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && "code" in error && error.code === code;

/** The modules in the built app, whose licenses belong to it. */
export const readWebModules = async (): Promise<string[]> =>
  v.parse(v.array(v.string()), JSON.parse(await readFile(MODULES, "utf8")));

/**
 * Builds the web app in another process if its sources have changed since the last build. One process of a checkout builds at a time;
 * the others wait for it.
 * @throws if the build fails
 */
export async function ensureWebApp(): Promise<void> {
  const sources = await hashSources();
  const isBuilt = async () => (await readFile(STAMP, "utf8").catch(() => "")) === sources;
  while (!(await isBuilt())) {
    if (!(await takeLock())) {
      await setTimeout(LOCK_POLL_MS);
      continue;
    }
    try {
      if (!(await isBuilt())) return await build();
    } finally {
      await rm(LOCK, { recursive: true, force: true });
    }
  }
}

const LOCK = path.join(projectRoot, "dist/web-lock");
const LOCK_POLL_MS = 250;
/** A lock that is older was left by a process that was killed. */
const MAX_LOCK_MS = 5 * 60_000;

async function takeLock(): Promise<boolean> {
  await mkdir(path.dirname(LOCK), { recursive: true });
  try {
    await mkdir(LOCK);
    return true;
  } catch (error) {
    if (!isCode(error, "EEXIST")) throw error;
    const lock = await stat(LOCK).catch(() => undefined);
    if (lock !== undefined && Date.now() - lock.mtimeMs > MAX_LOCK_MS) await rm(LOCK, { recursive: true, force: true });
    return false;
  }
}

async function build(): Promise<void> {
  const child = spawn(process.execPath, [path.join(projectRoot, "scripts/build-web.ts")], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => {
    errors = (errors + String(chunk)).slice(-4000);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (code !== 0) throw new Error(`the web app could not be built: ${errors.trim()}`);
}

/** Hashes all that a build reads: the sources, the client, and the versions of the packages. */
async function hashSources(): Promise<string> {
  const files: string[] = [];
  const sources = [
    "web/**/*.*",
    "scripts/{build-web,web-start}.ts",
    "server/host/http/compress.ts",
    "clients/typescript/src/**/*.ts",
    "package-lock.json",
  ];
  for await (const file of glob(sources, { cwd: projectRoot })) {
    files.push(file);
  }
  const hash = createHash("sha256");
  for (const file of files.toSorted()) hash.update(file).update(await readFile(path.join(projectRoot, file)));
  return hash.digest("hex");
}
