import { Readable } from "node:stream";
import { logLine } from "#shared/log/log.ts";
import { parseRange } from "./byte-range.ts";
import type { DiskFiles, OpenFile } from "./disk-files.ts";
import { receiveForm } from "./receive-form.ts";
import { parseContentLength, receivePut } from "./receive-upload.ts";
import { S3Error, s3Error, toErrorResponse } from "./s3-errors.ts";
import { verifyUploadForm } from "./upload-policy.ts";
import { verifyQuery } from "./url-signature.ts";

export interface FileServerOptions {
  readonly files: DiskFiles;
  /** Verifies URLs and forms; must equal the secret of the file store. */
  readonly secret: Uint8Array;
  /** Path of the base URL, such as `/files`. */
  readonly basePath: string;
  /** Origin whose pages may use the URLs. The URLs carry their own authorization; no cookies are involved. @default "*" */
  readonly allowedOrigin?: string;
  readonly now: () => number;
}

/** Serves the downloads and accepts the uploads that `diskFileStore` signed, with the status codes of S3. */
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
    if (method === "POST") return await acceptForm(request, options);
    if (method !== "GET" && method !== "PUT") throw notAllowed();
    const key = verifyKey(request, options);
    return method === "GET" ? await send(request, key, options) : await receivePut(request, key, options.files);
  } catch (error) {
    return toErrorResponse(toS3Error(error));
  }
}

function acceptForm(request: Request, { basePath, secret, files, now }: FileServerOptions): Promise<Response> {
  if (new URL(request.url).pathname !== basePath) throw notAllowed();
  return receiveForm(request, files, (fields) => verifyUploadForm(secret, fields, now()));
}

/** Returns the key of the request after verifying its signature. */
function verifyKey({ url, method, headers }: Request, { basePath, secret, now }: FileServerOptions): string {
  const { pathname, searchParams: query } = new URL(url);
  const key = decodeKey(pathname, basePath);
  if (method === "PUT") parseContentLength({ headers });
  verifyQuery(secret, { method, key, query, headers }, now());
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
    // Files written by agents share the origin of the web app and must never execute there.
    "content-security-policy": "default-src 'none'; sandbox",
    "x-content-type-options": "nosniff",
    "cache-control": "private, no-store",
    ...(range === undefined ? {} : { "content-range": `bytes ${start}-${end}/${size}` }),
  };
  const status = range === undefined ? 200 : 206;
  // `end` is inclusive, so a range cannot be empty; an empty file yields no bytes anyway.
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

/** Reports a full disk as such; the details of other errors are logged only. */
function toS3Error(error: unknown): S3Error {
  if (error instanceof S3Error) return error;
  logLine("error", "a file could not be served or taken", { error });
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOSPC" || code === "EDQUOT") return s3Error("InsufficientStorage", "The disk of the server is full.");
  return s3Error("InternalError", "We encountered an internal error. Please try again.");
}
