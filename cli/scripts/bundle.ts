import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { build } from "esbuild";

const repository = path.join(import.meta.dirname, "../..");

/** A program as one file, and where that file is kept. */
export interface Bundle {
  readonly file: string;
  readonly text: string;
}

/** The command: made for each publication, and not kept in the repository. */
export const bundleCli = (): Promise<Bundle> =>
  bundle("cli/src/main.ts", "cli/dist/runyard.js", {
    target: "node20",
    inside: ["@commander-js/extra-typings", "commander", "valibot", "yaml"],
    // Commander asks for Node's modules in the old way.
    banner: 'import { createRequire } from "node:module";\nconst require = createRequire(import.meta.url);',
  });

/** The GitHub Action: GitHub runs it as it is in the repository. */
export const bundleAction = (): Promise<Bundle> =>
  bundle("action/main.ts", "action/dist/index.js", {
    target: "node24",
    inside: ["valibot"],
    banner: "// Made of action/ by `npm run docs`; not to be edited.",
  });

/** Lines stay lines, so that a reviewer sees what changed; the licenses of what is inside stand at the end. */
async function bundle(
  entry: string,
  file: string,
  { target, inside, banner }: { target: string; inside: readonly string[]; banner: string },
): Promise<Bundle> {
  const { outputFiles } = await build({
    entryPoints: [path.join(repository, entry)],
    absWorkingDir: repository,
    bundle: true,
    write: false,
    platform: "node",
    format: "esm",
    target,
    charset: "utf8",
    minifySyntax: true,
    legalComments: "none",
    banner: { js: banner },
    footer: { js: inside.map(readLicense).join("\n") },
  });
  return { file: path.join(repository, file), text: outputFiles[0]?.text ?? "" };
}

function readLicense(name: string): string {
  const folders = ["cli/node_modules", "node_modules"].map((folder) => path.join(repository, folder, name));
  const file = path.join(folders.find((folder) => existsSync(folder)) ?? name, LICENSE_FILES[name] ?? "LICENSE");
  return `/*\n${name}\n\n${readFileSync(file, "utf8").trim()}\n*/`;
}

const LICENSE_FILES: Readonly<Record<string, string>> = { valibot: "LICENSE.md" };
