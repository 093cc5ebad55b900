import * as v from "valibot";
import type { Shell } from "../commands/shell.ts";
import type { ToolResult } from "../engine/tool.ts";

const MAX_RESULTS = 500;
const DEFAULT_RESULTS = 100;
const RESPONSE = { keepBytes: 40 * 1024 };
/** The exit code of the programs when nothing matches. */
const NOTHING_FOUND = 1;

/** The members that the inputs of searches have in common. */
export const SEARCH_INPUT = {
  path: v.optional(
    v.pipe(
      v.string(),
      v.nonEmpty(),
      v.description("A directory or a file. Default: the directory where commands start."),
    ),
  ),
  limit: v.optional(
    v.pipe(
      v.number(),
      v.integer(),
      v.minValue(1),
      v.maxValue(MAX_RESULTS),
      v.description("The most lines to return. Default: 100."),
    ),
  ),
};

/** What a search runs in its script: programs that print one match a line. The script's exit code is that of `list`. */
export interface SearchPrograms {
  /** Used if ripgrep is installed. */
  readonly rg: string;
  readonly otherwise: string;
  /** Where both start; a path for the shell. @default where commands start */
  readonly directory?: string;
  /** Reads the matches of either, and prints those that count. */
  readonly filter: string;
}

/** Runs a search and returns its matches, as many as the limit allows. */
export async function runSearch(
  shell: Pick<Shell, "runAside">,
  programs: SearchPrograms,
  { limit = DEFAULT_RESULTS, signal }: { readonly limit?: number | undefined; readonly signal: AbortSignal },
): Promise<ToolResult> {
  const { text, exitCode, timedOut } = await shell.runAside(buildScript(programs, limit), signal, RESPONSE);
  if (timedOut) throw new Error("the search took too long: search a smaller directory");
  const lines = text.split("\n").filter((line) => line !== "");
  if (exitCode > NOTHING_FOUND && lines.length <= limit)
    throw new Error(lines.slice(0, 5).join("\n") || `exit code ${exitCode}`);
  const matches = lines.slice(0, limit);
  return { output: { matches, ...(lines.length > limit ? { cut: `there are more than ${limit} matches` } : {}) } };
}

function buildScript({ rg, otherwise, filter, directory }: SearchPrograms, limit: number): string {
  const enter = directory === undefined ? "" : `cd -- ${directory} || exit 2; `;
  // One extra line shows that there are more matches; head then ends the search by closing the pipe.
  const cut = `| ${filter} | head -n ${limit + 1}`;
  return `set +eo pipefail; ${enter}if command -v rg >/dev/null; then ${rg} ${cut}; else ${otherwise} ${cut}; fi; exit "\${PIPESTATUS[0]}"`;
}
