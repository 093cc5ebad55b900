import { StringDecoder } from "node:string_decoder";
import type { Redactor } from "../redaction/redactor.ts";

/** What a command printed, as far as it is kept. */
export interface CapturedOutput {
  readonly text: string;
  readonly truncated: boolean;
}

/** Collects what a command prints: its beginning and its end, without secrets, in bounded memory. */
export interface OutputCapture {
  /** One decoder a stream, so that characters that come in two pieces stay whole. */
  stream(): (chunk: Buffer) => void;
  end(): CapturedOutput;
}

export interface OutputLimits {
  /** The most that is kept, in bytes of UTF-8. @default 16384 */
  readonly keepBytes?: number;
  /** What comes after so many bytes is read and dropped, in bytes. @default 10485760 */
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
      const cap = received > readBytes ? `; what came after ${readBytes} bytes was not read` : "";
      return { text: `${first}\n[... ${left} bytes left out${cap} ...]\n${last}`, truncated: true };
    },
  };
}

/** The longest beginning of the text that fits into so many bytes of UTF-8, never half a character. */
export function cutBytes(text: string, bytes: number): string {
  const buffer = Buffer.from(text);
  if (buffer.length <= bytes) return text;
  let end = Math.max(0, bytes);
  while (end > 0 && isContinuation(buffer[end])) end--;
  return buffer.toString("utf8", 0, end);
}

/** Without what JSON on the wire refuses: NUL characters and lone surrogates. */
export function toWellFormed(text: string): string {
  return text.replaceAll("\0", "\ufffd").toWellFormed();
}

/** The longest end of the text that fits into so many bytes of UTF-8, never half a character. */
export function cutBytesFromEnd(text: string, bytes: number): string {
  const buffer = Buffer.from(text);
  let start = Math.max(0, buffer.length - bytes);
  while (start < buffer.length && isContinuation(buffer[start])) start++;
  return buffer.toString("utf8", start);
}

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;
