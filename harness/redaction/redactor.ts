import type { Block, Message } from "#shared/wire/conversation.ts";
import { createTerminalParser, stripTerminal } from "#shared/wire/terminal-text.ts";
import { findSecretMembers, listEncodings } from "./encodings.ts";
import { ANCHOR, createPatterns, isInvisible, isSpace, type Pattern, type Patterns, type Scan } from "./patterns.ts";

/** Redacts injected secrets from everything that leaves the sandbox. */
export interface Redactor {
  /** Redacts a text. */
  text(text: string): string;
  /** Redacts every string in a JSON value, including member names. */
  json<T>(value: T): T;
  /** Redacts the content of a message, but not its protocol fields. */
  message(message: Message): Message;
  /** Redacts a text that arrives in pieces, including secrets that are split across pieces. */
  stream(): RedactingStream;
  /** The length of the longest encoding of a secret, without white space. */
  longest(): number;
  /** Adds a secret for every text and stream that starts later. */
  add(secret: string): void;
}

/** Holds back the end of the text as far as it may be the beginning of a secret. */
export interface RedactingStream {
  push(piece: string): string;
  /**
   * Returns what is held back because up to three characters may be the beginning of a secret. More characters than these are never
   * returned, and if they turn out to belong to a secret, the rest of it is not.
   */
  pause(): string;
  /** Returns the rest. If the text continues but is not read further, a possible beginning of a secret is redacted. */
  end(goesOn?: boolean): string;
}

/** Shorter values cannot be distinguished from ordinary words, and are easy to guess. */
const MIN_SECRET_LENGTH = ANCHOR;
/** Shorter encodings are only found without white space between their characters. */
const MIN_WRAPPED_LENGTH = 8;
/** More white space than this does not come from line wrapping. */
const MAX_SPACES = 256;
/** More characters of control sequences than these do not color the parts of a secret. */
const MAX_HIDDEN = 8_192;
const MARK = "***";

/**
 * Protects against accidents: a command that prints its environment, an error that quotes a URL. It is not an isolation boundary: code
 * that has a secret can always encode it in a way that no pattern matches. The rights of the run's key are the boundary.
 */
export function createRedactor(secrets: readonly string[]): Redactor {
  const patterns = createPatterns();
  const add = (secret: string) => {
    for (const part of [secret, ...findSecretMembers(secret)]) {
      if (part.trim().length < MIN_SECRET_LENGTH) continue;
      for (const encoding of listEncodings(part)) patterns.add(encoding);
    }
  };
  const text = (value: string) => {
    if (patterns.isEmpty || value.length < MIN_SECRET_LENGTH) return value;
    const whole = createStream(patterns);
    return whole.push(value) + whole.end();
  };
  const json: Redactor["json"] = (value) => mapStrings(value, text);
  for (const secret of secrets) add(secret);
  return {
    text,
    json,
    message: (message) => ({
      ...message,
      content: message.content.map((block) => redactBlock(block, { text, json })),
    }),
    stream: () => createStream(patterns),
    longest: () => patterns.longest,
    add,
  };
}

/** The range of a secret. */
type Found = readonly [start: number, end: number];

/**
 * Searches the text as it is, and without its control sequences, as terminals show it. A sequence that never ends hides text only from some
 * readers, so neither search replaces the other.
 */
function createScans(patterns: Patterns, note: (pattern: Pattern, start: number, end: number, shown: Shown) => void) {
  const parser = createTerminalParser();
  const plain = patterns.scan();
  /** The search without sequences, which is the same as the plain one until there is a sequence. */
  let visible: Scan | undefined;
  let spaces = 0;
  let hidden = 0;
  const both = (): Scan[] => (visible === undefined ? [plain] : [plain, visible]);
  const earliest = (places: readonly (number | undefined)[]): number | undefined => {
    const known = places.filter((place) => place !== undefined);
    return known.length === 0 ? undefined : Math.min(...known);
  };
  const skip = (isInSequence: boolean): void => {
    if (++hidden < MAX_HIDDEN) return;
    hidden = 0;
    for (const scan of isInSequence ? [visible] : both()) scan?.reset();
  };
  return {
    next(code: number, place: number): void {
      const isInSequence = parser.next(code);
      if (isSpace(code)) {
        if (++spaces === MAX_SPACES) for (const scan of both()) scan.reset();
        return;
      }
      spaces = 0;
      if (isInvisible(code)) {
        skip(false);
        return;
      }
      if (isInSequence) {
        visible ??= plain.fork();
        skip(true);
      } else {
        hidden = 0;
        visible?.next(code, place, (pattern, start) => note(pattern, start, place + 1, stripTerminal));
      }
      plain.next(code, place, (pattern, start) => note(pattern, start, place + 1, removeInvisible));
    },
    pendingFrom: () => earliest(both().map((scan) => scan.pendingFrom())),
    partialFrom: () => earliest(both().map((scan) => scan.partialFrom())),
    moveStart(by: number): void {
      for (const scan of both()) scan.moveStart(by);
    },
  };
}

