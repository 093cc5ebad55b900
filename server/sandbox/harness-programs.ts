import { createHash } from "node:crypto";
import { globSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, stat } from "node:fs/promises";
import path from "node:path";
import type { BuildOptions } from "esbuild";
import { logLine } from "#shared/log/log.ts";
import type { Program } from "#shared/sandbox/harness-process.ts";
import { removeTree } from "#shared/sandbox/remove-tree.ts";
import { isPackaged } from "../host/paths.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");
/** What the bundle depends on: the sources, and the versions of the packages. */
const SOURCES = ["harness", "shared", "package-lock.json"];
const PREFIX = "harness-";
/** Bundles of other sources are deleted after this time; a server that still runs may load parts of them. */
const KEEP_MS = 7 * 24 * 60 * 60_000;

/**
 * The programs of the harness. Each execution loads them in a new process, and one file loads in half the processor time of a hundred
 * sources. The bundle is made once, in the background; until then, and where it cannot be made, the sources are used.
 */
export class HarnessPrograms {
  /** The variables that all programs get. */
  readonly environment: Record<string, string>;
  readonly #scratchParent: string | undefined;
  /** Directory of the bundle; in a package, that of this file. */
  #folder: string | undefined = isPackaged ? import.meta.dirname : undefined;

  /** @param scratchParent where the temporary directories of executions are created. @default the temporary directory */
  constructor(environment: Readonly<Record<string, string>>, scratchParent?: string) {
    this.environment = { ...environment };
    this.#scratchParent = scratchParent;
  }

  /** The program that executes a run. */
  main = (): Program => this.#program("main");

  /** The program that scans a repository for skills. */
  scan = (): Program => this.#program("scan");

  /** Bundles the programs, unless the bundle of these sources is there. */
  async bundle(): Promise<void> {
    if (this.#folder !== undefined) return;
    try {
      this.#folder = await findOrMakeBundle();
    } catch (error) {
      logLine("warn", "the harness could not be bundled, so that each execution takes longer to start", { error });
    }
  }

  #program(name: "main" | "scan"): Program {
    const source = path.join(ROOT, "harness", name === "main" ? "main.ts" : `${name}-main.ts`);
    const file = this.#folder === undefined ? source : path.join(this.#folder, `${name}.mjs`);
    const parent = this.#scratchParent;
    return { file, environment: this.environment, ...(parent === undefined ? {} : { scratchParent: parent }) };
  }
}

/** Returns the directory of the bundle. It is below the root, since the harness looks for third-party agents relative to itself. */
async function findOrMakeBundle(): Promise<string> {
  const parent = path.join(ROOT, "dist");
  const folder = path.join(parent, PREFIX + (await hashSources()));
  if ((await stat(folder).catch(() => undefined)) !== undefined) return folder;
  await mkdir(parent, { recursive: true });
  const temporary = await mkdtemp(path.join(parent, `${PREFIX}new-`));
  try {
    await writeBundle(temporary);
    // Another server may have made it in the meantime.
    await rename(temporary, folder).catch(() => stat(folder));
  } finally {
    await removeTree(temporary);
  }
  await removeOldBundles(parent);
  return folder;
}

async function writeBundle(outdir: string): Promise<void> {
  const { build, stop } = await import("esbuild");
  const options: BuildOptions = {
    absWorkingDir: ROOT,
    outdir,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    target: "node24",
    format: "esm",
    mainFields: ["module", "main"],
    // A CommonJS dependency may load a module of Node by `require`, which an ES module does not have.
    banner: {
      js: 'import { createRequire as nodeRequire } from "node:module"; const require = nodeRequire(import.meta.url);',
    },
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: "none",
    logLevel: "silent",
  };
  const entry = (name: string) => ({ in: path.join(ROOT, `harness/${name}.ts`), out: name.replace("-main", "") });
  try {
    await Promise.all([
      // What only an agent with a language model needs is in files of its own.
      build({
        ...options,
        entryPoints: [entry("main")],
        splitting: true,
        chunkNames: "part-[hash]",
      }),
      // Separately, since each file that programs share is a file more to load. The second is copied into sandboxes only.
      build({ ...options, entryPoints: ["scan-main", "files-main", "markdown-main"].map(entry) }),
    ]);
  } finally {
    await stop();
  }
}

/** The names, sizes and times of the sources show whether a bundle is current; reading all sources would take longer. */
async function hashSources(): Promise<string> {
  const hash = createHash("sha256").update(process.version);
  for (const source of SOURCES) {
    const at = path.join(ROOT, source);
    const files = source.includes(".") ? [""] : globSync("**/*.ts", { cwd: at }).toSorted();
    const found = await Promise.all(files.map((file) => stat(path.join(at, file))));
    found.forEach(({ size, mtimeMs }, index) => {
      hash.update(`${source}/${files[index]} ${size} ${mtimeMs}\n`);
    });
  }
  return hash.digest("hex").slice(0, 16);
}

async function removeOldBundles(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    if (!name.startsWith(PREFIX)) continue;
    const folder = path.join(parent, name);
    const found = await stat(folder).catch(() => undefined);
    if (found !== undefined && found.mtimeMs < Date.now() - KEEP_MS) await removeTree(folder);
  }
}
