/** Copies of the repository in which bugs are planted, so that work in the repository can go on. */
import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root, runCommand } from "../../scripts/run-command.ts";
import type { Candidate } from "./candidates.ts";

export async function listFiles(folders: readonly string[]): Promise<readonly string[]> {
  const { output } = await runCommand("git", ["ls-files", "--cached", "--others", "--exclude-standard", ...folders]);
  return output.split("\n").filter((file) => file !== "" && existsSync(join(root, file)));
}

export async function copyRepository(copy: string): Promise<void> {
  for (const file of await listFiles([])) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    copyFileSync(join(root, file), join(copy, file));
  }
  for (const folder of ["", "cli", "clients/typescript"]) {
    const packages = join(root, folder, "node_modules");
    if (existsSync(packages)) symlinkSync(packages, join(copy, folder, "node_modules"));
  }
}

type Bug = Pick<Candidate, "file" | "start" | "end" | "replacement">;

/** @returns a function that removes the bug again */
export function plant(copy: string, { file, start, end, replacement }: Bug): () => void {
  const path = join(copy, file);
  const code = readFileSync(path, "utf8");
  writeFileSync(path, code.slice(0, start) + replacement + code.slice(end));
  return () => writeFileSync(path, code);
}
