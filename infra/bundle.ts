import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions, buildSync, type Metafile } from "esbuild";
import { routes } from "./routes.ts";
import { triggers } from "./triggers.ts";

/** The functions' code, ready to be deployed. */
export interface Bundle {
  /** Directory to deploy for a file of functions/, for example `runs/create-run`. */
  assetDir(file: string): string;
  /** esbuild's account of what is in each output, for the size check. */
  readonly metafile: Metafile;
}

export interface BundleOptions {
  /** Directory that holds functions/ and harness/. @default this repository */
  readonly root?: string;
  /** Directory that is emptied and written. @default dist/functions in the root */
  readonly outdir?: string;
}

/** Every file of functions/ that is deployed, each once. */
export const entryFiles: readonly string[] = [
  ...new Set([...routes.map((route) => route.file), ...Object.values(triggers).map((trigger) => trigger.file)]),
];

/**
 * Bundles all functions with one esbuild call: one process reads the shared modules once, where one process per function
 * would read them thirty times. The SDK is bundled too, so what was tested is what runs.
 */
export function bundle(options: BundleOptions = {}): Bundle {
  const root = resolve(options.root ?? join(import.meta.dirname, ".."));
  const outdir = resolve(options.outdir ?? join(root, "dist/functions"));
  const entries = [
    ...entryFiles.map((file) => ({ in: join(root, "functions", `${file}.ts`), out: `${file}/index` })),
    // The harness travels beside the sandbox function, which starts it as a process of its own.
    { in: join(root, "harness/main.ts"), out: `${triggers.runSandbox.file}/harness` },
    // So does the program that looks for the skills of a repository.
    { in: join(root, "harness/scan-main.ts"), out: `${triggers.runSandbox.file}/scan` },
  ];
  const missing = entries.filter((entry) => !existsSync(entry.in)).map((entry) => relative(root, entry.in));
  if (missing.length > 0)
    throw new Error(`infra/routes.ts and infra/triggers.ts name files that are not there: ${missing.join(", ")}`);

  rmSync(outdir, { recursive: true, force: true });
  const { metafile } = buildSync({
    absWorkingDir: root,
    entryPoints: entries,
    outdir,
    ...bundling(),
    metafile: true,
  });
  const metafilePath = join(dirname(outdir), "metafile.json");
  mkdirSync(dirname(metafilePath), { recursive: true });
  writeFileSync(metafilePath, JSON.stringify(metafile));
  return { assetDir: (file) => join(outdir, file), metafile };
}

/** How all code is bundled; the benchmark bundles what it compares in the same way. */
export const bundling = () =>
  ({
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    target: "node24",
    format: "esm",
    // The SDK's ES modules leave out what is not used; its CommonJS ones cannot.
    mainFields: ["module", "main"],
    alias: { "@aws-sdk/credential-provider-node": lambdaCredentials },
    // A CommonJS dependency may still ask for a module of Node's by `require`, which an ES module does not have.
    banner: {
      js: 'import { createRequire as nodeRequire } from "node:module"; const require = nodeRequire(import.meta.url);',
    },
    minify: true,
    legalComments: "none",
    // Beside the code for a debugger and a stack trace here; left out of what is deployed.
    sourcemap: "external",
    logLevel: "warning",
  }) as const satisfies BuildOptions;

/** What one deployed file weighs, in bytes. */
export interface BundleSize {
  /** Output below the bundle's directory, for example `runs/create-run/index.mjs`. */
  readonly output: string;
  readonly bytes: number;
  /** Without the AWS SDK and the document that is served: our own code and the libraries that it chose. */
  readonly ownBytes: number;
}

/** Sizes of all outputs, largest first, for the size budget and the benchmark. */
export function bundleSizes({ metafile }: Pick<Bundle, "metafile">): BundleSize[] {
  return Object.entries(metafile.outputs)
    .filter(([path]) => path.endsWith(".mjs"))
    .map(([path, output]) => ({
      output: path.split("/").slice(-3).join("/"),
      bytes: output.bytes,
      ownBytes: Object.entries(output.inputs)
        .filter(([input]) => !sdk.test(input) && !input.startsWith("docs/"))
        .reduce((total, [, { bytesInOutput }]) => total + bytesInOutput, 0),
    }))
    .sort((a, b) => b.bytes - a.bytes);
}

/** Stands in for the SDK's search for credentials, a fifth of each bundle; see there. */
const lambdaCredentials = fileURLToPath(import.meta.resolve("./lambda-credentials.ts"));

/** Packages of the AWS SDK, and those that come with it. */
const sdk =
  /(^|\/)node_modules\/(@aws-sdk|@smithy|@aws-crypto|@aws|@nodable|fast-xml-parser|strnum|bowser|mnemonist|obliterator|tslib|uuid)\//;
