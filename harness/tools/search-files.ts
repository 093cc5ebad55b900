import * as v from "valibot";
import type { Shell } from "../commands/shell.ts";
import { quoteForShell } from "../commands/shell-quote.ts";
import { defineTool, type Tool } from "../engine/tool.ts";

const MAX_RESULTS = 500;
const DEFAULT_RESULTS = 100;
/** Characters of a line that are shown. */
const LINE_CHARACTERS = 300;
const ANSWER = { keepBytes: 40 * 1024 };
/** What both programs answer where they find nothing. */
const NOTHING_FOUND = 1;

/** Searches by ripgrep, or by grep where that is not there. */
export const createSearchFilesTool = (shell: Shell): Tool =>
  defineTool({
    name: "search_files",
    description:
      "Looks for a regular expression in the files of the workspace and answers path, line and text of what it finds, 40 KB at most. What " +
      "git ignores and what is no text is left out. With `names_only` it tells only which files have it. To find files by " +
      "their names, use run_command with find or git ls-files.",
    category: "search",
    readsOnly: true,
    input: v.object({
      pattern: v.pipe(v.string(), v.nonEmpty(), v.description("A regular expression; case matters.")),
      path: v.optional(
        v.pipe(
          v.string(),
          v.nonEmpty(),
          v.description("A directory or a file. All below where commands start when absent."),
        ),
      ),
      glob: v.optional(
        v.pipe(v.string(), v.nonEmpty(), v.description("Only files with such a name, for example *.ts.")),
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
          v.description("Lines to answer. 100 when absent."),
        ),
      ),
    }),
    async run(input, { signal }) {
      const limit = input.limit ?? DEFAULT_RESULTS;
      const { text, exitCode, timedOut } = await shell.runAside(buildScript(input, limit), signal, ANSWER);
      if (timedOut) throw new Error("the search took too long: name a smaller directory");
      const lines = text.split("\n").filter((line) => line !== "");
      if (exitCode > NOTHING_FOUND && lines.length <= limit)
        throw new Error(lines.slice(0, 5).join("\n") || `exit code ${exitCode}`);
      const matches = lines.slice(0, limit);
      return { output: { matches, ...(lines.length > limit ? { cut: `there are more than ${limit}` } : {}) } };
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
    "rg --color=never --no-heading --with-filename --line-number --sort=path --no-messages",
    `--max-columns=${LINE_CHARACTERS} --max-columns-preview`,
    ...when(ignore_case, "--ignore-case"),
    ...when(fixed, "--fixed-strings"),
    ...when(names_only, "--files-with-matches"),
    ...(glob === undefined ? [] : [`--glob ${quoteForShell(glob)}`]),
    ...what,
  ].join(" ");
  const grep = [
    `grep -rIHn ${fixed === true ? "-F" : "-E"} --exclude-dir=.git --exclude-dir=node_modules`,
    ...when(ignore_case, "-i"),
    ...when(names_only, "-l"),
    ...(glob === undefined ? [] : [`--include=${quoteForShell(glob)}`]),
    ...what,
  ].join(" ");
  // One line more than wanted tells that there are more; the program that finds still more is then ended by its pipe.
  const cut = `| cut -c 1-${2 * LINE_CHARACTERS} | head -n ${limit + 1}`;
  return `set +eo pipefail; if command -v rg >/dev/null; then ${rg} ${cut}; else ${grep} ${cut}; fi; exit "\${PIPESTATUS[0]}"`;
}
