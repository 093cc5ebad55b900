import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readdir, realpath, rename, rm, unlink } from "node:fs/promises";
import { basename, dirname, join, resolve, sep } from "node:path";
import { text } from "node:stream/consumers";
import { countEqualLines, numberLines, replaceText, splitLines } from "./replace-text.ts";

// This program runs inside the sandbox: it reads and changes files for the agent with the rights of commands, never those of the
// harness. It reads one request from standard input, writes one line, and imports only a module that is copied with it.

interface Request {
  /** Files below these directories may be read and changed. */
  readonly roots: readonly string[];
  /** The base of relative paths. */
  readonly from: string;
  readonly read?: readonly ReadRequest[];
  readonly edit?: readonly EditRequest[];
}

interface ReadRequest {
  readonly path: string;
  readonly start_line?: number;
  readonly end_line?: number;
}

interface EditRequest {
  readonly path: string;
  readonly action: "replace" | "write" | "delete";
  readonly old_text?: string;
  readonly new_text?: string;
  readonly replace_all?: boolean;
}

type Report = { readonly path: string } & Readonly<Record<string, unknown>>;

/** The largest file that is read or changed. */
const FILE_BYTES = 4 * 1024 * 1024;
/** The most text that one call returns. */
const READ_BYTES = 40 * 1024;
/** The most that the images of one call have in all. */
const IMAGE_BYTES = 3 * 1024 * 1024;
/** The most names that are returned for a directory. */
const MAX_NAMES = 200;
/** The largest part of a file whose change is reported, before and after it together. */
const CHANGE_BYTES = 64 * 1024;
/** The most that the changes of one call take as JSON; those of further files are left out. */
const CHANGES_BYTES = 512 * 1024;
/** The unchanged lines that are reported on both sides of a change. */
const CONTEXT_LINES = 3;
/** A file with a NUL in its first bytes is binary. */
const PROBE_BYTES = 8_192;

async function main(): Promise<void> {
  const request: Request = JSON.parse(await text(process.stdin));
  const roots = await Promise.all(request.roots.map((root) => realpath(root)));
  const place = { roots, from: request.from };
  const results =
    request.read === undefined ? await editAll(request.edit ?? [], place) : await readAll(request.read, place);
  process.stdout.write(`\n${JSON.stringify({ results })}\n`);
}

interface Place {
  readonly roots: readonly string[];
  readonly from: string;
}

async function readAll(wanted: readonly ReadRequest[], place: Place): Promise<Report[]> {
  const reports: Report[] = [];
  let room = READ_BYTES;
  let imageRoom = IMAGE_BYTES;
  for (const request of wanted) {
    const remaining = { text: room, images: imageRoom };
    const report = await readOne(request, place, remaining).catch((error: unknown) => toFailure(request.path, error));
    room -= Buffer.byteLength(String(report["content"] ?? ""));
    imageRoom -= (String(report["image_data"] ?? "").length * 3) / 4;
    reports.push(report);
  }
  return reports;
}

/** What is left of the limits of one call, in bytes. */
interface Room {
  readonly text: number;
  readonly images: number;
}

async function readOne(
  { path, start_line = 1, end_line }: ReadRequest,
  place: Place,
  { text: room, images: imageRoom }: Room,
): Promise<Report> {
  const file = await resolveExisting(path, place);
  if ((await lstat(file)).isDirectory()) {
    const names = await readdir(file, { withFileTypes: true });
    const entries = names.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort();
    return { path, directory: true, names: entries.slice(0, MAX_NAMES), count: entries.length };
  }
  const bytes = await readContent(file);
  if (isImage(bytes) && bytes.length <= imageRoom) return { path, image_data: bytes.toString("base64") };
  if (isBinary(bytes)) return { path, binary: true, size_bytes: bytes.length };
  const lines = splitLines(bytes.toString("utf8"));
  const last = Math.min(end_line ?? lines.length, lines.length);
  if (start_line > Math.max(1, lines.length)) throw new Error(`has ${lines.length} lines`);
  const fitting: string[] = [];
  let size = 0;
  for (const line of lines.slice(start_line - 1, last)) {
    size += Buffer.byteLength(line);
    if (size > room) break;
    fitting.push(line);
  }
  if (fitting.length === 0 && size > READ_BYTES) {
    throw new Error(`line ${start_line} has ${size} bytes, more than ${READ_BYTES}: use run_command`);
  }
  const isCut = fitting.length < last - start_line + 1;
  const next = isCut ? { cut: `truncated: continue at line ${start_line + fitting.length}` } : {};
  return {
    path,
    start_line,
    end_line: start_line + fitting.length - 1,
    lines: lines.length,
    content: fitting.join(""),
    ...next,
  };
}

