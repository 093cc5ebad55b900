import { StringDecoder } from "node:string_decoder";
import { LIVE_TAIL_BYTES } from "#shared/wire/event.ts";
import { createTerminalParser } from "#shared/wire/terminal-text.ts";
import { isInvisible, isSpace } from "../redaction/patterns.ts";
import type { RedactingStream, Redactor } from "../redaction/redactor.ts";
import { cutBytesFromEnd, toWellFormed } from "../support/text-limits.ts";

/** A piece of redacted output, at most LIVE_TAIL_BYTES. */
export interface LivePiece {
  /** Its position in the stream, in bytes. */
  readonly offset: number;
  readonly text: string;
}

/** The output of one command, or one text of a model, while it is being produced. */
export interface LiveStream {
  /** Adds output, not redacted. */
  push(chunk: Buffer): void;
  /** Notes that the next output comes after this many bytes that are missing. */
  skip(bytes: number): void;
  /** Redacts what was added since the last call and returns it. Of much output, only the end is returned. */
  take(): LivePiece | undefined;
  /** Whether the next `take` may return something even if nothing is added. */
  isHolding(): boolean;
  /** Returns the end of what was returned before, for a reader that has nothing yet. */
  repeat(): LivePiece | undefined;
}

/** Output that is kept until the next `take`, besides what redaction needs. */
const KEPT_BYTES = 64 * 1024;

/**
 * Creates a stream that uses a constant amount of memory, and processor time only for the output that is shown. After output was skipped,
 * redaction starts in the middle of the text, where it cannot detect a secret whose beginning is missing; the text there is not shown.
 */
export function createLiveStream(redactor: Redactor): LiveStream {
  const tail = createRawTail(() => KEPT_BYTES + 4 * redactor.longest());
  let decoder = new StringDecoder("utf8");
  let clean = redactor.stream();
  let parser = createTerminalParser();
  /** Characters that redaction still has to read before its result is shown. */
  let hidden = 0;
  let position = 0;
  let visibleText = "";
  /** Whether the last output ended a line, and nothing has followed yet. */
  let isQuiet = false;

  const restart = (skipped: number): void => {
    decoder = new StringDecoder("utf8");
    clean = redactor.stream();
    parser = createTerminalParser();
    hidden = 2 * redactor.longest();
    position += skipped;
  };
  /** Returns where the characters end that are still hidden. What redaction ignores is not counted. */
  const passHidden = (text: string): number => {
    let index = 0;
    for (; hidden > 0 && index < text.length; index++) {
      const code = text.charCodeAt(index);
      if (!parser.next(code) && !isSpace(code) && !isInvisible(code)) hidden--;
    }
    return index;
  };
  const redact = (text: string): string => {
    const cut = passHidden(text);
    // What is held back here begins after the longest secret, so no part of a cut secret is in it.
    position += Buffer.byteLength(clean.push(text.slice(0, cut)));
    return clean.push(text.slice(cut));
  };
  const show = (given: string): LivePiece | undefined => {
    const text = toWellFormed(given);
    if (text === "") return undefined;
    const end = position + Buffer.byteLength(text);
    visibleText = cutBytesFromEnd(visibleText + text, LIVE_TAIL_BYTES);
    position = end;
    const last = cutBytesFromEnd(text, LIVE_TAIL_BYTES);
    return { offset: end - Buffer.byteLength(last), text: last };
  };
  return {
    push: tail.push,
    skip: tail.skip,
    take() {
      const { bytes, skipped } = tail.take();
      if (skipped > 0) {
        visibleText = "";
        restart(skipped);
      }
      if (bytes.length > 0) {
        const text = decoder.write(bytes);
        isQuiet = text.endsWith("\n");
        return show(redact(text));
      }
      const wasQuiet = isQuiet;
      isQuiet = false;
      return wasQuiet ? show(pause(clean, hidden)) : undefined;
    },
    isHolding: () => isQuiet,
    repeat: () =>
      visibleText === "" ? undefined : { offset: position - Buffer.byteLength(visibleText), text: visibleText },
  };
}

/** A line that was followed by nothing is complete; what looks like the first characters of a secret is shown then. */
const pause = (clean: RedactingStream, hidden: number): string => (hidden > 0 ? "" : clean.pause());

/** Keeps the last bytes that were pushed. */
function createRawTail(limit: () => number) {
  let chunks: Buffer[] = [];
  let bytes = 0;
  let skipped = 0;
  return {
    push(chunk: Buffer): void {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes <= 2 * limit()) return;
      const end = Buffer.concat(chunks).subarray(-limit());
      skipped += bytes - end.length;
      chunks = [Buffer.from(end)];
      bytes = end.length;
    },
    skip(missing: number): void {
      skipped += bytes + missing;
      chunks = [];
      bytes = 0;
    },
    take() {
      const pending = { bytes: Buffer.concat(chunks), skipped };
      chunks = [];
      bytes = 0;
      skipped = 0;
      return pending;
    },
  };
}
