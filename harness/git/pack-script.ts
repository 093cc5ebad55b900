import { quoteForShell } from "../commands/shell-quote.ts";
import { BASE_FILE, CLEAN_ENVIRONMENT, READ_CLONE_FUNCTION } from "./diff-script.ts";

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
 * Writes the script that packs the commits of a branch since `base`, with all their objects. It runs inside the sandbox, and in a git
 * directory of its own, as the script that compares a clone. It prints the commit; nothing if there is none to push.
 */
export function writePackScript({ repository, branch, base, pack }: PackRequest): string {
  return [
    ...CLEAN_ENVIRONMENT,
    `cd -- ${quoteForShell(repository)}`,
    `pack=${quoteForShell(pack)}`,
    `base=${quoteForShell(base)}`,
    `branch=${quoteForShell(branch)}`,
    'mkdir -p -- "${pack%/*}"',
    'own=$(mktemp -d "${pack%/*}/pack.XXXXXX")',
    "trap 'rm -rf -- \"$own\"' EXIT",
    READ_CLONE_FUNCTION,
    PACK,
  ].join("\n");
}

/** The pack has no deltas, so that its reader can check each object without others. */
const PACK = `
[ -n "$base" ] || base=$(head -n 1 .git/${BASE_FILE} 2>/dev/null) || true
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
