import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { glob, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import * as v from "valibot";
import { isPackaged, projectRoot } from "../paths.ts";

const STAMP = path.join(projectRoot, "dist/web-stamp");
const MODULES = path.join(projectRoot, "dist/web-modules.json");

/** The directory of the built web app. */
export const webAppDirectory = path.join(projectRoot, isPackaged ? "web" : "dist/web");

/** Records what the built app was made of. `modules` are files relative to the checkout. */
export async function recordWebBuild(modules: readonly string[]): Promise<void> {
  await writeFile(MODULES, JSON.stringify(modules));
  await writeFile(STAMP, await hashSources());
}

/** The modules in the built app, whose licenses belong to it. */
export const readWebModules = async (): Promise<string[]> =>
  v.parse(v.array(v.string()), JSON.parse(await readFile(MODULES, "utf8")));

/**
 * Builds the web app in another process if its sources have changed since the last build.
 * @throws if the build fails
 */
export async function ensureWebApp(): Promise<void> {
  const [built, current] = await Promise.all([readFile(STAMP, "utf8").catch(() => ""), hashSources()]);
  if (built === current) return;
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
