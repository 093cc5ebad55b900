import { Readable } from "node:stream";
import { logLine } from "#shared/log/log.ts";
import { parseRange } from "./byte-range.ts";
import type { DiskFiles, OpenFile } from "./disk-files.ts";
import { receiveForm } from "./receive-form.ts";
import { contentLength, receivePut } from "./receive-upload.ts";
import { S3Error, s3Error, toErrorResponse } from "./s3-errors.ts";
import { checkUploadForm } from "./upload-policy.ts";
import { checkQuery } from "./url-signature.ts";

export interface FileServerOptions {
  readonly files: DiskFiles;
  /** Signs URLs and forms; the file store must have the same one. */
  readonly secret: Uint8Array;
  /** Path of the base URL, such as `/files`. */
  readonly basePath: string;
  /** Pages of which origin may use the URLs. A URL is a right by itself, no cookie is involved. @default "*" */
  readonly allowedOrigin?: string;
  readonly now: () => number;
}

/** Opens the URLs and takes the uploads that `diskFileStore` has signed, with the statuses of S3. */
export function serveFiles(options: FileServerOptions): (request: Request) => Promise<Response> {
  const cors = {
    "access-control-allow-origin": options.allowedOrigin ?? "*",
    "access-control-expose-headers": "ETag, Content-Disposition, Content-Length, Content-Range",
  };
  return async (request) => {
    const response = await respond(request, options);
    for (const [name, value] of Object.entries(cors)) response.headers.set(name, value);
    return response;
  };
}

async function respond(request: Request, options: FileServerOptions): Promise<Response> {
  try {
    const { method } = request;
    if (method === "OPTIONS") return preflight(request);
    if (method === "POST") return await takeForm(request, options);
    if (method !== "GET" && method !== "PUT") throw notAllowed();
    const key = checkedKey(request, options);
    return method === "GET" ? await send(request, key, options) : await receivePut(request, key, options.files);
  } catch (error) {
    return toErrorResponse(toS3Error(error));
  }
}

function takeForm(request: Request, { basePath, secret, files, now }: FileServerOptions): Promise<Response> {
  if (new URL(request.url).pathname !== basePath) throw notAllowed();
  return receiveForm(request, files, (fields) => checkUploadForm(secret, fields, now()));
}

/** The key that the request is for, once its signature was checked. */
function checkedKey({ url, method, headers }: Request, { basePath, secret, now }: FileServerOptions): string {
  const { pathname, searchParams: query } = new URL(url);
  const key = decodeKey(pathname, basePath);
  if (method === "PUT") contentLength({ headers });
  checkQuery(secret, { method, key, query, headers }, now());
  return key;
}

function decodeKey(pathname: string, basePath: string): string {
  if (!pathname.startsWith(`${basePath}/`)) throw s3Error("NoSuchKey", "The specified key does not exist.");
  try {
    return pathname
      .slice(basePath.length + 1)
      .split("/")
      .map(decodeURIComponent)
      .join("/");
  } catch {
    throw s3Error("InvalidArgument", "The key in the URL cannot be decoded.");
  }
}

async function send(request: Request, key: string, { files }: FileServerOptions): Promise<Response> {
  const file = await files.openFile(key);
  if (file === undefined) throw s3Error("NoSuchKey", "The specified key does not exist.");
  try {
    return fileResponse(request, file);
  } catch (error) {
    await file.handle.close();
    throw error;
  }
}

function fileResponse(request: Request, { handle, size, modifiedAt }: OpenFile): Response {
  const { searchParams } = new URL(request.url);
  const range = parseRange(request.headers.get("range"), size);
  const { start, end } = range ?? { start: 0, end: size - 1 };
  const headers = {
    "accept-ranges": "bytes",
    "content-length": String(end - start + 1),
    "content-type": searchParams.get("response-content-type") ?? "application/octet-stream",
    "content-disposition": searchParams.get("response-content-disposition") ?? "attachment",
    etag: `"${size.toString(16)}-${Math.floor(modifiedAt).toString(16)}"`,
    "last-modified": new Date(modifiedAt).toUTCString(),
    // What agents have written shares its origin with the web app: it is never run there.
    "content-security-policy": "default-src 'none'; sandbox",
    "x-content-type-options": "nosniff",
    "cache-control": "private, no-store",
    ...(range === undefined ? {} : { "content-range": `bytes ${start}-${end}/${size}` }),
  };
  const status = range === undefined ? 200 : 206;
  // A stream cannot be told to read nothing.
  const content = handle.createReadStream(size === 0 ? { start: 0, end: 0 } : { start, end });
  return new Response(Readable.toWeb(content), { status, headers });
}

function preflight(request: Request): Response {
  return new Response(null, {
    status: 204,
    headers: {
      "access-control-allow-methods": "GET, PUT, POST",
      "access-control-allow-headers": request.headers.get("access-control-request-headers") ?? "*",
      "access-control-max-age": "3600",
    },
  });
}

const notAllowed = () =>
  s3Error("MethodNotAllowed", "The specified method is not allowed against this resource.", {
    allow: "GET, PUT, POST, OPTIONS",
  });

/** A full disk is told of as such; what else goes wrong is for the log alone. */
function toS3Error(error: unknown): S3Error {
  if (error instanceof S3Error) return error;
  logLine("error", "a file could not be served or taken", { error });
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOSPC" || code === "EDQUOT") return s3Error("InsufficientStorage", "The disk of the server is full.");
  return s3Error("InternalError", "We encountered an internal error. Please try again.");
}
