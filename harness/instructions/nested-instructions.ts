import { dirname, resolve } from "node:path";
import * as v from "valibot";
import { findCompaction } from "#shared/wire/compaction.ts";
import type { Message } from "#shared/wire/conversation.ts";
import type { Shell } from "../commands/shell.ts";
import type { Tool, ToolResult } from "../engine/tool.ts";
import type { Clone } from "../git/clone.ts";
import {
  INSTRUCTIONS_BYTES,
  type InstructionFile,
  listFolders,
  readInstructions,
  toWorkspacePath,
} from "./instruction-files.ts";

export interface NestedOptions {
  /** What the system prompt contains. */
  readonly initial: readonly InstructionFile[];
  readonly clones: readonly Pick<Clone, "path">[];
  /** The workspace on the host, and as commands see it. */
  readonly workspace: { readonly host: string; readonly seen: string };
  readonly shell: Pick<Shell, "here">;
  /** The recorded conversation, which grows while the turn lasts. */
  readonly conversation: readonly Message[];
}

const Place = v.optional(v.object({ path: v.optional(v.string()) }));
/** The members of inputs and outputs that name a file or a folder. */
const Places = v.object({
  path: v.optional(v.string()),
  working_directory: v.optional(v.string()),
  files: v.optional(v.array(Place)),
  edits: v.optional(v.array(Place)),
});
const Instructions = v.object({ instructions: v.array(v.object({ path: v.string(), content: v.string() })) });

/**
 * Adds the instructions of a folder to the result of the first tool that enters it. The recorded conversation shows which ones the model
 * has, so that later turns and executions add none twice, and add those again that a summary has replaced.
 */
export function addNestedInstructions(tools: readonly Tool[], options: NestedOptions): Tool[] {
  const recent = createRecent();
  const add = (tool: Tool): Tool => ({
    ...tool,
    run: (input, call) =>
      recent.during(async () => {
        const { here } = options.shell;
        const result = await tool.run(input, call);
        const paths = [...listPaths(input), ...listPaths(result.output)];
        const files = await recent.add((shown) => findNew(paths, here, { ...options, recent: shown }));
        return files.length === 0 ? result : withInstructions(result, files);
      }),
  });
  return tools.map((tool) => (["command", "files", "search"].includes(tool.category) ? add(tool) : tool));
}

/** Keeps what calls that run at the same time have added, until the conversation has their results. */
function createRecent() {
  let files: InstructionFile[] = [];
  let running = 0;
  let last: Promise<unknown> = Promise.resolve();
  return {
    async during<T>(call: () => Promise<T>): Promise<T> {
      running++;
      try {
        return await call();
      } finally {
        if (--running === 0) files = [];
      }
    },
    /** One call after the other looks for files that no other one has added. */
    add(find: (shown: readonly InstructionFile[]) => Promise<InstructionFile[]>): Promise<InstructionFile[]> {
      const found = last.then(() => find(files));
      last = found.then((more) => void files.push(...more)).catch(() => {});
      return found;
    },
  };
}

const withInstructions = (result: ToolResult, files: readonly InstructionFile[]): ToolResult => ({
  ...result,
  output: { ...result.output, instructions: files },
});

function listPaths(value: unknown): string[] {
  const places = v.safeParse(Places, value);
  if (!places.success) return [];
  const { path, working_directory, files = [], edits = [] } = places.output;
  return [path, working_directory, ...[...files, ...edits].map((place) => place?.path)].filter(
    (place) => place !== undefined,
  );
}

async function findNew(
  paths: readonly string[],
  here: string,
  options: NestedOptions & { readonly recent: readonly InstructionFile[] },
): Promise<InstructionFile[]> {
  const { initial, clones, workspace, conversation, recent } = options;
  const inside = paths.flatMap((path) => toWorkspacePath(resolve(here, path), workspace.seen) ?? []);
  const folders = new Set(inside.flatMap((path) => listFolders(path, clones)));
  const known = [...initial, ...listShown(conversation), ...recent];
  const room = known.reduce((left, { content }) => left - Buffer.byteLength(content), INSTRUCTIONS_BYTES);
  const hasInstructions = (folder: string) => known.some(({ path }) => isInstructionOf(path, folder));
  return await readInstructions(
    workspace.host,
    [...folders].filter((folder) => !hasInstructions(folder)),
    room,
  );
}

const isInstructionOf = (path: string, folder: string): boolean =>
  dirname(path) === folder || dirname(path) === `${folder}/.github`;

/** The instructions in the results of tools since the last summary. */
function listShown(conversation: readonly Message[]): InstructionFile[] {
  const from = findCompaction(conversation)?.from ?? 0;
  return conversation
    .slice(from)
    .flatMap(({ content }) => content)
    .flatMap((block) => {
      const parsed = block.type === "action_result" ? v.safeParse(Instructions, block.output) : undefined;
      return parsed?.success === true ? parsed.output.instructions : [];
    });
}
