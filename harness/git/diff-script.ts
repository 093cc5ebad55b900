import { startCloneScript } from "./clone-script.ts";

export interface DiffRequest {
  /** The clone, as commands see it. */
  readonly repository: string;
  /** The commit that was cloned; empty if it is recorded in the clone. */
  readonly base: string;
  /** Where the patch is written, as commands see it. */
  readonly patch: string;
  /** Larger files are left out, in bytes. */
  readonly fileBytes: number;
}

/**
 * Writes the script that compares a clone with the commit that was cloned: commits, changes and new files, except for ignored files.
 */
export function writeDiffScript({ repository, base, patch, fileBytes }: DiffRequest): string {
  return [
    ...startCloneScript({ repository, base, variable: "patch", file: patch }),
    READ_CLONE,
    CREATE_OWN,
    // It ends with an error after a directory that it cannot read.
    `find . -name .git -prune -o -type f -size +${fileBytes}c -print0 > "$own/large" 2>/dev/null || true`,
    COMPARE,
  ].join("\n");
}

const READ_CLONE = `
objects=$(read_clone rev-parse --path-format=absolute --git-path objects)
format=$(read_clone rev-parse --show-object-format)
head=$(read_clone rev-parse --verify --quiet HEAD) || head=
branch=$(read_clone symbolic-ref --quiet --short HEAD) || branch=
exclude=$(read_clone rev-parse --path-format=absolute --git-path info/exclude)
shallow=$(read_clone rev-parse --path-format=absolute --git-path shallow)
# Files outside the directories of a sparse clone are missing from the workspace, but nobody removed them.
read_clone ls-files -t -z 2>/dev/null | while IFS= read -r -d '' entry; do
  [ "\${entry%% *}" != S ] || [ -e "\${entry#* }" ] || printf '%s\\0' "\${entry#* }"
done > "$own/absent"`;

/** The filter of Git LFS compares the pointers of files, which is what commits contain. */
const CREATE_OWN = `
git init --quiet --bare --template= --object-format="$format" "$own/git"
mkdir -p "$own/git/objects/info" "$own/git/info"
printf '%s\\n' "$objects" > "$own/git/objects/info/alternates"
[ ! -f "$exclude" ] || cp -- "$exclude" "$own/git/info/exclude"
[ ! -f "$shallow" ] || cp -- "$shallow" "$own/git/shallow"
export GIT_DIR="$own/git" GIT_WORK_TREE="$PWD" GIT_INDEX_FILE="$own/index"
lfs=(); ! command -v git-lfs >/dev/null || lfs=(-c 'filter.lfs.clean=git-lfs clean -- %f')
own_git() { git "\${lfs[@]}" -c core.bare=false -c core.hooksPath=/dev/null -c advice.addEmbeddedRepo=false -c core.quotePath=true "$@"; }`;

/**
 * Changes of a file that are at most this many lines further apart than their usual context are one hunk, so that a review can show the
 * lines between them. More context around the changes would keep `git apply` from accepting files that changed nearby.
 */
const BETWEEN_CHANGES = 40;

/** Prints the numbers that the harness reads, one for each line. */
const COMPARE = `
[ -n "$base" ] || base=$(own_git hash-object -t tree /dev/null)
own_git read-tree "$base"
[ ! -s "$own/absent" ] || { own_git ls-files -z; cat -- "$own/absent"; } | sort -z | uniq -zd | own_git update-index -z --skip-worktree --stdin
omitted=0
{ printf '.\\0'; while IFS= read -r -d '' file; do printf ':(top,exclude,literal)%s\\0' "\${file#./}"; done < "$own/large"; } > "$own/paths"
[ ! -s "$own/large" ] || omitted=$(xargs -0 git -c core.bare=false --literal-pathspecs ls-files -z --others --modified --exclude-standard -- < "$own/large" | tr -dc '\\0' | wc -c)
own_git add --all --pathspec-from-file="$own/paths" --pathspec-file-nul 2>/dev/null || own_git add --all --ignore-errors --pathspec-from-file="$own/paths" --pathspec-file-nul 2>"$own/errors" || true
compare() { own_git diff --cached --no-ext-diff --no-textconv --no-color --ignore-submodules=all --find-renames --inter-hunk-context=${BETWEEN_CHANGES} "$@" "$base" --; }
compare --binary --full-index --src-prefix=a/ --dst-prefix=b/ > "$patch"
printf 'base %s\\n' "$base"
printf 'head %s\\n' "$head"
printf 'branch %s\\n' "$branch"
printf 'commits %s\\n' "$(own_git rev-list --count "$head" "^$base" 2>/dev/null || echo 0)"
printf 'omitted %s\\n' "$omitted"
printf 'stat %s\\n' "$(compare --shortstat)"
[ ! -f "$own/errors" ] || sed -nE -e 's/^error: open\\("(.*)"\\): .*/unreadable \\1/p' -e "s/^warning: could not open directory '(.*)': .*/unreadable \\1/p" "$own/errors" | head -n 20`;
