import uFuzzy from "@leeoniya/ufuzzy";
import type { WordFilter } from "#shared/table/run-search.ts";

const WORD = "[\\p{L}\\d]";
const WORDS = new RegExp(`${WORD}+`, "gu");

/** Case and accents do not count. */
const fold = (text: string): string =>
  text
    .normalize("NFKD")
    .replace(/\p{Mark}/gu, "")
    .toLowerCase();

/** Lists the words of a text as searches compare them. */
export const listWords = (text: string): readonly string[] => [...new Set(fold(text).match(WORDS) ?? [])];

/**
 * Creates a filter for each word of `query`, which accepts the words that contain it. A word of four letters or more may have
 * one typo after its first letter: a letter too many, too few, a wrong one, or two swapped.
 */
export function createWordFilters(query: string): readonly WordFilter[] {
  const search = new uFuzzy({
    unicode: true,
    interSplit: "[^\\p{L}\\d]+",
    intraSplit: "\\p{Ll}\\p{Lu}",
    intraBound: "\\p{L}\\d|\\d\\p{L}|\\p{Ll}\\p{Lu}",
    intraChars: WORD,
    intraContr: "'\\p{L}{1,2}\\b",
    intraMode: 1,
  });
  return listWords(query).map((word) => (words) => {
    const found = search.filter([...words], word) ?? [];
    return found.flatMap((index) => words[index] ?? []);
  });
}

/** Creates a test for texts that contain every word of `query`, in any order, also as a part of a word. */
export function createTextMatcher(query: string): (text: string) => boolean {
  const filters = createWordFilters(query);
  return (text) => {
    const haystack = [fold(text)];
    return filters.length > 0 && filters.every((accepted) => accepted(haystack).length > 0);
  };
}
