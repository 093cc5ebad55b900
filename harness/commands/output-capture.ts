import { StringDecoder } from "node:string_decoder";
import type { Redactor } from "../redaction/redactor.ts";
import { cutBytes, cutBytesFromEnd, toWellFormed } from "../support/text-limits.ts";
import { createTerminalText } from "./terminal-text.ts";

/** The captured part of a command's output. */
export interface CapturedOutput {
  readonly text: string;
  readonly truncated: boolean;
  /** The file with the whole output, as commands see it, if the output was truncated and there is such a file. */
  readonly file?: string;
}

/** A file of a whole output. */
export interface OutputFile {
  /** As commands see it. */
  readonly path: string;
  write(text: string): void;
  close(): void;
}

/** How output that people and models read is captured: as a terminal would show it. */
export interface ShownOutput {
  /** Opens the file for an output that is too long to be kept. */
  readonly openFile: () => OutputFile;
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

export function createCapture(redactor: Redactor, limits: OutputLimits = {}, shown?: ShownOutput): OutputCapture {
  const { keepBytes = KEEP_BYTES, readBytes = READ_BYTES } = limits;
  const clean = redactor.stream();
  const terminal = shown === undefined ? undefined : createTerminalText();
  const keptText = createKeptText(keepBytes, shown?.openFile);
  let received = 0;

  return {
    stream() {
      const decoder = new StringDecoder();
      return (chunk) => {
        const readable = chunk.subarray(0, Math.max(0, readBytes - received));
        received += chunk.length;
        if (readable.length === 0) return;
        const text = clean.push(decoder.write(readable));
        keptText.push(terminal === undefined ? text : terminal.push(text));
      };
    },
    end() {
      const rest = clean.end(received > readBytes);
      // What a terminal shows may be a secret that movements of the cursor have put together.
      if (terminal === undefined) keptText.push(rest);
      else keptText.push(redactor.text(terminal.push(rest) + terminal.end()));
      return keptText.end(Math.max(0, received - readBytes), readBytes);
    },
  };
}

/** Keeps the beginning and the end of a text, and writes all of it to a file if it is too long. */
function createKeptText(keepBytes: number, openFile: (() => OutputFile) | undefined) {
  const headBytes = Math.floor((keepBytes - NOTE_BYTES) * HEAD_SHARE);
  const tailBytes = keepBytes - NOTE_BYTES - headBytes;
  let head = "";
  let tail = "";
  let file: OutputFile | undefined;
  const total = { bytes: 0, lines: 0 };
  const beginFile = () => {
    if (file !== undefined || openFile === undefined) return;
    file = openFile();
    file.write(head);
  };

  return {
    push(text: string) {
      const room = keepBytes - head.length;
      if (text.length > room) {
        beginFile();
        file?.write(text);
      }
      total.bytes += Buffer.byteLength(text);
      total.lines += countLines(text);
      head += text.slice(0, room);
      tail += text.slice(room);
      if (tail.length > 4 * keepBytes) tail = tail.slice(-keepBytes);
    },
    end(discarded: number, readBytes: number): CapturedOutput {
      const whole = toWellFormed(head + tail);
      if (discarded === 0 && Buffer.byteLength(whole) <= keepBytes) return { text: whole, truncated: false };
      // Fewer characters than bytes fit, and then no file was begun.
      beginFile();
      file?.close();
      const first = endAtLine(cutBytes(toWellFormed(head), headBytes));
      const last = startAtLine(cutBytesFromEnd(toWellFormed(head.slice(first.length) + tail), tailBytes));
      const bytes = Math.max(0, total.bytes - Buffer.byteLength(first) - Buffer.byteLength(last)) + discarded;
      const lines = total.lines - countLines(first) - countLines(last);
      const cap = discarded > 0 ? `; output after ${readBytes} bytes was discarded` : "";
      const where = file === undefined ? "" : `; see ${file.path}`;
      const omitted = lines > 0 ? `${lines} lines (${bytes} bytes) omitted` : `${bytes} bytes omitted`;
      const line = first === "" || first.endsWith("\n") ? "" : "\n";
      const text = `${first}${line}[... ${omitted}${cap}${where} ...]\n${last}`;
      return { text, truncated: true, ...(file === undefined ? {} : { file: file.path }) };
    },
  };
}

const countLines = (text: string): number => {
  let lines = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
};

/** Leaves out an incomplete line at the end, unless it is more than half of the text. */
function endAtLine(text: string): string {
  const end = text.lastIndexOf("\n") + 1;
  return end > text.length / 2 ? text.slice(0, end) : text;
}

/** Leaves out an incomplete line at the beginning, unless it is more than half of the text. */
function startAtLine(text: string): string {
  const start = text.indexOf("\n") + 1;
  return start > 0 && start < text.length / 2 ? text.slice(start) : text;
}
