/** `npm run build` in packages/runyard-server: the server with all that it starts and serves, for publication. */
import { chmodSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { type BuildOptions, build } from "esbuild";
import { bundling, copyGuides } from "../../../infra/bundle.ts";
import { ensureWebApp, readWebModules, webAppDirectory } from "../../../server/host/http/web-app.ts";

const repository = path.resolve(import.meta.dirname, "../../..");
const dist = path.join(import.meta.dirname, "../dist");
/** The programs, by the names that server/ and harness/ look for. */
const PROGRAMS = {
  "runyard-server": "server/command/runyard-server.ts",
  main: "harness/main.ts",
  scan: "harness/scan-main.ts",
  isolation: "harness/isolation-main.ts",
};
/** Programs of a sandbox, and one for pages of the web. */
const ALONE = { files: "harness/files-main.ts", markdown: "harness/markdown-main.ts" };
/** Started as a thread. */
const THREADS = { "expression-worker": "shared/triggers/expressions/worker.ts" };
/** What programs read at run time, at the same place as in a checkout. */
const COPIED = ["examples", ".agents/skills/repository-report"];

const noBedrock = path.join(repository, "infra/no-bedrock.ts");
const entries = (programs: Readonly<Record<string, string>>) =>
  Object.entries(programs).map(([out, file]) => ({ in: path.join(repository, file), out }));
const options = {
  ...bundling(),
  absWorkingDir: repository,
  outdir: path.join(dist, "bin"),
  // A client that the harness has no use for.
  alias: { "@aws-sdk/client-bedrock-runtime": noBedrock, "@smithy/fetch-http-handler": noBedrock },
  // The bundler of a checkout.
  external: ["esbuild"],
  // Stack traces name functions.
  minify: false,
  minifySyntax: true,
  minifyWhitespace: true,
  sourcemap: false,
  metafile: true,
} as const satisfies BuildOptions;

rmSync(dist, { recursive: true, force: true });
// What one command or one kind of agent needs is in files of its own, which the others do not load.
const shared = { ...options, entryPoints: entries(PROGRAMS), splitting: true, chunkNames: "part-[hash]" };
const results = [await build(shared), await build({ ...options, entryPoints: entries({ ...ALONE, ...THREADS }) })];
chmodSync(path.join(dist, "bin/runyard-server.mjs"), 0o755);
for (const name of COPIED) cpSync(path.join(repository, name), path.join(dist, name), { recursive: true });
copyGuides(repository, path.join(dist, "docs"));
await ensureWebApp();
cpSync(webAppDirectory, path.join(dist, "web"), { recursive: true });
writeFileSync(
  path.join(dist, "THIRD-PARTY-LICENSES.txt"),
  licenses([...results.flatMap(({ metafile }) => Object.keys(metafile.inputs)), ...(await readWebModules())]),
);

/** The license of each package that is bundled. */
function licenses(files: readonly string[]): string {
  const packages = new Set(files.flatMap((file) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []));
  return [...packages].toSorted().map(readLicense).join("\n\n");
}

function readLicense(folder: string): string {
  const directory = path.join(repository, folder);
  const name = folder.split("node_modules/").at(-1);
  const files = readdirSync(directory).filter((file) => /^(licen[cs]e|notice)/i.test(file));
  const manifest: { license?: unknown } = JSON.parse(readFileSync(path.join(directory, "package.json"), "utf8"));
  const texts = files.map((file) => readFileSync(path.join(directory, file), "utf8").trim());
  return [`==== ${name} (${String(manifest.license)})`, ...texts].join("\n\n");
}
