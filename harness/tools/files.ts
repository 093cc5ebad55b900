import { copyFile } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import * as v from "valibot";
import type { Shell } from "../commands/shell.ts";
import { quoteForShell } from "../commands/shell-quote.ts";
import { defineTool, type Tool, type ToolCall, type ToolResult } from "../engine/tool.ts";
import type { Sandbox, WorkspacePaths } from "../isolation/sandbox.ts";

export interface FileToolOptions {
  readonly shell: Shell;
  readonly sandbox: Pick<Sandbox, "paths" | "node">;
  /** Paths on the host. */
  readonly host: WorkspacePaths;
}

const MAX_FILES = 20;
const MAX_EDITS = 50;
/** The answer of the program, which keeps to limits of its own. */
const ANSWER = { keepBytes: 1024 * 1024, readBytes: 4 * 1024 * 1024 };

const Path = v.pipe(
  v.string(),
  v.nonEmpty(),
  v.check((path) => !path.includes("\0"), "must not have a NUL"),
  v.description("Absolute, or relative to where commands start."),
);
const Line = v.pipe(v.number(), v.integer(), v.minValue(1));

const Answer = v.union([
  v.object({ results: v.array(v.looseObject({ path: v.string(), error: v.optional(v.string()) })) }),
  v.object({ error: v.string() }),
]);

/**
 * Reading and changing files. A program of ours does it inside of the sandbox: what is in a workspace is hostile, and a link in
 * it must lead nowhere but where a command could have gone.
 */
export function createFileTools(options: FileToolOptions): Tool[] {
  const run = createProgramRunner(options);
  return [
    defineTool({
      name: "read_files",
      description:
        "Reads text files of the workspace, whole or some of their lines. At most 40 KB a call together; what had no room is told, " +
        "with the line to go on at. Of a directory it tells the names, of a file that is no text only its size.",
      category: "files",
      readsOnly: true,
      input: v.object({
        files: v.pipe(
          v.array(
            v.object({
              path: Path,
              start_line: v.optional(v.pipe(Line, v.description("The first line to read. 1 when absent."))),
              end_line: v.optional(v.pipe(Line, v.description("The last line to read. The last one when absent."))),
            }),
          ),
          v.minLength(1),
          v.maxLength(MAX_FILES),
        ),
      }),
      run: async ({ files }, call) => run({ read: files }, call),
    }),
    defineTool({
      name: "edit_files",
      description:
        "Changes files of the workspace. `replace` puts new_text in the place of old_text, which must be in the file exactly as " +
        "given, white space included, and once, unless replace_all is true. `write` makes a file, or puts new_text in the place of all that is " +
        "in one. `delete` removes a file. The edits of one file are made in their order, all or none.",
      category: "files",
      readsOnly: false,
      input: v.object({
        edits: v.pipe(
          v.array(
            v.object({
              path: Path,
              action: v.picklist(["replace", "write", "delete"]),
              old_text: v.optional(v.string()),
              new_text: v.optional(v.string()),
              replace_all: v.optional(v.boolean()),
            }),
          ),
          v.minLength(1),
          v.maxLength(MAX_EDITS),
        ),
      }),
      run: async ({ edits }, call) => run({ edit: edits }, call),
    }),
  ];
}

function createProgramRunner({ shell, sandbox, host }: FileToolOptions) {
  // Beside this file when it runs as it is, beside the bundle when it was bundled.
  const program = import.meta.url.endsWith(".ts") ? "../../files-main.ts" : "./files.mjs";
  const source = fileURLToPath(new URL(program, import.meta.url));
  const { workspace, home, tmp, steps } = sandbox.paths;
  let copied: Promise<void> | undefined;
  return async (request: object, { signal }: ToolCall): Promise<ToolResult> => {
    copied ??= copyFile(source, `${host.steps}/${basename(source)}`);
    await copied;
    const input = JSON.stringify({ roots: [workspace, home, tmp], from: shell.here, ...request });
    const words = [sandbox.node, "--no-warnings", `${steps}/${basename(source)}`].map(quoteForShell).join(" ");
    const { text, exitCode } = await shell.runAside(`${words} <<< ${quoteForShell(input)}`, signal, ANSWER);
    const answer = v.safeParse(Answer, parseJson(text.trim().split("\n").at(-1) ?? ""));
    if (!answer.success) throw new Error(`the files could not be reached (exit code ${exitCode})`);
    if ("error" in answer.output) return { isError: true, output: answer.output };
    const { results } = answer.output;
    return { output: { files: results }, isError: results.some(({ error }) => error !== undefined) };
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
