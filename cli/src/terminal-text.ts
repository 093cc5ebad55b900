import { stripTerminal } from "../../shared/wire/terminal-text.ts";

// Everything that the command line, the GitHub Action and the local start print goes through here: names, messages and output come from people and programs that
// must not move the cursor, change the terminal's title or clipboard, hide a link's target or reverse the order of what is read.

/** C0 and C1 control characters, and what changes the direction or the lines of text. */
const UNSAFE = /(?!\n)[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu;

const LINE_ENDS = /\r\n|[\n\v\f\r\u0085\p{Zl}\p{Zp}]/gu;

/** Foreign text of several lines, as a terminal shows it without obeying it. */
export const printable = (text: string): string => stripTerminal(text).replaceAll("\t", "  ").replace(UNSAFE, "");

/** Foreign text that is printed within a line of ours: it can begin no line of its own. */
export const oneLine = (text: string): string => printable(text.replace(LINE_ENDS, " "));

const ESCAPE = String.fromCharCode(27);
/** The colours that we paint with, and no other sequence. */
const OUR_STYLES = new RegExp(`(${ESCAPE}\\[(?:[0-2]|3[1-3])m)`);

/** Our own text with its colours, and with any foreign text in it, in a form that is safe for a terminal. */
export function terminalText(text: string): string {
  const parts = text.split(OUR_STYLES);
  return parts.map((part, index) => (index % 2 === 1 ? part : printable(part))).join("");
}

/** As `terminalText`, for one line. */
export const terminalLine = (text: string): string => terminalText(text.replace(LINE_ENDS, " "));

/** A JSON document that means the same, without a character that a terminal obeys. */
export const terminalJson = (json: string): string =>
  json.replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
