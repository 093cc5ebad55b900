import { createReadStream } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { type ControlPlane, Refused } from "../control-plane/control-plane.ts";
import { uploadFile } from "../control-plane/transfer.ts";
import { type InsideFile, listInside, openInside } from "../files/path-containment.ts";
import type { Redactor } from "../redaction/redactor.ts";
import { createHash } from "../support/lazy-crypto.ts";

export interface ArtifactOptions {
  readonly plane: Pick<ControlPlane, "reportArtifact">;
  readonly redactor: Redactor;
  /** Host path of the directory whose files become artifacts. */
  readonly output: string;
  readonly signal: AbortSignal;
  readonly limits?: ArtifactLimits;
}

export interface ArtifactLimits {
  /** @default 100 */
  readonly files?: number;
  /** @default 104857600 */
  readonly bytesEach?: number;
}

const MAX_FILES = 100;
const FILE_BYTES = 100 * 1024 * 1024;
const PATH_BYTES = 1_024;

export interface ArtifactReport {
  readonly stored: string[];
  /** One sentence for each file that was not stored. */
  readonly left: string[];
}

export interface ArtifactCollector {
  /** Stores new files. `before` is awaited first, unless there is no file. */
  collect(before?: () => Promise<void>): Promise<ArtifactReport>;
  /** The files that are artifacts: hashes by path. */
  stored(): ReadonlyMap<string, string>;
  /** Adds the artifacts that an earlier execution stored. */
  adopt(stored: Iterable<readonly [filepath: string, sha256: string]>): void;
}

/**
 * Stores the regular files in the output directory as artifacts. Their relative paths are redacted, their contents are not changed.
 * A file that is unchanged since an earlier turn is not stored again.
 */
export function createArtifactCollector({
  plane,
  redactor,
  output,
  signal,
  limits = {},
}: ArtifactOptions): ArtifactCollector {
  const { files: maxFiles = MAX_FILES, bytesEach = FILE_BYTES } = limits;
  const known = new Map<string, string>();

  /** Opens the file below the workspace: commands could replace the output directory by a link, but not the workspace. */
  const opened = (filepath: string) => openInside(dirname(output), join(output, filepath));
  const store = async (filepath: string, { path: file, sizeBytes: size }: InsideFile) => {
    const sha256 = await hashFile(file);
    if (known.get(filepath) === sha256) return false;
    const mimeType = guessMimeType(filepath);
    const visiblePath = redactor.text(filepath);
    const data = {
      filepath: visiblePath,
      filename: basename(visiblePath),
      mime_type: mimeType,
      size_bytes: size,
      sha256,
    };
    const artifact = { artifact_type: "FILE", data } as const;
    const { upload } = await plane.reportArtifact(artifact);
    if (upload !== undefined) {
      await uploadFile(upload, file, mimeType, signal);
      await plane.reportArtifact(artifact);
    }
    known.set(filepath, sha256);
    return true;
  };

  return {
    stored: () => known,
    adopt(stored) {
      for (const [filepath, sha256] of stored) known.set(filepath, sha256);
    },
    async collect(before) {
      const report: ArtifactReport = { stored: [], left: [] };
      const { files, unreadable } = await listFiles(output);
      for (const folder of unreadable) report.left.push(`${redactor.text(folder)}: the directory cannot be read`);
      if (files.length > 0) await before?.();
      for (const filepath of files) {
        signal.throwIfAborted();
        if (known.size >= maxFiles && !known.has(filepath)) {
          report.left.push(`${filepath}: over ${maxFiles} files`);
          continue;
        }
        await using file = await opened(filepath).catch((error: unknown) => {
          if (isUnreadable(error)) report.left.push(`${filepath}: it cannot be read`);
          // Otherwise the file was removed or replaced after it was listed.
          return undefined;
        });
        if (file === undefined) continue;
        const reason = findRejection(filepath, file.sizeBytes, bytesEach);
        const outcome = reason ?? (await store(filepath, file).catch(describeRefusal));
        if (typeof outcome === "string") report.left.push(`${filepath}: ${outcome}`);
        else if (outcome) report.stored.push(filepath);
      }
      return report;
    },
  };
}

/** A file that the service refuses is not stored, and the run continues. */
function describeRefusal(error: unknown): string {
  if (error instanceof Refused) return error.detail;
  throw error;
}

/** The most directory entries to read. */
const MAX_NAMES = 10_000;

/**
 * Lists the relative paths of regular files, sorted, and the directories that cannot be read. Does not follow links, including a link in
 * place of the root.
 */
async function listFiles(root: string): Promise<{ files: string[]; unreadable: string[] }> {
  const files: string[] = [];
  const unreadable: string[] = [];
  const folders = [""];
  let names = 0;
  for (let folder = folders.pop(); folder !== undefined && names < MAX_NAMES; folder = folders.pop()) {
    const entries = await listInside(dirname(root), join(root, folder)).catch((error: unknown) => {
      if (isUnreadable(error)) unreadable.push(folder || basename(root));
      return [];
    });
    names += entries.length;
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) folders.push(path);
      else if (entry.isFile()) files.push(path);
    }
  }
  return { files: files.sort(), unreadable };
}

/** Whether it is there, but without the permission to read it, or below too many directories. */
const isUnreadable = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "EACCES" || error.code === "ENAMETOOLONG");

function findRejection(filepath: string, size: number, bytesEach: number): string | undefined {
  if (size > bytesEach) return `larger than ${bytesEach} bytes`;
  if (!filepath.isWellFormed() || filepath.includes("\ufffd") || Buffer.byteLength(filepath) > PATH_BYTES)
    return "its name cannot be stored";
  return undefined;
}

/** The SHA-256 of a file, in hexadecimal digits. */
export async function hashFile(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}

/** Guesses the media type from the file name extension. */
export const guessMimeType = (path: string): string =>
  MIME_TYPES[extname(path).toLowerCase()] ?? "application/octet-stream";

const MIME_TYPES: Readonly<Record<string, string>> = {
  ".md": "text/markdown",
  ".txt": "text/plain",
  ".log": "text/plain",
  ".patch": "text/plain",
  ".diff": "text/plain",
  ".csv": "text/csv",
  ".html": "text/html",
  ".css": "text/css",
  ".js": "text/javascript",
  ".json": "application/json",
  ".jsonl": "application/jsonl",
  ".yaml": "application/yaml",
  ".yml": "application/yaml",
  ".xml": "application/xml",
  ".pdf": "application/pdf",
  ".zip": "application/zip",
  ".gz": "application/gzip",
  ".tar": "application/x-tar",
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".svg": "image/svg+xml",
  ".webp": "image/webp",
};
