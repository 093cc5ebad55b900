/**
 * A planted bug is a choice at run time, so that one copy of the repository holds all of them and each is switched on by a
 * variable: `(globalThis.__planted?.(7) ? bug : original)`. Every Node process of the tests loads `hook.mjs`, which makes the choice
 * and notes which test file came by.
 */
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root, runCommand } from "../run-command.ts";
import type { Candidate } from "./candidates.ts";

export async function listFiles(folders: readonly string[]): Promise<readonly string[]> {
  const { output } = await runCommand("git", ["ls-files", "--cached", "--others", "--exclude-standard", ...folders]);
  return output.split("\n").filter((file) => file !== "");
}

/** A copy of the repository that has the bugs, each to be switched on by its position in the list, or all of them for good. */
export async function copyRepository(
  copy: string,
  bugs: readonly Candidate[],
  how: "switched" | "planted",
): Promise<void> {
  for (const file of await listFiles([])) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    const id = bugs.findIndex((bug) => bug.file === file);
    const bug = bugs[id];
    if (bug === undefined) {
      copyFileSync(join(root, file), join(copy, file));
      continue;
    }
    const { start, end, original, replacement } = bug;
    const planted = `(globalThis.__planted?.(${id}) ? (${replacement}) : (${original}))`;
    const code = readFileSync(join(root, file), "utf8");
    writeFileSync(
      join(copy, file),
      code.slice(0, start) + (how === "switched" ? planted : replacement) + code.slice(end),
    );
  }
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
}
