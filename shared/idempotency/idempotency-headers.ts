import { invalid } from "#shared/errors.ts";

interface IdempotencyHeaders {
  readonly key: string | undefined;
  /** True for a client's automatic retry. */
  readonly repeat: boolean;
}

/** Reads the headers that make a request idempotent. @throws RunyardError naming an invalid one */
export function readIdempotencyHeaders(header: (name: string) => string | undefined): IdempotencyHeaders {
  const key = header("idempotency-key");
  if (key !== undefined && ([...key].length > 255 || !/^[\x20-\x7e]+$/.test(key))) {
    throw invalid("Idempotency-Key", "must have at most 255 printable ASCII characters");
  }
  const retries = header("x-stainless-retry-count") ?? "0";
  if (!/^\d+$/.test(retries)) throw invalid("x-stainless-retry-count", "must be a whole number");
  return { key, repeat: Number(retries) > 0 };
}
