/** Reads members of values that models and third-party agents made up. */

export type Members = Readonly<Record<string, unknown>>;

export const toMembers = (value: unknown): Members =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};

/** The first of these members that is a text with content. */
export function readText(value: Members, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const found = value[name];
    if (typeof found === "string" && found.trim() !== "") return found;
  }
  return undefined;
}

export function readNumber(value: Members, name: string): number | undefined {
  const found = value[name];
  return typeof found === "number" && Number.isFinite(found) ? found : undefined;
}

export const readList = (value: Members, name: string): readonly unknown[] => {
  const found = value[name];
  return Array.isArray(found) ? found : [];
};

/** Characters that move a terminal's cursor, break lines, or change the direction of text. */
const UNSAFE = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]+/gu;

/** Formats a text as one line of at most `length` characters. */
export function toLine(text: string, length: number): string {
  const line = text
    .toWellFormed()
    .slice(0, 4 * length)
    .replace(UNSAFE, " ")
    .replace(/ {2,}/g, " ")
    .trim();
  return line.length <= length
    ? line
    : `${line
        .slice(0, length - 1)
        .toWellFormed()
        .trimEnd()}…`;
}

/** The part of a text that is searched for its first line. */
export const SEARCHED_CHARACTERS = 16_384;

/** The first line of a text that says something. */
export const firstLine = (text: string): string =>
  text
    .slice(0, SEARCHED_CHARACTERS)
    .split("\n")
    .find((line) => line.trim() !== "") ?? "";

export const formatCount = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;
