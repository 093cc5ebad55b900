import * as v from "valibot";
import type { Shell } from "../commands/shell.ts";
import { quoteForShell } from "../commands/shell-quote.ts";
import { defineTool, type Tool } from "../engine/tool.ts";

const MAX_RESULTS = 500;
const DEFAULT_RESULTS = 100;
/** The most characters of a line that are returned. */
const LINE_CHARACTERS = 300;
const RESPONSE = { keepBytes: 40 * 1024 };
/** The exit code of both programs when nothing matches. */
const NOTHING_FOUND = 1;

/** Creates the tool that searches with ripgrep, or with grep if ripgrep is not installed. */
export const createSearchFilesTool = (shell: Shell): Tool =>
  defineTool({
    name: "search_files",
    description:
      "Searches the files of the workspace for a regular expression and returns path, line number and text of the matches, 40 KB at most. " +
      "Skips binary files, `.git` and files that git ignores. With `names_only` it returns only the names of matching files. To find files by " +
      "name, use run_command with find or git ls-files.",
    category: "search",
    readsOnly: true,
    input: v.object({
      pattern: v.pipe(v.string(), v.nonEmpty(), v.description("A regular expression, case-sensitive.")),
      path: v.optional(
        v.pipe(
          v.string(),
          v.nonEmpty(),
          v.description("A directory or a file. Default: the directory where commands start."),
        ),
      ),
      glob: v.optional(
        v.pipe(v.string(), v.nonEmpty(), v.description("Search only files with a matching name, for example *.ts.")),
      ),
      ignore_case: v.optional(v.boolean()),
      fixed: v.optional(v.pipe(v.boolean(), v.description("The pattern is plain text."))),
      names_only: v.optional(v.boolean()),
      limit: v.optional(
        v.pipe(
          v.number(),
          v.integer(),
          v.minValue(1),
          v.maxValue(MAX_RESULTS),
          v.description("The most lines to return. Default: 100."),
        ),
      ),
    }),
    async run(input, { signal }) {
      const limit = input.limit ?? DEFAULT_RESULTS;
      const { text, exitCode, timedOut } = await shell.runAside(buildScript(input, limit), signal, RESPONSE);
      if (timedOut) throw new Error("the search took too long: search a smaller directory");
      const lines = text.split("\n").filter((line) => line !== "");
      if (exitCode > NOTHING_FOUND && lines.length <= limit)
        throw new Error(lines.slice(0, 5).join("\n") || `exit code ${exitCode}`);
      const matches = lines.slice(0, limit);
      return { output: { matches, ...(lines.length > limit ? { cut: `there are more than ${limit} matches` } : {}) } };
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

function buildScript({ pattern, path = ".", glob, ignore_case, fixed, names_only }: Search, limit: number): string {
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
  // One extra line shows that there are more matches; head then ends the search by closing the pipe.
  const cut = `| cut -c 1-${2 * LINE_CHARACTERS} | head -n ${limit + 1}`;
  return `set +eo pipefail; if command -v rg >/dev/null; then ${rg} ${cut}; else ${grep} ${cut}; fi; exit "\${PIPESTATUS[0]}"`;
}
