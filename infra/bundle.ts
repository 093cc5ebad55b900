import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions, buildSync, type Metafile } from "esbuild";
import { buildExpressionWorker, buildParts, hasParts, loadedAtStart, withoutParts } from "./bundle-parts.ts";
import { entryFiles, guideFunctions, writeEntries } from "./entries.ts";
import { eventSources } from "./event-sources.ts";

/** The functions' code, ready to be deployed. */
export interface Bundle {
  /** Directory to deploy for a file of functions/, for example `runs/create-run`. */
  assetDir(file: string): string;
  /** Directory of the Dockerfile of the sandboxes' image, with everything that it copies. */
  imageDir(): string;
  /** esbuild's metafile with the content of each output, for the size check. */
  readonly metafile: Metafile;
}

export interface BundleOptions {
  /** Directory that holds functions/ and harness/. @default this repository */
  readonly root?: string;
  /** Directory that is emptied and written. @default dist/functions in the root */
  readonly outdir?: string;
  /** `local` adds the code that enforces AWS's limits on an emulator. @default "aws" */
  readonly stage?: "aws" | "local";
}

/**
 * Bundles all functions with one esbuild call: one process reads the shared modules once, where one process per function
 * would read them thirty times. The SDK is bundled too, so what was tested is what runs.
 */
export function bundle(options: BundleOptions = {}): Bundle {
  const root = resolve(options.root ?? join(import.meta.dirname, ".."));
  const outdir = resolve(options.outdir ?? join(root, "dist/functions"));
  // These are deployed with the sandbox function: the harness, which it starts as a separate process, the program that looks for the
  // skills of a repository, the one that reads and changes files inside of a sandbox, and the one that converts pages of the web.
  const programs = [
    { in: join(root, "harness/main.ts"), out: `${eventSources.runSandbox.file}/harness` },
    { in: join(root, "harness/scan-main.ts"), out: `${eventSources.runSandbox.file}/scan` },
    // The program that starts all of them if the sandbox is an image.
    { in: join(root, "image/entry.ts"), out: `${eventSources.runSandbox.file}/entry` },
    { in: join(root, "harness/files-main.ts"), out: `${eventSources.runSandbox.file}/files` },
    { in: join(root, "harness/markdown-main.ts"), out: `${eventSources.runSandbox.file}/markdown` },
  ];
  const sources = [
    ...entryFiles.map((file) => join(root, "functions", `${file}.ts`)),
    ...programs.map((one) => one.in),
  ];
  const missing = sources.filter((source) => !existsSync(source)).map((source) => relative(root, source));
  if (missing.length > 0)
    throw new Error(`infra/routes.ts and infra/event-sources.ts name files that do not exist: ${missing.join(", ")}`);

  rmSync(outdir, { recursive: true, force: true });
  const entries = [...writeEntries(root, join(dirname(outdir), "entries"))].map(([file, path]) => ({
    file,
    point: { in: path, out: `${file}/index` },
  }));
  const shared = { absWorkingDir: root, outdir, metafile: true } as const;
  const common = bundling(options.stage);
  const listEntryPoints = (withParts: boolean) =>
    entries.filter(({ file }) => hasParts(file) === withParts).map(({ point }) => point);
  const whole = buildSync({ ...shared, entryPoints: listEntryPoints(false), ...common });
  const divided = buildSync({
    ...shared,
    entryPoints: listEntryPoints(true),
    ...common,
    ...withoutParts,
    alias: { ...common.alias, ...withoutParts.alias },
  });
  const parts = buildParts(root, outdir, common);
  const expressions = buildExpressionWorker(root, outdir, common);
  const separate = buildSync({
    ...shared,
    entryPoints: programs,
    ...bundling(options.stage),
    // What only an agent with a language model needs is in separate files, which other executions do not load.
    splitting: true,
    chunkNames: `${eventSources.runSandbox.file}/part-[hash]`,
    alias: {
      "@aws-sdk/client-bedrock-runtime": noBedrock,
      "@smithy/fetch-http-handler": noBedrock,
    },
  });
  const metafile = mergedMetafile(whole.metafile, divided.metafile, parts, expressions, separate.metafile);
  const metafilePath = join(dirname(outdir), "metafile.json");
  mkdirSync(dirname(metafilePath), { recursive: true });
  writeFileSync(metafilePath, JSON.stringify(metafile));
  const assetDir = (file: string) => join(outdir, file);
  for (const file of guideFunctions) copyGuides(root, join(assetDir(file), "guides"));
  return { assetDir, imageDir: () => imageContext(root, assetDir(eventSources.runSandbox.file)), metafile };
}