/** Whether a file is a PNG or a JPEG, which some models see. */
const isImage = (bytes: Buffer): boolean =>
  bytes.subarray(0, 8).equals(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) ||
  bytes.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff]));

/** Applies the edits of each file atomically. A failed file does not affect the others. */
async function editAll(edits: readonly EditRequest[], place: Place): Promise<Report[]> {
  const groups = new Map<string, EditRequest[]>();
  for (const edit of edits) {
    const key = resolve(place.from, edit.path);
    groups.set(key, [...(groups.get(key) ?? []), edit]);
  }
  const reports: Report[] = [];
  let room = CHANGES_BYTES;
  for (const [, group] of groups) {
    const path = group[0]?.path ?? "";
    const { change, ...report } = await editOne(path, group, place).catch((error: unknown) => toFailure(path, error));
    room -= Buffer.byteLength(JSON.stringify(change ?? ""));
    reports.push({ ...report, ...(change !== undefined && room >= 0 ? { change } : {}) });
  }
  return reports;
}

async function editOne(path: string, edits: readonly EditRequest[], place: Place): Promise<Report> {
  const last = edits.at(-1);
  if (last?.action === "delete") {
    const content = await resolveExisting(path, place)
      .then(readContent)
      .catch(() => undefined);
    await remove(path, place);
    return { path, done: "deleted", ...describeChange(content, undefined) };
  }
  const { file, mode } = await resolveWritable(path, place);
  const before = mode === undefined ? undefined : await readContent(file);
  let content = before;
  const ignored = new Set<string>();
  for (const [index, edit] of edits.entries()) {
    const number = edits.length === 1 ? "" : `edit ${index + 1}: `;
    if (edit.action === "write") content = Buffer.from(edit.new_text ?? "");
    else {
      const { text: replaced, tolerance } = replaceText(decode(content, number), edit, number);
      content = Buffer.from(replaced);
      if (tolerance !== undefined) ignored.add(tolerance);
    }
  }
  if (content === undefined || content.length > FILE_BYTES) throw new Error(`would have more than ${FILE_BYTES} bytes`);
  await write(file, content, mode);
  const done = mode === undefined ? "created" : "changed";
  const note = ignored.size === 0 ? {} : { ignored: [...ignored].join(", ") };
  return { path, done, size_bytes: content.length, ...note, ...describeChange(before, content) };
}

/** Returns the part of the file that changed, from the first to the last changed line, unless it is binary or too large. */
function describeChange(
  before: Buffer | undefined,
  after: Buffer | undefined,
): { change?: object; new_lines?: string } {
  if ([before, after].some((content) => content !== undefined && isBinary(content))) return {};
  const [old, current] = [before, after].map((content) => splitLines(content?.toString("utf8") ?? ""));
  if (old === undefined || current === undefined) return {};
  const { first, last } = countEqualLines(old, current);
  const from = Math.max(0, first - CONTEXT_LINES);
  const unchanged = Math.max(0, last - CONTEXT_LINES);
  const [oldPart, newPart] = [old, current].map((lines) => lines.slice(from, lines.length - unchanged).join(""));
  if (Buffer.byteLength(`${oldPart}${newPart}`) > CHANGE_BYTES) return {};
  const texts = {
    ...(before === undefined ? {} : { before: oldPart }),
    ...(after === undefined ? {} : { after: newPart }),
  };
  const isReplaced = before !== undefined && after !== undefined && !before.equals(after);
  const report = isReplaced ? { new_lines: numberLines(splitLines(newPart ?? ""), from + 1) } : {};
  return { change: { start_line: from + 1, ...texts }, ...report };
}

