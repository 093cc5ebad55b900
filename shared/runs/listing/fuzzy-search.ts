import uFuzzy from "@leeoniya/ufuzzy";

const WORD = "[\\p{L}\\d]";

/** Case and accents do not count. */
const fold = (text: string): string =>
  text
    .normalize("NFKD")
    .replace(/\p{Mark}/gu, "")
    .toLowerCase();

/**
 * Creates a test for texts that contain every word of `query`, in any order, also as a part of a word. A word of four letters or
 * more may have one typo after its first letter: a letter too many, too few, a wrong one, or two swapped.
 */
export function createTextMatcher(query: string): (text: string) => boolean {
  const search = new uFuzzy({
    unicode: true,
    interSplit: "[^\\p{L}\\d]+",
    intraSplit: "\\p{Ll}\\p{Lu}",
    intraBound: "\\p{L}\\d|\\d\\p{L}|\\p{Ll}\\p{Lu}",
    intraChars: WORD,
    intraContr: "'\\p{L}{1,2}\\b",
    intraMode: 1,
  });
  const words = fold(query).match(new RegExp(`${WORD}+`, "gu")) ?? [];
  return (text) => {
    const haystack = [fold(text)];
    return words.length > 0 && words.every((word) => (search.filter(haystack, word) ?? []).length > 0);
  };
}
