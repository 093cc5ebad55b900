import { readFile, realpath } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import path from "node:path";
import * as v from "valibot";
import { chooseEncoding, compress, type Encoding, isCompressible } from "./compress.ts";

const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".json": "application/json",
  ".webmanifest": "application/manifest+json",
  ".woff2": "font/woff2",
};

/** The app shows output of agents, which is untrusted: only its own files may run, and only its own origin may be requested. */
const SAFE_HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cache-control": "no-cache",
};

/** The names of built files contain a hash of their content. */
const IMMUTABLE = { "cache-control": "public, max-age=31536000, immutable" };

/** Of eleven. A built file is compressed once a process, so that it may take a while. */
const BUILT_QUALITY = 9;
/** The compressed built files by coding and path. */
const compressedFiles = new Map<string, Promise<Buffer>>();

/** Serves a file of the web page; addresses without a file, such as /runs/<id>, get the page itself. */
export async function serveWebPage(
  rawUrl: string,
  method: string,
  response: ServerResponse,
  directory: string,
): Promise<void> {
  if (method !== "GET" && method !== "HEAD") {
    return send(response, 405, "text/plain; charset=utf-8", "Only GET and HEAD here.\n", method, {
      allow: "GET, HEAD",
    });
  }
  const requestPath = decodedPath(rawUrl);
  const file = requestPath === undefined ? undefined : await readPageFile(directory, requestPath);
  const isPage =
    requestPath !== undefined && (path.extname(requestPath) !== "" || (await isPageOfApp(directory, requestPath)));
  // The app says in its own words that it has no such page, to people.
  if (file !== undefined && (isPage || isNavigation(response.req))) {
    const isBuilt = requestPath?.startsWith("/assets/") === true;
    const { content, headers } = await encode(file, response.req.headers["accept-encoding"], isBuilt);
    return send(response, isPage ? 200 : 404, file.type, content, method, {
      ...(isBuilt ? IMMUTABLE : {}),
      ...headers,
    });
  }
  send(response, 404, "text/plain; charset=utf-8", "There is no such page. The API is at /api/v1.\n", method);
}

/** Whether a browser requests the page to show it, and not a script or a program. */
function isNavigation({ headers }: IncomingMessage): boolean {
  const mode = headers["sec-fetch-mode"];
  return mode === undefined ? headers.accept?.includes("text/html") === true : mode === "navigate";
}

/**
 * Whether the app has a page at a path. The app lists its paths in a file, in which names with `$` match one segment; an app without
 * the file has all paths.
 */
async function isPageOfApp(directory: string, wanted: string): Promise<boolean> {
  const text = await readFile(path.join(directory, "paths.json"), "utf8").catch(() => undefined);
  if (text === undefined) return true;
  const segments = wanted.replace(/(?<=.)\/$/, "").split("/");
  return v.parse(Paths, text).some((one) => {
    const parts = one.split("/");
    return parts.length === segments.length && parts.every((part, at) => part.startsWith("$") || part === segments[at]);
  });
}

const Paths = v.pipe(v.string(), v.parseJson(), v.array(v.string()));

interface PageFile {
  readonly path: string;
  readonly type: string;
  readonly content: Buffer;
}

/** The file in the best coding that the client accepts. */
async function encode(
  { path: file, type, content }: PageFile,
  accepted: string | undefined,
  isBuilt: boolean,
): Promise<{ readonly content: Buffer; readonly headers: Record<string, string> }> {
  if (!isCompressible(type, content.length)) return { content, headers: {} };
  const vary = { vary: "accept-encoding" };
  const encoding = chooseEncoding(accepted);
  if (encoding === undefined) return { content, headers: vary };
  const compressed = isBuilt ? compressBuilt(file, content, encoding) : compress(content, encoding);
  return { content: await compressed, headers: { ...vary, "content-encoding": encoding } };
}

/** The name of a built file contains a hash of its content, so that its compressed form is cached. The build creates the Brotli form. */
function compressBuilt(file: string, content: Buffer, encoding: Encoding): Promise<Buffer> {
  const key = `${encoding} ${file}`;
  const make = () => compress(content, encoding, BUILT_QUALITY);
  const compressed = compressedFiles.get(key) ?? (encoding === "br" ? readFile(`${file}.br`).catch(make) : make());
  compressedFiles.set(key, compressed);
  return compressed;
}

function decodedPath(rawUrl: string): string | undefined {
  try {
    const decoded = decodeURIComponent(rawUrl.split(/[?#]/, 1)[0] ?? "/");
    return decoded.includes("\0") ? undefined : decoded;
  } catch {
    return undefined;
  }
}

async function readPageFile(directory: string, wanted: string): Promise<PageFile | undefined> {
  const extension = path.extname(wanted).toLowerCase();
  const type = extension === "" ? TYPES[".html"] : TYPES[extension];
  if (type === undefined) return undefined;
  const name = extension === "" ? "index.html" : path.posix.normalize(`/${wanted}`);
  try {
    const root = await realpath(directory);
    const file = await realpath(path.join(root, name));
    // A link that leads out of the directory is not part of the page.
    if (!file.startsWith(root + path.sep)) return undefined;
    return { path: file, type, content: await readFile(file) };
  } catch {
    return undefined;
  }
}

function send(
  response: ServerResponse,
  status: number,
  type: string,
  content: Buffer | string,
  method: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, {
    ...SAFE_HEADERS,
    ...headers,
    "content-type": type,
    "content-length": Buffer.byteLength(content),
  });
  response.end(method === "HEAD" ? undefined : content);
}
