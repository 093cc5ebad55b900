import { s3Error } from "./s3-errors.ts";

/** Bytes of a file, both ends inclusive. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * The part of a file that a `Range` header asks for; undefined for the whole file, also where the header asks for several
 * parts or for something else, as in S3.
 * @throws S3Error where the file has no such part
 */
export function parseRange(header: string | null, size: number): ByteRange | undefined {
  const [, first = "", last = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? "") ?? [];
  if (first === "" && last === "") return undefined;
  if (first !== "" && last !== "" && Number(last) < Number(first)) return undefined;
  const start = first === "" ? Math.max(size - Number(last), 0) : Number(first);
  const end = first === "" || last === "" ? size - 1 : Math.min(Number(last), size - 1);
  if (start > end) {
    throw s3Error("InvalidRange", "The requested range is not satisfiable", { "content-range": `bytes */${size}` });
  }
  return { start, end };
}
