import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { ControlPlane } from "./api.ts";
import type { Redactor } from "./redact.ts";
import { uploadFile } from "./transfer.ts";

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

export interface ArtifactReport {
  readonly stored: string[];
  /** One sentence each for what was left out. */
  readonly left: string[];
}

export interface ArtifactCollector {
  collect(): Promise<ArtifactReport>;
  /** Takes the files that are there for artifacts already: an earlier execution has stored them. */
  adopt(): Promise<void>;
}

/**
 * Makes artifacts of the files that commands left in their output directory: regular files only, by their relative path,
 * without secrets in it; what is in them stays as it is, byte for byte. A file that is unchanged since an earlier turn is not
 * stored again.
 */
export function createArtifactCollector({
  plane,
  redactor,
  output,
  signal,
  limits = {},
}: ArtifactOptions): ArtifactCollector {
  const { files: mostFiles = 100, bytesEach = 100 * 1024 * 1024 } = limits;
  const known = new Map<string, string>();

  const store = async (filepath: string, size: number) => {
    const file = join(output, filepath);
    const sha256 = await hashOf(file);
    if (known.get(filepath) === sha256) return false;
    const mimeType = MIME_TYPES[extname(filepath).toLowerCase()] ?? "application/octet-stream";
    const shown = redactor.text(filepath);
    const data = { filepath: shown, filename: basename(shown), mime_type: mimeType, size_bytes: size, sha256 };
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
    async adopt() {
      for (const filepath of await filesUnder(output)) known.set(filepath, await hashOf(join(output, filepath)));
    },
    async collect() {
      const report: ArtifactReport = { stored: [], left: [] };
      for (const filepath of await filesUnder(output)) {
        signal.throwIfAborted();
        const { size } = await lstat(join(output, filepath));
        const reason = reasonAgainst(filepath, size, bytesEach);
        if (reason !== undefined) report.left.push(`${filepath}: ${reason}`);
        else if (known.size >= mostFiles && !known.has(filepath))
          report.left.push(`${filepath}: over ${mostFiles} files`);
        else if (await store(filepath, size)) report.stored.push(filepath);
      }
      return report;
    },
  };
}

/** Relative paths of the regular files, sorted; links are not followed, not even in place of the directory itself. */
async function filesUnder(root: string): Promise<string[]> {
  const isDirectory = await lstat(root).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
  if (!isDirectory) return [];
  const walk = async (folder: string): Promise<string[]> => {
    const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(() => []);
    const found = await Promise.all(
      entries.map((entry) => {
        const path = join(folder, entry.name);
        if (entry.isDirectory()) return walk(path);
        return entry.isFile() ? [path] : [];
      }),
    );
    return found.flat();
  };
  return (await walk("")).sort();
}

function reasonAgainst(filepath: string, size: number, bytesEach: number): string | undefined {
  if (size > bytesEach) return `larger than ${bytesEach} bytes`;
  if (!filepath.isWellFormed() || filepath.includes("\ufffd") || Buffer.byteLength(filepath) > 1024)
    return "not a name that can be stored";
  return undefined;
}

/** The SHA-256 of a file, in hexadecimal digits. */
export async function hashOf(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}

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
