// What terminals obey instead of showing it. The web app and the command line remove it from the output of commands, so redaction looks for
// secrets in what is left: one definition for all of them.

const ESCAPE = 0x1b;
/** The longest parameters of a control sequence, and the longest string, such as a title or the target of a link. */
const MAX_PARAMETERS = 64;
const MAX_STRING = 4096;

/** Which part of a sequence the next character belongs to. */
type State = "text" | "escape" | "control" | "string" | "stringEscape";

export interface TerminalParser {
  /** Takes the next character, and returns whether it is part of a sequence. A sequence may be cut anywhere. */
  next(code: number): boolean;
}

/** Follows text character by character, as ECMA-48 defines sequences, in their 7-bit and 8-bit forms. */
export function createTerminalParser(): TerminalParser {
  let state: State = "text";
  let length = 0;
  const become = (next: State): true => {
    state = next;
    length = 0;
    return true;
  };
  const start = (code: number): boolean => {
    if (code === ESCAPE) return become("escape");
    if (code === 0x9b) return become("control");
    if (isStringStart(code - 0x40)) return become("string");
    state = "text";
    return false;
  };
  const follow: Record<State, (code: number) => boolean> = {
    text: start,
    escape(code) {
      if (code === 0x5b) return become("control");
      if (isStringStart(code)) return become("string");
      if (isBetween(code, 0x20, 0x2f) && ++length <= MAX_PARAMETERS) return true;
      return isBetween(code, 0x30, 0x7e) ? become("text") : start(code);
    },
    control(code) {
      if (isBetween(code, 0x20, 0x3f) && ++length <= MAX_PARAMETERS) return true;
      return isBetween(code, 0x40, 0x7e) ? become("text") : start(code);
    },
    string(code) {
      if (code === ESCAPE) return become("stringEscape");
      if (code === 0x07 || code === 0x9c) return become("text");
      return ++length <= MAX_STRING ? true : start(code);
    },
    stringEscape: (code) => (code === 0x5c ? become("text") : follow.escape(code)),
  };
  return { next: (code) => follow[state](code) };
}

const isBetween = (code: number, first: number, last: number): boolean => code >= first && code <= last;
/** The second characters of the escapes that begin a string: DCS, SOS, OSC, PM and APC. */
const isStringStart = (code: number): boolean => [0x50, 0x58, 0x5d, 0x5e, 0x5f].includes(code);

/** Whether a character outside of sequences is shown by no terminal: all controls but tab, line feed and carriage return. */
export const isControl = (code: number): boolean =>
  (code < 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d) || isBetween(code, 0x7f, 0x9f);

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that terminals obey.
const OBEYED = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above.
const COLOR = /^\u001b\[[0-9;:]*m$/;

/** Removes sequences and controls. `keepsColors`: except for those that set colors. */
export function stripTerminal(text: string, keepsColors = false): string {
  if (!OBEYED.test(text)) return text;
  const parser = createTerminalParser();
  let visibleText = "";
  let sequence = "";
  for (let place = 0; place < text.length; place++) {
    const code = text.charCodeAt(place);
    if (parser.next(code)) {
      sequence = code === ESCAPE ? text.charAt(place) : sequence + text.charAt(place);
      const mayBeColor = keepsColors && code === 0x6d && sequence.length <= MAX_PARAMETERS + 3;
      if (mayBeColor && COLOR.test(sequence)) visibleText += sequence;
    } else {
      sequence = "";
      if (!isControl(code)) visibleText += text.charAt(place);
    }
  }
  return visibleText;
}
