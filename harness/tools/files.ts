import { copyFile } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import * as v from "valibot";
import type { Shell } from "../commands/shell.ts";
import { quoteForShell } from "../commands/shell-quote.ts";
import { defineTool, type Tool, type ToolCall, type ToolResult } from "../engine/tool.ts";
import type { Sandbox, WorkspacePaths } from "../isolation/sandbox.ts";
import type { Redactor } from "../redaction/redactor.ts";
import { createDiff } from "../steps/diff.ts";
import { parseJson } from "../support/parse-json.ts";
import { readImage } from "./images.ts";

export interface FileToolOptions {
  readonly shell: Shell;
  readonly sandbox: Pick<Sandbox, "paths" | "node">;
  /** Paths on the host. */
  readonly host: WorkspacePaths;
  readonly redactor: Pick<Redactor, "text">;
}

const MAX_FILES = 20;
const MAX_EDITS = 50;
/** Limits for the output of the program, which has stricter limits itself. */
const RESPONSE = { keepBytes: 5 * 1024 * 1024, readBytes: 6 * 1024 * 1024 };

const Path = v.pipe(
  v.string(),
  v.nonEmpty(),
  v.check((path) => !path.includes("\0"), "must not contain NUL"),
  v.description("Absolute, or relative to the directory where commands start."),
);
const Line = v.pipe(v.number(), v.integer(), v.minValue(1));

const Change = v.object({
  start_line: v.pipe(v.number(), v.integer(), v.minValue(1)),
  before: v.optional(v.string()),
  after: v.optional(v.string()),
});
const Report = v.looseObject({
  path: v.string(),
  error: v.optional(v.string()),
  image_data: v.optional(v.string()),
  change: v.optional(Change),
});
type Report = v.InferOutput<typeof Report>;
const ResponseBody = v.union([v.object({ results: v.array(Report) }), v.object({ error: v.string() })]);

/**
 * Creates the tools that read and change files. A program does it inside the sandbox: a workspace is untrusted, and a link in it must not
 * give access to files that commands cannot access.
 */
export function createFileTools(options: FileToolOptions): Tool[] {
  const run = createProgramRunner(options);
  return [
    defineTool({
      name: "read_files",
      description:
        "Reads text files of the workspace, completely or by line range. Returns at most 40 KB per call; a truncated file shows the line " +
        "to continue at. For a directory it returns the names, for a PNG or JPEG the image if you can see images, for another " +
        "binary file only the size.",
      category: "files",
      readsOnly: true,
      parallel: true,
      input: v.object({
        files: v.pipe(
          v.array(
            v.object({
              path: Path,
              start_line: v.optional(v.pipe(Line, v.description("The first line to read. Default: 1."))),
              end_line: v.optional(
                v.pipe(Line, v.description("The last line to read. Default: the last line of the file.")),
              ),
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
        "Changes files of the workspace. `replace` replaces old_text with new_text; old_text must occur once, unless replace_all is " +
        "true. Where it does not match exactly, whole lines that differ in white space, indentation or kinds of quotes are found too. " +
        "Returns the new lines with their numbers, which are not part of the file. `write` creates a file or replaces its entire content with new_text. " +
        "`delete` removes a file. The edits of one file are applied in order, all or none.",
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

function createProgramRunner({ shell, sandbox, host, redactor }: FileToolOptions) {
  // The program is next to the bundle, or in the source tree with what it imports when the harness is not bundled.
  const programs = import.meta.url.endsWith(".ts") ? ["../files-main.ts", "../replace-text.ts"] : ["./files.mjs"];
  const sources = programs.map((program) => fileURLToPath(new URL(program, import.meta.url)));
  const [main = ""] = sources.map((source) => basename(source));
  const { workspace, home, tmp, steps } = sandbox.paths;
  let copied: Promise<unknown> | undefined;
  return async (request: object, { signal }: ToolCall): Promise<ToolResult> => {
    copied ??= Promise.all(sources.map((source) => copyFile(source, `${host.steps}/${basename(source)}`)));
    await copied;
    // The directory of the scripts has the outputs of commands.
    const roots = "read" in request ? [workspace, home, tmp, steps] : [workspace, home, tmp];
    const input = JSON.stringify({ roots, from: shell.here, ...request });
    const words = [sandbox.node, "--no-warnings", `${steps}/${main}`].map(quoteForShell).join(" ");
    const { text, exitCode } = await shell.runAside(`${words} <<< ${quoteForShell(input)}`, signal, RESPONSE);
    const response = v.safeParse(ResponseBody, parseJson(text.trim().split("\n").at(-1) ?? ""));
    if (!response.success) throw new Error(`the files could not be accessed (exit code ${exitCode})`);
    if ("error" in response.output) return { isError: true, output: response.output };
    const { results } = response.output;
    const isError = results.some(({ error }) => error !== undefined);
    const read = results.map(({ change: _, image_data, ...report }) => {
      const found = image_data === undefined ? undefined : readImage(image_data);
      return { report: { ...report, ...found?.facts }, image: found?.image };
    });
    const images = read.flatMap(({ image }) => image ?? []);
    return {
      output: { files: read.map(({ report }) => report) },
      isError,
      ...(images.length === 0 ? {} : { images }),
      ...toDiff(results),
    };
  };

  /** Redacts before it compares, because a secret of several lines is not found in a diff. */
  function toDiff(results: readonly Report[]): Pick<ToolResult, "diff"> {
    const clean = (text: string | undefined) => (text === undefined ? undefined : redactor.text(text));
    const changes = results.flatMap(({ path, change }) =>
      change === undefined
        ? []
        : [
            {
              path: redactor.text(path),
              startLine: change.start_line,
              before: clean(change.before),
              after: clean(change.after),
            },
          ],
    );
    const diff = changes.length === 0 ? undefined : createDiff(changes);
    return diff === undefined ? {} : { diff };
  }
}
