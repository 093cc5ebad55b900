import { createReadStream } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { buffer } from "node:stream/consumers";
import { openInside } from "../files/path-containment.ts";
import type { Clone } from "../git/clone.ts";
import { cutBytes, toWellFormed } from "../support/text-limits.ts";

/** A file with which a repository instructs agents. */
export interface InstructionFile {
  /** Relative to the workspace. */
  readonly path: string;
  readonly content: string;
}

/** The most that the instructions of all repositories take together. */
export const INSTRUCTIONS_BYTES = 32 * 1024;

/** The first of these in a folder counts; the others say the same to other agents. */
const NAMES = ["AGENTS.md", "CLAUDE.md", "GEMINI.md", ".cursorrules", ".github/copilot-instructions.md"];
const CUT = "\n[... truncated: the instructions of repositories have 32 KB together; read the file for the rest ...]";

/** Lists the folders from the root of the repository to a path, which may be a folder or a file. Paths are relative to the workspace. */
export function listFolders(path: string, clones: readonly Pick<Clone, "path">[]): string[] {
  const clone = clones.find(({ path: root }) => path === root || path.startsWith(root + sep));
  if (clone === undefined) return [];
  const folders: string[] = [];
  for (let folder = path; folder.length > clone.path.length; folder = dirname(folder)) folders.unshift(folder);
  return [clone.path, ...folders];
}

/**
 * Reads the instructions in these folders, in their order, until they have `room` bytes. Links are not followed, because a hostile
 * repository could name any file of the host.
 * @param workspace on the host
 */
export async function readInstructions(
  workspace: string,
  folders: readonly string[],
  room = INSTRUCTIONS_BYTES,
): Promise<InstructionFile[]> {
  const files: InstructionFile[] = [];
  let remainder = room;
  for (const folder of folders) {
    const file = remainder > 0 ? await readFirst(workspace, folder, remainder) : undefined;
    if (file === undefined) continue;
    files.push(file);
    remainder -= Buffer.byteLength(file.content);
  }
  return files;
}

async function readFirst(workspace: string, folder: string, room: number): Promise<InstructionFile | undefined> {
  for (const name of NAMES) {
    const path = join(folder, name);
    const content = await readText(workspace, path, room).catch(() => "");
    if (content.trim() !== "") return { path, content };
  }
  return undefined;
}

async function readText(workspace: string, path: string, room: number): Promise<string> {
  await using file = await openInside(workspace, join(workspace, path));
  // A character that the limit divides takes up to three bytes more.
  const bytes = await buffer(createReadStream(file.path, { end: room + 2 }));
  const text = toWellFormed(bytes.toString("utf8"));
  const start = cutBytes(text, room);
  return start.length < text.length ? start + CUT : text;
}

/** Converts a path of a command to one relative to the workspace; undefined if it is outside. */
export function toWorkspacePath(path: string, workspace: string): string | undefined {
  const inside = relative(workspace, path);
  return inside === "" || inside.startsWith("..") ? undefined : inside;
}
