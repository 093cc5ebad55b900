/** Returns the first characters of a text, and no half of a surrogate pair. Reads no more of a long text than that takes. */
export const takeCharacters = (text: string, count: number): string =>
  [...text.slice(0, 2 * count)].slice(0, count).join("");