function decode(content: Buffer | undefined, number: string): string {
  if (content === undefined) throw new Error(`${number}the file does not exist; use write to create it`);
  if (isBinary(content)) throw new Error(`${number}is a binary file`);
  const whole = content.toString("utf8");
  if (!Buffer.from(whole).equals(content)) throw new Error(`${number}is not UTF-8: change it with run_command`);
  return whole;
}

async function remove(path: string, place: Place): Promise<void> {
  const target = resolve(place.from, path);
  const file = join(requireInside(await realpath(dirname(target)), place), basename(target));
  if ((await lstat(file)).isDirectory()) throw new Error("is a directory");
  await unlink(file);
}

/** Writes a temporary file and renames it, so that no reader sees a partial file. */
async function write(file: string, content: Buffer, mode: number | undefined): Promise<void> {
  const draft = join(dirname(file), `.runyard-${randomUUID()}`);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const handle = await open(draft, flags, 0o666);
  try {
    if (mode !== undefined) await handle.chmod(mode & 0o7777);
    await handle.writeFile(content);
    await handle.close();
    await rename(draft, file);
  } catch (error) {
    await handle.close().catch(() => {});
    await rm(draft, { force: true });
    throw error;
  }
}

/** Resolves the file to write. Follows links only within the roots. The mode is that of an existing file. */
async function resolveWritable(path: string, place: Place): Promise<{ file: string; mode?: number }> {
  const target = resolve(place.from, path);
  const found = await lstat(target).catch(() => undefined);
  if (found !== undefined) {
    const file = requireInside(await realpath(target), place);
    const stats = await lstat(file);
    if (!stats.isFile()) throw new Error("is not a regular file");
    return { file, mode: stats.mode };
  }
  let above = dirname(target);
  while ((await lstat(above).catch(() => undefined)) === undefined) above = dirname(above);
  const folder = join(requireInside(await realpath(above), place), dirname(target).slice(above.length));
  await mkdir(folder, { recursive: true });
  return { file: join(folder, basename(target)) };
}

async function resolveExisting(path: string, place: Place): Promise<string> {
  return requireInside(await realpath(resolve(place.from, path)), place);
}

function requireInside(file: string, { roots }: Place): string {
  if (roots.some((root) => file === root || file.startsWith(root + sep))) return file;
  throw new Error("is outside the workspace");
}

async function readContent(file: string): Promise<Buffer> {
  // Without O_NONBLOCK, opening a pipe blocks until it has a writer.
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    return await readRegularFile(handle);
  } finally {
    await handle.close();
  }
}

async function readRegularFile(handle: FileHandle): Promise<Buffer> {
  const stats = await handle.stat();
  if (!stats.isFile()) throw new Error("is not a regular file");
  if (stats.size > FILE_BYTES) throw new Error(`has ${stats.size} bytes, more than ${FILE_BYTES}: use run_command`);
  return await handle.readFile();
}

const isBinary = (bytes: Buffer): boolean => bytes.subarray(0, PROBE_BYTES).includes(0);

function toFailure(path: string, error: unknown): Report {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && "code" in error ? String(error.code) : undefined;
  return { path, error: (code !== undefined && REASONS[code]) || message };
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  EACCES: "permission denied",
  EISDIR: "is a directory",
  ENOTDIR: "a part of the path is not a directory",
  ELOOP: "too many symbolic links",
  ENAMETOOLONG: "the path is too long",
};

void main().catch((error: unknown) => {
  process.stdout.write(`\n${JSON.stringify({ error: error instanceof Error ? error.message : String(error) })}\n`);
  process.exitCode = 1;
});
