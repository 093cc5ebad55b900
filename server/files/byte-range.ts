import { s3Error } from "./s3-errors.ts";

/** A range of bytes; both ends are inclusive. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Parses a `Range` header. Returns undefined for the whole file; like S3, also for several ranges and for other units.
 * @throws S3Error if the file has no such range
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
