import { runCommand } from "../../scripts/run-command.ts";

/** The changed lines of files against where the branch left `base`, as Stryker's patterns: `file:first-last`, or `file` if new. */
export async function findChangedLines(base: string): Promise<readonly string[]> {
  const start = await git(["merge-base", base, "HEAD"]);
  const diff = await git(["diff", "--unified=0", "--no-color", "--no-ext-diff", "--diff-filter=d", start]);
  const added = await git(["ls-files", "--others", "--exclude-standard"]);
  return [...parseDiff(diff), ...added.split("\n").filter((file) => file !== "")];
}

function parseDiff(diff: string): readonly string[] {
  let file: string | undefined;
  return diff.split("\n").flatMap((line) => {
    const [, named] = /^\+\+\+ b\/(.+)$/.exec(line) ?? [];
    if (named !== undefined) file = named;
    const [, first, count = "1"] = /^@@ \S+ \+(\d+)(?:,(\d+))? @@/.exec(line) ?? [];
    if (file === undefined || first === undefined || count === "0") return [];
    return [`${file}:${first}-${Number(first) + Number(count) - 1}`];
  });
}

async function git(args: readonly string[]): Promise<string> {
  const { exitCode, output } = await runCommand("git", args);
  if (exitCode !== 0) throw new Error(`git ${args.join(" ")}: ${output}`);
  return output;
}
