const ESCAPE = String.fromCharCode(27);
const COLOURS = new RegExp(`${ESCAPE}\\[[\\d;?]*[A-Za-z]`, "g");

/**
 * Text without what only a terminal understands.
 *
 * @param {string} text
 */
export function plainText(text) {
  return text
    .replaceAll("\r\n", "\n")
    .replace(COLOURS, "")
    .replace(/(?![\n\t])\p{Cc}/gu, "");
}
