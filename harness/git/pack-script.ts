import { quoteForShell } from "../commands/shell-quote.ts";
import { startCloneScript } from "./clone-script.ts";

interface PackRequest {
  /** The clone, as commands see it. */
  readonly repository: string;
  /** The branch whose commits are packed. */
  readonly branch: string;
  /** A commit that the branch has elsewhere; empty if it is recorded in the clone. */
  readonly base: string;
  /** Where the pack is written, as commands see it. */
  readonly pack: string;
}

/**
 * Writes the script that packs the commits of a branch since `base`, with all their objects. It prints the commit;
 * nothing if there is none to push.
 */
export function writePackScript({ repository, branch, base, pack }: PackRequest): string {
  return [
    ...startCloneScript({ repository, base, variable: "pack", file: pack }),
    `branch=${quoteForShell(branch)}`,
    PACK,
  ].join("\n");
}

/** The pack has no deltas, so that its reader can check each object without others. */
const PACK = `
head=$(read_clone rev-parse --verify --quiet "refs/heads/$branch^{commit}") || exit 0
[ "$head" != "$base" ] || exit 0
objects=$(read_clone rev-parse --path-format=absolute --git-path objects)
shallow=$(read_clone rev-parse --path-format=absolute --git-path shallow)
git init --quiet --bare --template= "$own/git"
printf '%s\\n' "$objects" > "$own/git/objects/info/alternates"
[ ! -f "$shallow" ] || cp -- "$shallow" "$own/git/shallow"
{ printf '%s\\n' "$head"; [ -z "$base" ] || printf '^%s\\n' "$base"; } |
  git --git-dir="$own/git" pack-objects --revs --stdout --quiet --window=0 --depth=0 --no-reuse-delta > "$pack"
printf 'head %s\\n' "$head"`;
