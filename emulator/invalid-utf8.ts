import { Transform } from "node:stream";

/** A control character, which JSON allows nowhere: neither in a string nor between values. */
const NEVER_IN_JSON = 0x01;

/**
 * Passes a body on with its length unchanged, and with a byte that no JSON contains where the body is not UTF-8. The emulator reads bodies as
 * text and would put replacement characters in place of what is invalid; this way the service refuses the body, in its own order of checks.
 */
export function spoilInvalidUtf8(): Transform {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  /** Held back, because only the end of the body shows whether it is complete. */
  let last: Buffer | undefined;
  let isSpoilt = false;
  const spoil = (chunk: Buffer | undefined) => {
    if (chunk !== undefined) chunk[0] = NEVER_IN_JSON;
    isSpoilt = true;
  };
  return new Transform({
    transform(chunk: Buffer, _, done) {
      if (!isSpoilt && !decodes(() => decoder.decode(chunk, { stream: true }))) spoil(chunk);
      if (last !== undefined) this.push(last);
      last = chunk;
      done();
    },
    flush(done) {
      if (!isSpoilt && !decodes(() => decoder.decode())) spoil(last);
      done(null, last);
    },
  });
}

function decodes(decode: () => string): boolean {
  try {
    decode();
    return true;
  } catch {
    return false;
  }
}
