import { StringDecoder } from "node:string_decoder";
import type { Redactor } from "../redaction/redactor.ts";
import { cutBytes, cutBytesFromEnd, toWellFormed } from "../support/text-limits.ts";

/** The captured part of a command's output. */
export interface CapturedOutput {
  readonly text: string;
  readonly truncated: boolean;
}

/** Captures the beginning and the end of a command's output, redacted and in bounded memory. */
export interface OutputCapture {
  /** Adds a stream with its own decoder, so that a character split across two chunks stays whole. */
  stream(): (chunk: Buffer) => void;
  end(): CapturedOutput;
}

export interface OutputLimits {
  /** Bytes of UTF-8 to keep. @default 16384 */
  readonly keepBytes?: number;
  /** Output beyond this many bytes is discarded. @default 10485760 */
  readonly readBytes?: number;
}

const KEEP_BYTES = 16 * 1024;
const READ_BYTES = 10 * 1024 * 1024;
/** The beginning's share of what is kept. */
const HEAD_SHARE = 0.4;
const NOTE_BYTES = 160;

export function createCapture(redactor: Redactor, limits: OutputLimits = {}): OutputCapture {
  const { keepBytes = KEEP_BYTES, readBytes = READ_BYTES } = limits;
  const headBytes = Math.floor((keepBytes - NOTE_BYTES) * HEAD_SHARE);
  const tailBytes = keepBytes - NOTE_BYTES - headBytes;
  const clean = redactor.stream();
  let received = 0;
  let head = "";
  let tail = "";

  const keep = (text: string) => {
    const room = keepBytes - head.length;
    head += text.slice(0, room);
    tail += text.slice(room);
    if (tail.length > 4 * keepBytes) tail = tail.slice(-keepBytes);
  };

  return {
    stream() {
      const decoder = new StringDecoder();
      return (chunk) => {
        const wanted = chunk.subarray(0, Math.max(0, readBytes - received));
        received += chunk.length;
        if (wanted.length > 0) keep(clean.push(decoder.write(wanted)));
      };
    },
    end() {
      keep(clean.end(received > readBytes));
      const whole = toWellFormed(head + tail);
      if (received <= readBytes && Buffer.byteLength(whole) <= keepBytes) return { text: whole, truncated: false };
      const first = cutBytes(toWellFormed(head), headBytes);
      const last = cutBytesFromEnd(toWellFormed(head.slice(first.length) + tail), tailBytes);
      const left = Math.max(0, received - Buffer.byteLength(first) - Buffer.byteLength(last));
      const cap = received > readBytes ? `; output after ${readBytes} bytes was discarded` : "";
      return { text: `${first}\n[... ${left} bytes omitted${cap} ...]\n${last}`, truncated: true };
    },
  };
}
