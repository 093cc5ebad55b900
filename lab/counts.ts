/**
 * `npm run lab -- counts [COMMIT ...]`: prints the files and lines of each folder and, for each commit or range, which files were edited
 * by hand. Generated files and records of tests count separately.
 */
import { existsSync, readFileSync } from "node:fs";
import { join, matchesGlob } from "node:path";
import { root, runCommand } from "../scripts/run-command.ts";

const TEXT = /\.(ts|tsx|mjs|js|py|sh|css|html|md|json|txt|toml|yml)$/;

/** Generated files whose first lines do not say so: the document of the API, bundles, locks, fixtures, and records of tests. */
const GENERATED = [
  "docs/openapi.json",
  "docs/cli.md",
  "clients/python/api.md",
  "action/dist/**",
  "events/**/*.json",
  "**/package-lock.json",
  "test/**/*.txt",
  "test/api/**/*.matrix.json",
];

function isGenerated(file: string): boolean {
  if (GENERATED.some((pattern) => matchesGlob(file, pattern))) return true;
  return (
    existsSync(join(root, file)) && /generated (from|by)/i.test(readFileSync(join(root, file), "utf8").slice(0, 300))
  );
}

async function git(...args: readonly string[]): Promise<string[]> {
  const { exitCode, output } = await runCommand("git", args);
  if (exitCode !== 0) throw new Error(output);
  return output.split("\n").filter((line) => line !== "");
}

/** A row for each top folder: files, and lines of text. */
async function countFolders(): Promise<string[]> {
  const files = (await git("ls-files")).filter((file) => TEXT.test(file));
  const folders = Map.groupBy(files, (file) => (file.includes("/") ? file.split("/")[0] : "(root)"));
  return [...folders].map(([folder, names]) => {
    const lines = names.reduce((sum, name) => sum + readFileSync(join(root, name), "utf8").split("\n").length - 1, 0);
    return `${folder}: ${names.length} files, ${lines} lines`;
  });
}

/** Splits the files of a change into those that people edit and those that tools write. */
export const splitEdits = (files: readonly string[]): { readonly byHand: string[]; readonly generated: string[] } => ({
  byHand: files.filter((file) => !isGenerated(file)),
  generated: files.filter(isGenerated),
});

if (import.meta.main) {
  for (const row of await countFolders()) console.log(row);
  for (const commit of process.argv.slice(2)) {
    const range = commit.includes("..") ? commit : `${commit}~1..${commit}`;
    const { byHand, generated } = splitEdits(await git("diff", "--name-only", range));
    console.log(`\n${commit}: ${byHand.length} files by hand, ${generated.length} generated`);
    for (const file of byHand) console.log(`  ${file}`);
  }
}
