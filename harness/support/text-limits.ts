import { StringDecoder } from "node:string_decoder";
import type { Redactor } from "../redaction/redactor.ts";

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

const NOTE_BYTES = 160;

export function createCapture(redactor: Redactor, limits: OutputLimits = {}): OutputCapture {
  const { keepBytes = 16 * 1024, readBytes = 10 * 1024 * 1024 } = limits;
  const headBytes = Math.floor((keepBytes - NOTE_BYTES) * 0.4);
  const tailBytes = keepBytes - NOTE_BYTES - headBytes;
  const clean = redactor.stream();
  let received = 0;
  let head = "";
  let tail = "";

  const keep = (text: string) => {
    if (head.length < keepBytes) {
      const room = keepBytes - head.length;
      head += text.slice(0, room);
      tail += text.slice(room);
    } else {
      tail += text;
    }
    if (tail.length > 4 * keepBytes) tail = tail.slice(-keepBytes);
  };

  return {
    stream() {
      const decoder = new StringDecoder("utf8");
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

/** Cuts a text to at most this many bytes of UTF-8, never within a character. */
export function cutBytes(text: string, bytes: number): string {
  const buffer = Buffer.from(text);
  if (buffer.length <= bytes) return text;
  let end = Math.max(0, bytes);
  while (end > 0 && isContinuation(buffer[end])) end--;
  return buffer.toString("utf8", 0, end);
}

/** Replaces what the API refuses in JSON: NUL characters and lone surrogates. */
export function toWellFormed(text: string): string {
  return text.replaceAll("\0", "\ufffd").toWellFormed();
}

/** Cuts the beginning of a text so that at most this many bytes of UTF-8 are left, never within a character. */
export function cutBytesFromEnd(text: string, bytes: number): string {
  const buffer = Buffer.from(text);
  let start = Math.max(0, buffer.length - bytes);
  while (start < buffer.length && isContinuation(buffer[start])) start++;
  return buffer.toString("utf8", start);
}

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;
