import { once } from "node:events";
import type { Readable } from "node:stream";
import { Busboy, type BusboyInstance } from "@fastify/busboy";
import type { DiskFiles } from "./disk-files.ts";
import { MAX_UPLOAD_BYTES, parseContentLength, readBody, store } from "./receive-upload.ts";
import { S3Error, s3Error } from "./s3-errors.ts";
import type { AllowedUpload } from "./upload-policy.ts";

/** The limit of S3 for the fields of a form. */
const MAX_FIELD_BYTES = 20_000;
const MAX_FIELDS = 50;

/** Stores the file of an upload form. `check` verifies the fields that precede the file. */
export async function receiveForm(
  request: Request,
  files: DiskFiles,
  check: (fields: ReadonlyMap<string, string>) => AllowedUpload,
): Promise<Response> {
  if (parseContentLength(request) > MAX_UPLOAD_BYTES + MAX_FIELD_BYTES) throw tooLarge();
  const form = readForm(request);
  try {
    const found = await form.file;
    if (found === undefined) throw malformed("The form has no file.");
    const { key, leastBytes, mostBytes } = check(form.fields);
    await store(files, key, { replaces: true }, async (target) => {
      for await (const chunk of readChunks(found)) {
        if (target.bytes + chunk.length > mostBytes) throw tooLarge();
        await target.write(chunk);
      }
      await form.finished;
      if (target.bytes < leastBytes) {
        throw s3Error("EntityTooSmall", "Your proposed upload is smaller than the minimum allowed size");
      }
    });
  } finally {
    form.stop();
  }
  return new Response(null, { status: 204 });
}

interface Form {
  /** The fields that precede the file, by lower-case name. */
  readonly fields: ReadonlyMap<string, string>;
  /** The first file; undefined if there is none. */
  readonly file: Promise<Readable | undefined>;
  /** Resolves at the end of the form. */
  readonly finished: Promise<void>;
  /** Stops reading the request. */
  stop(): void;
}

function readForm(request: Request): Form {
  const fields = new Map<string, string>();
  const parser = makeParser(request);
  const failed = watchFailure(parser);
  const file = readFirstFile(parser, fields);
  let stopped = false;
  const finished = feed(parser, request, failed, () => stopped);
  void finished.catch(() => undefined);
  return {
    fields,
    // A body that ends early may contain no file.
    file: Promise.race([file, finished.then(() => undefined)]),
    finished,
    stop: () => {
      stopped = true;
    },
  };
}

/** Rejects if parsing fails. The parser then emits error events, also on the file, and never finishes. */
function watchFailure(parser: BusboyInstance): Promise<never> {
  const failed = new Promise<never>((_, reject) => {
    const fail = () => reject(malformed("The body is not a complete multipart form."));
    parser.on("error", fail);
    parser.on("file", (_, stream) => stream.on("error", fail));
  });
  void failed.catch(() => undefined);
  return failed;
}

/** Collects the fields up to the first file, and resolves with the file. */
function readFirstFile(parser: BusboyInstance, fields: Map<string, string>): Promise<Readable | undefined> {
  return new Promise((resolve, reject) => {
    let bytes = 0;
    parser.on("field", (name, value, isNameCut, isValueCut) => {
      bytes += Buffer.byteLength(name) + Buffer.byteLength(value);
      const isTooLarge = isNameCut || isValueCut || bytes > MAX_FIELD_BYTES;
      if (isTooLarge) reject(malformed("The fields of the form are too large."));
      const field = name.toLowerCase();
      if (fields.has(field)) reject(malformed("The form has two fields of one name."));
      fields.set(field, value);
    });
    parser.once("file", (_, stream) => {
      // S3 ignores fields after the file.
      parser.removeAllListeners("field");
      resolve(stream);
    });
    parser.once("finish", () => resolve(undefined));
  });
}

/** Feeds the body to the parser until it ends or the form is refused. */
async function feed(
  parser: BusboyInstance,
  request: Request,
  failed: Promise<never>,
  isStopped: () => boolean,
): Promise<void> {
  try {
    await readBody(request, async (chunk) => {
      if (isStopped()) throw malformed("The form was refused.");
      const written = new Promise<void>((resolve, reject) => {
        parser.write(chunk, (error) => (error ? reject(error) : resolve()));
      });
      await Promise.race([written, failed]);
    });
  } catch (error) {
    parser.destroy();
    throw error instanceof S3Error ? error : s3Error("IncompleteBody", "The body ended too early.");
  }
  const end = once(parser, "finish");
  parser.end();
  await Promise.race([end, failed]);
}

function makeParser(request: Request): BusboyInstance {
  try {
    return new Busboy({
      headers: { "content-type": request.headers.get("content-type") ?? "" },
      isPartAFile: (name) => name === "file",
      limits: { fields: MAX_FIELDS, fieldSize: MAX_FIELD_BYTES, files: 1, headerPairs: 20, headerSize: 8_192 },
    });
  } catch {
    throw malformed("The body is not a multipart form.");
  }
}

async function* readChunks(stream: Readable): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of stream) yield chunk;
  } catch {
    throw malformed("The form ended before its file did.");
  }
}

const malformed = (message: string) => s3Error("MalformedPOSTRequest", message);
const tooLarge = () => s3Error("EntityTooLarge", "Your proposed upload exceeds the maximum allowed size");
