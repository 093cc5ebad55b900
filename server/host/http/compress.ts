import { promisify } from "node:util";
import { brotliCompress, constants, createGzip, type Gzip, gzip } from "node:zlib";

export type Encoding = "br" | "gzip";

/** Minimum size of compressed bodies in bytes. A smaller body fits into one network packet with its headers. */
const MIN_BYTES = 1_400;
/** Media types whose bytes are text. Images and fonts are compressed by their own formats. */
const TEXT = /^(text\/|application\/(json|problem\+json|manifest\+json|javascript)|image\/svg\+xml)/;
/** Of eleven: a few milliseconds for a page of a list. */
const BROTLI_QUALITY = 4;

const ENCODINGS: readonly Encoding[] = ["br", "gzip"];

/**
 * The best content coding that a client accepts, by its Accept-Encoding header (RFC 9110, section 12.5.3).
 * @param among those that the content can have, the best first
 */
export function chooseEncoding(accepted: string | undefined, among = ENCODINGS): Encoding | undefined {
  const codings = new Map(
    (accepted ?? "").split(",").map((coding) => {
      const [name = "", ...parameters] = coding.split(";").map((part) => part.trim().toLowerCase());
      return [name, !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))] as const;
    }),
  );
  return among.find((name) => codings.get(name) ?? codings.get("*") ?? false);
}

export const isCompressible = (type: string, bytes: number): boolean => bytes >= MIN_BYTES && TEXT.test(type);

/** Compresses on a thread of Node's pool. @param quality of Brotli, 0 to 11 */
export function compress(content: Buffer, encoding: Encoding, quality = BROTLI_QUALITY): Promise<Buffer> {
  if (encoding === "gzip") return promisify(gzip)(content);
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: quality,
    [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
  };
  return promisify(brotliCompress)(content, { params });
}

/**
 * Compresses a stream by gzip, and sends each write at once. A stream may be open for long, so it gets 64 KiB of memory, a quarter of the
 * default; Brotli would need several megabytes.
 */
export const compressStream = (): Gzip =>
  createGzip({ flush: constants.Z_SYNC_FLUSH, windowBits: 13, memLevel: 6, level: 6 });
