import { posix } from "node:path";
import * as v from "valibot";
import type { Shell } from "../commands/shell.ts";
import { quoteForShell } from "../commands/shell-quote.ts";
import { defineTool, type Tool } from "../engine/tool.ts";
import { runSearch, SEARCH_INPUT } from "./search-output.ts";

/** Creates the tool that finds files by name. Like a search, it skips `.git` and what git ignores. */
export const createGlobTool = (shell: Pick<Shell, "checkAside" | "runAside">): Tool =>
  defineTool({
    name: "glob",
    description:
      "Finds files of the workspace by name and returns their paths, sorted, 40 KB at most. Skips `.git` and files that git ignores. To " +
      "search their content, use search_files.",
    category: "search",
    readsOnly: true,
    parallel: true,
    input: v.object({
      pattern: v.pipe(
        v.string(),
        v.nonEmpty(),
        v.description("For example *.ts (in any directory), src/**/*.test.ts or {package,tsconfig}.json."),
      ),
      ...SEARCH_INPUT,
    }),
    async run({ pattern, path, limit }, { signal }) {
      shell.checkAside(path ?? ".");
      const programs = {
        rg: "rg --files --color=never --sort=path --no-messages --hidden --glob '!.git'",
        otherwise: String.raw`find . -name .git -prune -o -name node_modules -prune -o -type f -print | sed 's|^\./||' | LC_ALL=C sort`,
        filter: `grep -E -e ${quoteForShell(toExpression(pattern))}`,
        ...(path === undefined ? {} : { directory: quoteForShell(path) }),
      };
      const result = await runSearch(shell, programs, { limit, signal });
      const { matches } = result.output;
      if (path === undefined || !Array.isArray(matches)) return result;
      return { output: { ...result.output, matches: matches.map((name) => posix.join(path, String(name))) } };
    },
  });

/** Converts a glob to an extended regular expression for paths. A glob without a slash matches names in every directory. */
export function toExpression(glob: string): string {
  const pattern = glob.replace(/^(\.?\/)+/, "");
  const prefix = pattern.includes("/") ? "^" : "(^|/)";
  let depth = 0;
  const body = pattern.replace(/\*\*\/|\*\*|\[!?[^\]/]+\]|[\s\S]/g, (part) => {
    if (part === "**/") return "(.*/)?";
    if (part === "**") return ".*";
    if (part === "*") return "[^/]*";
    if (part === "?") return "[^/]";
    if (part.length > 1) return part.replace(/^\[!/, "[^");
    if (part === "{") return ++depth > 0 ? "(" : "";
    if (part === "}" && depth > 0) return --depth >= 0 ? ")" : "";
    if (part === "," && depth > 0) return "|";
    return part.replace(/[.+^$()|{}[\]\\]/, String.raw`\$&`);
  });
  return `${prefix}${body}${")".repeat(depth)}$`;
}
