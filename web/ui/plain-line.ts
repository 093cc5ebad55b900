/** The beginning of a text that may be Markdown, on one line and without its marks. */
export const toPlainLine = (text: string): string =>
  text
    .slice(0, 400)
    .replace(/(^|\n)\s*(?:#{1,6}|>|[-*+])\s+/g, "$1")
    .replace(/\*\*|__|`/g, "");
