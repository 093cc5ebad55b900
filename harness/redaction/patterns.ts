import { isControl } from "#shared/wire/terminal-text.ts";

/** A set of patterns that are searched for together. The time of a search does not depend on their number. */
export interface Patterns {
  add(text: string): void;
  readonly isEmpty: boolean;
  /** The length of the longest pattern, without what is ignored. */
  readonly longest: number;
  /** Starts the search in one text, which is passed character by character. */
  scan(): Scan;
}

export interface Scan {
  /** Adds a character that is not ignored, with its position. Calls `found` for each pattern that ends with it. */
  next(code: number, place: number, found: (pattern: Pattern, start: number) => void): void;
  /** Restarts the search after the current position. */
  reset(): void;
  /** The start of the earliest pattern that the next characters may complete; `undefined` if there is none. */
  pendingFrom(): number | undefined;
  /** Like `pendingFrom`, but only for patterns that have matched several characters. */
  partialFrom(): number | undefined;
  /** Moves the origin of all positions. */
  moveStart(by: number): void;
  /** Returns a search with the same state, which continues on its own. */
  fork(): Scan;
}

export interface Pattern {
  /** Without what is ignored. */
  readonly text: string;
  /** As it was added, trimmed. */
  readonly whole: string;
}

interface Known extends Pattern {
  /** For each matched length, the longest shorter length that matches too. Computed on first use. */
  shorter?: Uint16Array;
}

/** Patterns are found by this many first characters; shorter ones are ignored. */
export const ANCHOR = 4;
const MAX_LENGTH = 65_535;
/** White space that programs insert when they wrap a long text. */
export const isSpace = (code: number): boolean =>
  code === 32 || (code >= 9 && code <= 13) || code === 0xa0 || code === 0xfeff;
/** Characters that neither the web app nor the command line shows: controls, and what changes the direction of text. */
export const isInvisible = (code: number): boolean => isControl(code) || DIRECTIONS.has(code);
const DIRECTIONS = new Set([0x61c, 0x200e, 0x200f, ...range(0x2028, 0x202e), ...range(0x2066, 0x2069)]);
function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

/** Removes from a text what the search ignores. */
const removeIgnored = (text: string): string =>
  [...text].filter((character) => !isIgnored(character.charCodeAt(0))).join("");
const isIgnored = (code: number): boolean => isSpace(code) || isInvisible(code);

/**
 * Ignores white space between the characters of a pattern, because programs wrap long lines, and characters that nobody sees. A match starts with the first four
 * characters of a pattern and continues with the algorithm of Knuth, Morris and Pratt, so no character is read twice.
 */
export function createPatterns(): Patterns {
  const known = new Set<string>();
  const byAnchor = new Map<number, Known[]>();
  /** The beginnings of all patterns that are shorter than an anchor. */
  const beginnings = new Set<string>();
  let longest = 0;
  return {
    add(given) {
      const whole = given.trim();
      const text = removeIgnored(whole);
      if (text.length < ANCHOR || text.length > MAX_LENGTH || known.has(whole)) return;
      known.add(whole);
      longest = Math.max(longest, text.length);
      for (let length = 1; length < ANCHOR; length++) beginnings.add(text.slice(0, length));
      let anchor = 0;
      for (let index = 0; index < ANCHOR; index++) anchor = shift(anchor, text.charCodeAt(index));
      const alike = byAnchor.get(anchor);
      if (alike === undefined) byAnchor.set(anchor, [{ text, whole }]);
      else alike.push({ text, whole });
    },
    get isEmpty() {
      return known.size === 0;
    },
    get longest() {
      return longest;
    },
    scan: () => createScan(byAnchor, beginnings),
  };
}

/** Computes a number from the last four characters, which is unique for Latin text. */
const shift = (window: number, code: number): number => (window << 8) ^ code;

/** What a search has read. */
interface ScanState {
  /** The matched length of each pattern that has matched at least its anchor. */
  readonly matched: ReadonlyMap<Known, number>;
  readonly window: number;
  readonly codes: readonly number[];
  readonly places: readonly number[];
}
const BEGINNING: ScanState = { matched: new Map(), window: 0, codes: [], places: [] };

function createScan(
  byAnchor: ReadonlyMap<number, readonly Known[]>,
  beginnings: ReadonlySet<string>,
  from = BEGINNING,
): Scan {
  const matched = new Map(from.matched);
  let { window } = from;
  let codes = [...from.codes];
  let places = [...from.places];

  const start = (length: number) => places[places.length - length] ?? 0;
  const follow = (pattern: Known, length: number, found: (pattern: Pattern, start: number) => void) => {
    if (length === pattern.text.length) found(pattern, start(length));
    const now = length === pattern.text.length ? getFallbacks(pattern)[length - 1] : length;
    if (now !== undefined && now >= ANCHOR) matched.set(pattern, now);
    else matched.delete(pattern);
  };
  const startsHere = ({ text }: Known) => {
    const first = codes.length - ANCHOR;
    for (let index = 0; index < ANCHOR; index++) if (codes[first + index] !== text.charCodeAt(index)) return false;
    return true;
  };
  const longest = () => Math.max(0, ...matched.values());
  /** The number of last characters that begin a pattern, as far as they are no anchor yet. */
  const begun = () => {
    for (let length = Math.min(codes.length, ANCHOR - 1); length > 0; length--)
      if (beginnings.has(String.fromCharCode(...codes.slice(-length)))) return length;
    return 0;
  };
  const forget = (count: number) => {
    codes = codes.slice(codes.length - count);
    places = places.slice(places.length - count);
  };

  return {
    next(code, place, found) {
      window = shift(window, code);
      codes.push(code);
      places.push(place);
      for (const [pattern, length] of matched) follow(pattern, advanceLength(pattern, length, code), found);
      for (const pattern of byAnchor.get(window) ?? [])
        if (!matched.has(pattern) && startsHere(pattern)) follow(pattern, ANCHOR, found);
    },
    reset() {
      matched.clear();
      window = 0;
      forget(0);
    },
    pendingFrom() {
      const pending = Math.max(begun(), longest());
      return pending === 0 ? undefined : start(pending);
    },
    partialFrom: () => (matched.size === 0 ? undefined : start(longest())),
    moveStart(by) {
      forget(Math.min(places.length, Math.max(ANCHOR, longest())));
      places = places.map((place) => place - by);
    },
    fork: () => createScan(byAnchor, beginnings, { matched, window, codes, places }),
  };
}

/** Computes the matched length after one more character. */
function advanceLength(pattern: Known, length: number, code: number): number {
  let now = length;
  while (now > 0 && pattern.text.charCodeAt(now) !== code) now = getFallbacks(pattern)[now - 1] ?? 0;
  return pattern.text.charCodeAt(now) === code ? now + 1 : now;
}

function getFallbacks(pattern: Known): Uint16Array {
  if (pattern.shorter !== undefined) return pattern.shorter;
  const { text } = pattern;
  const shorter = new Uint16Array(text.length);
  for (let index = 1, length = 0; index < text.length; index++) {
    while (length > 0 && text[index] !== text[length]) length = shorter[length - 1] ?? 0;
    if (text[index] === text[length]) length++;
    shorter[index] = length;
  }
  pattern.shorter = shorter;
  return shorter;
}
