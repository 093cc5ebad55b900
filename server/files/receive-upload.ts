import type { DiskFiles, IncompleteFile } from "./disk-files.ts";
import { s3Error } from "./s3-errors.ts";

/** The largest upload that S3 accepts in one request. */
export const MAX_UPLOAD_BYTES = 5 * 1024 ** 3;

/** Stores the body of a PUT request whose signature was verified. */
export async function receivePut(request: Request, key: string, files: DiskFiles): Promise<Response> {
  const length = parseContentLength(request);
  if (length > MAX_UPLOAD_BYTES)
    throw s3Error("EntityTooLarge", "Your proposed upload exceeds the maximum allowed size");
  // What the URL was signed for decides which of these headers the request has.
  const checksum = request.headers.get("x-amz-checksum-sha256");
  const replaces = request.headers.get("if-none-match") !== "*";
  if (!replaces && (await files.size(key)) !== undefined) throw existing();
  await store(files, key, { replaces, expectedBytes: length }, async (file) => {
    await readBody(request, async (chunk) => {
      if (file.bytes + chunk.length > length) throw s3Error("IncompleteBody", "The body is longer than Content-Length");
      await file.write(chunk);
    });
    if (file.bytes !== length) throw s3Error("IncompleteBody", "The body is shorter than Content-Length");
    if (checksum !== null && file.digest() !== checksum) {
      throw s3Error("BadDigest", "The SHA256 you specified did not match the calculated checksum.");
    }
  });
  return new Response(null, { status: 200 });
}

/** Parses the Content-Length header, which S3 requires. */
export function parseContentLength(request: Pick<Request, "headers">): number {
  const text = request.headers.get("content-length");
  if (text === null || !/^\d{1,15}$/.test(text)) {
    throw s3Error("MissingContentLength", "You must provide the Content-Length HTTP header.");
  }
  return Number(text);
}

/** Lets `write` write a new file and stores it under its key. Deletes the file on failure. */
export async function store(
  files: DiskFiles,
  key: string,
  how: { readonly replaces: boolean; readonly expectedBytes?: number },
  write: (file: IncompleteFile) => Promise<void>,
): Promise<void> {
  const shortage = files.budget.findShortage(how.expectedBytes);
  if (shortage !== undefined) throw s3Error("InsufficientStorage", `No file can be stored: ${shortage}.`);
  const file = await files.begin();
  try {
    await write(file);
  } catch (error) {
    await file.discard();
    throw error;
  }
  if (!(await file.keep(key, how))) throw existing();
}

/**
 * Reads the body in chunks. If `take` throws, the rest stays unread: cancelling the body would close the connection before the
 * client has received the response.
 */
export async function readBody(request: Request, take: (chunk: Uint8Array) => Promise<void>): Promise<void> {
  const reader = request.body?.getReader();
  if (reader === undefined) return;
  try {
    while (true) {
      const { done, value } = await reader.read();
      if (done) return;
      await take(value);
    }
  } finally {
    reader.releaseLock();
  }
}

const existing = () => s3Error("PreconditionFailed", "At least one of the pre-conditions you specified did not hold");