/** What a reader sees of a text. */
type Shown = (text: string) => string;
const removeInvisible: Shown = (text) =>
  [...text].filter((character) => !isInvisible(character.charCodeAt(0))).join("");

function createStream(patterns: Patterns): RedactingStream {
  /** The text that has not been returned yet; all positions count from its beginning. */
  let held = "";
  let found: Found[] = [];
  /** Up to this position the text belongs to a secret that was already replaced. */
  let covered = 0;

  const scan = createScans(patterns, (pattern, start, end, shown) => {
    const isShort = pattern.text.length < MIN_WRAPPED_LENGTH;
    if (!isShort || removeInvisible(shown(held.slice(start, end))) === removeInvisible(pattern.whole)) {
      found.push([start, end]);
    }
  });
  const read = (from: number) => {
    for (let place = from; place < held.length; place++) scan.next(held.charCodeAt(place), place);
  };
  const giveBack = (end: number): string => {
    let redacted = "";
    found.sort(([a], [b]) => a - b);
    const later: Found[] = [];
    for (const [from, to] of found) {
      if (from >= Math.max(end, covered)) {
        later.push([from - end, to - end]);
        continue;
      }
      if (from >= covered) redacted += held.slice(covered, from) + MARK;
      covered = Math.max(covered, to);
    }
    redacted += held.slice(covered, end);
    covered = Math.max(covered - end, 0);
    held = held.slice(end);
    found = later;
    scan.moveStart(end);
    return redacted;
  };

  return {
    push(piece) {
      if (patterns.isEmpty) return piece;
      const from = held.length;
      held += piece;
      read(from);
      // What a pause has returned is before the beginning.
      return giveBack(Math.max(0, scan.pendingFrom() ?? held.length));
    },
    pause: () => (scan.partialFrom() === undefined ? giveBack(held.length) : ""),
    end(goesOn = false) {
      const partial = goesOn ? scan.partialFrom() : undefined;
      if (partial !== undefined) found.push([partial, held.length]);
      return giveBack(held.length);
    },
  };
}

/** Ids, times and types are not written by the agent, and a message with a redacted type would be refused. */
function redactBlock(block: Block, { text, json }: Pick<Redactor, "text" | "json">): Block {
  if (block.type === "text") return { ...block, text: text(block.text) };
  const name = text(block.name);
  if (block.type === "event") return { ...block, name, data: json(block.data) };
  const title = block.title === undefined ? {} : { title: text(block.title) };
  if (block.type === "action") return { ...block, name, ...title, input: json(block.input) };
  const summary = block.summary === undefined ? {} : { summary: text(block.summary) };
  const diff = block.diff === undefined ? {} : { diff: text(block.diff) };
  return { ...block, name, ...title, ...summary, ...diff, output: json(block.output) };
}

/** Levels of a value that are reported. The service refuses values that are nested much deeper, which an MCP server may return. */
const MAX_DEPTH = 200;
const TOO_DEEP = "[omitted: nested too deeply]";

function mapStrings<T>(value: T, map: (text: string) => string, depth?: number): T;
function mapStrings(value: unknown, map: (text: string) => string, depth = 0): unknown {
  if (typeof value === "string") return map(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth >= MAX_DEPTH) return TOO_DEEP;
  if (Array.isArray(value)) return value.map((item: unknown) => mapStrings(item, map, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [map(name), mapStrings(member, map, depth + 1)]),
  );
}
