import * as v from "valibot";
import type { Shell } from "../commands/shell.ts";
import { quoteForShell } from "../commands/shell-quote.ts";
import { defineTool, type Tool } from "../engine/tool.ts";
import { runSearch, SEARCH_INPUT, type SearchPrograms } from "./search-output.ts";

/** The most characters of a line that are returned. */
const LINE_CHARACTERS = 300;

/** Creates the tool that searches with ripgrep, or with grep if ripgrep is not installed. */
export const createSearchFilesTool = (shell: Shell): Tool =>
  defineTool({
    name: "search_files",
    description:
      "Searches the files of the workspace for a regular expression and returns path, line number and text of the matches, 40 KB at most. " +
      "Skips binary files, `.git` and files that git ignores. With `names_only` it returns only the names of matching files. To find files by " +
      "name, use glob.",
    category: "search",
    readsOnly: true,
    parallel: true,
    input: v.object({
      pattern: v.pipe(v.string(), v.nonEmpty(), v.description("A regular expression, case-sensitive.")),
      glob: v.optional(
        v.pipe(v.string(), v.nonEmpty(), v.description("Search only files with a matching name, for example *.ts.")),
      ),
      ignore_case: v.optional(v.boolean()),
      fixed: v.optional(v.pipe(v.boolean(), v.description("The pattern is plain text."))),
      names_only: v.optional(v.boolean()),
      ...SEARCH_INPUT,
    }),
    async run({ limit, ...search }, { signal }) {
      shell.checkAside(search.path ?? ".");
      return runSearch(shell, buildPrograms(search), { limit, signal });
    },
  });

interface Search {
  readonly pattern: string;
  readonly path?: string | undefined;
  readonly glob?: string | undefined;
  readonly ignore_case?: boolean | undefined;
  readonly fixed?: boolean | undefined;
  readonly names_only?: boolean | undefined;
}

function buildPrograms({ pattern, path = ".", glob, ignore_case, fixed, names_only }: Search): SearchPrograms {
  const when = (flag: boolean | undefined, word: string) => (flag === true ? [word] : []);
  const what = ["-e", quoteForShell(pattern), "--", quoteForShell(path)];
  const rg = [
    "rg --color=never --no-heading --with-filename --line-number --sort=path --no-messages --hidden",
    `--max-columns=${LINE_CHARACTERS} --max-columns-preview`,
    ...when(ignore_case, "--ignore-case"),
    ...when(fixed, "--fixed-strings"),
    ...when(names_only, "--files-with-matches"),
    ...(glob === undefined ? [] : [`--glob ${quoteForShell(glob)}`]),
    // The last glob that matches a path decides.
    "--glob '!.git'",
    ...what,
  ].join(" ");
  const grep = [
    `grep -rIHn ${fixed === true ? "-F" : "-E"} --exclude-dir=.git --exclude-dir=node_modules`,
    ...when(ignore_case, "-i"),
    ...when(names_only, "-l"),
    ...(glob === undefined ? [] : [`--include=${quoteForShell(glob)}`]),
    ...what,
  ].join(" ");
  return { rg, otherwise: grep, filter: `cut -c 1-${2 * LINE_CHARACTERS}` };
}
