import type { Block, Message } from "#shared/wire/conversation.ts";
import { findSecretMembers, listEncodings } from "./encodings.ts";
import { ANCHOR, createPatterns, isSpace, type Pattern, type Patterns } from "./patterns.ts";

/** Takes planted secrets out of everything that leaves the sandbox. */
export interface Redactor {
  /** The text without any known secret. */
  text(text: string): string;
  /** The same for every string inside a JSON value, member names included. */
  json<T>(value: T): T;
  /** The same for all that is said in a message; what the protocol alone fills in stays. */
  message(message: Message): Message;
  /** Redacts a text that comes in pieces, also where a secret lies across two of them. */
  stream(): RedactingStream;
  /** Makes one more value a secret, for every text and stream that begins from now on. */
  add(secret: string): void;
}

/** Holds back so much of the end that no secret can be cut in two. */
export interface RedactingStream {
  push(piece: string): string;
  /** The rest. Where the text goes on but is not read any further, what may be the beginning of a secret is one. */
  end(goesOn?: boolean): string;
}

/** Shorter values cannot be told from ordinary words, and can be guessed anyway. */
const MIN_SECRET_LENGTH = ANCHOR;
/** Shorter spellings are only looked for as they are, without white space between their characters. */
const MIN_WRAPPED_LENGTH = 8;
/** Longer runs of white space are no mere wrapping of a line. */
const MAX_SPACES = 256;
const MARK = "***";

/**
 * This guards against accidents: a command that prints its environment, an error that quotes a URL. It is no wall: who
 * holds a secret can always spell it in a way that no pattern knows. The wall is what a run's key may do.
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
    add,
  };
}

/** From the first character of a secret to its last. */
type Found = readonly [start: number, end: number];

function createStream(patterns: Patterns): RedactingStream {
  const scan = patterns.scan();
  /** What was not given back yet; all places are counted from its beginning. */
  let held = "";
  let found: Found[] = [];
  /** Up to here the text belongs to a secret whose mark was given back already. */
  let covered = 0;
  let spaces = 0;

  const note = (pattern: Pattern, start: number, end: number) => {
    if (pattern.text.length < MIN_WRAPPED_LENGTH && held.slice(start, end) !== pattern.whole) return;
    found.push([start, end]);
  };
  const read = (from: number) => {
    for (let place = from; place < held.length; place++) {
      const code = held.charCodeAt(place);
      if (!isSpace(code)) {
        spaces = 0;
        scan.next(code, place, (pattern, start) => note(pattern, start, place + 1));
      } else if (++spaces === MAX_SPACES) scan.reset();
    }
  };
  const giveBack = (end: number): string => {
    let shown = "";
    found.sort(([a], [b]) => a - b);
    const later: Found[] = [];
    for (const [from, to] of found) {
      if (from >= Math.max(end, covered)) {
        later.push([from - end, to - end]);
        continue;
      }
      if (from >= covered) shown += held.slice(covered, from) + MARK;
      covered = Math.max(covered, to);
    }
    shown += held.slice(covered, end);
    covered = Math.max(covered - end, 0);
    held = held.slice(end);
    found = later;
    scan.moveStart(end);
    return shown;
  };

  return {
    push(piece) {
      if (patterns.isEmpty) return piece;
      const from = held.length;
      held += piece;
      read(from);
      return giveBack(scan.pendingFrom() ?? held.length);
    },
    end(goesOn = false) {
      const partial = goesOn ? scan.partialFrom() : undefined;
      if (partial !== undefined) found.push([partial, held.length]);
      return giveBack(held.length);
    },
  };
}

/** Ids, times and kinds are not the agent's words, and a message whose kind is a mark would be refused. */
function redactBlock(block: Block, { text, json }: Pick<Redactor, "text" | "json">): Block {
  if (block.type === "text") return { ...block, text: text(block.text) };
  const name = text(block.name);
  if (block.type === "action") return { ...block, name, input: json(block.input) };
  if (block.type === "action_result") return { ...block, name, output: json(block.output) };
  return { ...block, name, data: json(block.data) };
}

function mapStrings<T>(value: T, map: (text: string) => string): T;
function mapStrings(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === "string") return map(value);
  if (Array.isArray(value)) return value.map((item: unknown) => mapStrings(item, map));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [map(name), mapStrings(member, map)]));
}
