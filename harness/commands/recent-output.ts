import { StringDecoder } from "node:string_decoder";
import type { Redactor } from "../redaction/redactor.ts";
import { createTerminalText } from "./terminal-text.ts";

/** The output of a command since it was last read, redacted and in bounded memory. */
export interface RecentOutput {
  /** Adds a stream with its own decoder. */
  stream(): (chunk: Buffer) => void;
  /** Whether there is output that was not taken. */
  hasUnread(): boolean;
  /** Whether a line that was not taken yet has this property. The last line may be incomplete, as a prompt is. */
  hasLine(matches: (line: string) => boolean): boolean;
  /**
   * Returns what was not taken yet, as a terminal shows it.
   * @param keep whether the next call returns it again
   */
  take(keep?: boolean): TakenOutput;
}

export interface TakenOutput {
  readonly text: string;
  /** Characters of older output that were discarded before the text. */
  readonly omitted: number;
}

/** The end of what was not read yet. */
const MAX_CHARACTERS = 16 * 1024;

export function createRecentOutput(redactor: Redactor): RecentOutput {
  const clean = redactor.stream();
  let unread = "";
  let omitted = 0;
  const add = (text: string) => {
    unread += text;
    if (unread.length <= 2 * MAX_CHARACTERS) return;
    omitted += unread.length - MAX_CHARACTERS;
    unread = unread.slice(-MAX_CHARACTERS);
  };
  const show = (): string => {
    const terminal = createTerminalText();
    const visibleText = terminal.push(unread);
    return visibleText + terminal.end();
  };
  return {
    stream() {
      const decoder = new StringDecoder();
      return (chunk) => add(clean.push(decoder.write(chunk)));
    },
    hasUnread: () => unread !== "",
    hasLine: (matches) => unread !== "" && show().split("\n").some(matches),
    take(keep = false) {
      // Characters may be held back because they could begin a secret; a prompt must not wait for them.
      add(clean.pause());
      if (unread.length > MAX_CHARACTERS) {
        omitted += unread.length - MAX_CHARACTERS;
        unread = unread.slice(-MAX_CHARACTERS);
      }
      // What a terminal shows may be a secret that movements of the cursor have put together.
      const recent = { text: redactor.text(show()), omitted };
      if (!keep) {
        unread = "";
        omitted = 0;
      }
      return recent;
    },
  };
}

/** Creates a test for lines that contain a text, in which `*` stands for any characters. Takes linear time for any text and line. */
export function createLineMatcher(wanted: string): (line: string) => boolean {
  const parts = wanted.split("*").filter((part) => part !== "");
  return (line) => {
    let from = 0;
    for (const part of parts) {
      const at = line.indexOf(part, from);
      if (at < 0) return false;
      from = at + part.length;
    }
    return true;
  };
}