/** Copies the pages of docs/, if the root has some. */
export function copyGuides(root: string, folder: string): void {
  mkdirSync(folder, { recursive: true });
  const pages = existsSync(join(root, "docs")) ? readdirSync(join(root, "docs")) : [];
  for (const page of pages.filter((file) => file.endsWith(".md"))) {
    copyFileSync(join(root, "docs", page), join(folder, page));
  }
}

/** Everything that the Dockerfile copies into the image, in a separate directory: nothing else determines the image. */
function imageContext(root: string, programs: string): string {
  const context = join(programs, "../../../image");
  rmSync(context, { recursive: true, force: true });
  mkdirSync(context, { recursive: true });
  for (const file of ["Dockerfile", "package.json", "package-lock.json"]) {
    copyFileSync(join(root, "image", file), join(context, file));
  }
  const programFiles = readdirSync(programs).filter((file) => file.endsWith(".mjs") && file !== "index.mjs");
  for (const program of programFiles) copyFileSync(join(programs, program), join(context, program));
  return context;
}

/** The options with which all code is bundled, also by the benchmark. */
export const bundling = (stage: "aws" | "local" = "aws") =>
  ({
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    target: "node24",
    format: "esm",
    // The SDK's ES modules leave out what is not used; its CommonJS ones cannot.
    mainFields: ["module", "main"],
    alias: {
      "@aws-sdk/credential-provider-node": lambdaCredentials,
      ...(stage === "local" && { "#shared/aws/client-hooks.ts": "#shared/aws/emulation-hooks.ts" }),
    },
    // A CommonJS dependency may still load a Node module with `require`, which ES modules lack.
    banner: {
      js: 'import { createRequire as nodeRequire } from "node:module"; const require = nodeRequire(import.meta.url);',
    },
    minify: true,
    legalComments: "none",
    // Next to the code, for a debugger and stack traces on this machine; not deployed.
    sourcemap: "external",
    logLevel: "warning",
  }) as const satisfies BuildOptions;

const mergedMetafile = (...all: readonly Metafile[]): Metafile => ({
  inputs: Object.assign({}, ...all.map(({ inputs }) => inputs)),
  outputs: Object.assign({}, ...all.map(({ outputs }) => outputs)),
});

/** The size of one deployed file in bytes, with everything that it loads at its start. */
export interface BundleSize {
  /** Output below the bundle's directory, for example `runs/create-run/index.mjs`. */
  readonly output: string;
  readonly bytes: number;
  /** The size without the AWS SDK and the served OpenAPI document: our code and its libraries. */
  readonly ownBytes: number;
}

/** Sizes of all outputs, largest first, for the size budget and the benchmark. */
export function bundleSizes({ metafile }: Pick<Bundle, "metafile">): BundleSize[] {
  return Object.keys(metafile.outputs)
    .filter((path) => path.endsWith(".mjs") && !path.includes("/aws/"))
    .map((path) => {
      const loaded = path.endsWith("/index.mjs") ? loadedAtStart(metafile, path) : [metafile.outputs[path]];
      const inputs = loaded.flatMap((output) => Object.entries(output?.inputs ?? {}));
      return {
        output: path.split("/").slice(-3).join("/"),
        bytes: loaded.reduce((total, output) => total + (output?.bytes ?? 0), 0),
        ownBytes: inputs
          .filter(([input]) => !sdk.test(input) && !input.startsWith("docs/"))
          .reduce((total, [, { bytesInOutput }]) => total + bytesInOutput, 0),
      };
    })
    .sort((a, b) => b.bytes - a.bytes);
}

/** Replaces the SDK's search for credentials, which is a fifth of each bundle; see that file. */
const lambdaCredentials = fileURLToPath(import.meta.resolve("./lambda-credentials.ts"));

/** Replaces a client that the harness does not use; see that file. */
const noBedrock = fileURLToPath(import.meta.resolve("./no-bedrock.ts"));

/** Packages of the AWS SDK, and those that come with it. */
const sdk =
  /(^|\/)node_modules\/(@aws-sdk|@smithy|@aws-crypto|@aws|@nodable|fast-xml-parser|strnum|bowser|mnemonist|obliterator|tslib|uuid)\//;
