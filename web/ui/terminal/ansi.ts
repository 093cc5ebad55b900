import Anser from "anser";
import { stripTerminal } from "#shared/wire/terminal-text.ts";

export interface Span {
  readonly text: string;
  /** Class names for the style. Empty for plain text. */
  readonly style: string;
  /** A color that is not one of the palette, as `r, g, b`. */
  readonly color: string | undefined;
}

/** Text with more styled parts than this continues without styles: each part is an element of the page. */
const MAX_SPANS = 2000;

// biome-ignore lint/suspicious/noControlCharactersInRegex: this is the control character that terminals interpret.
const COLORS = /\u001b\[[0-9;:]{0,64}m/g;

/** Removes what would move the cursor of a terminal, and keeps the last state of lines that overwrite themselves. */
export function flattenTerminal(text: string): string {
  const cleaned = stripTerminal(text, true).replaceAll("\r\n", "\n");
  if (!cleaned.includes("\r")) return cleaned;
  return cleaned.split("\n").map(lastState).join("\n");
}

/** What a line shows after it has overwritten itself. */
function lastState(line: string): string {
  const parts = line.split("\r");
  return parts.findLast((part) => part !== "") ?? "";
}

/** Removes colors too, for copying. */
export const stripColors = (text: string): string => flattenTerminal(text).replace(COLORS, "");

/** Splits flattened text into spans of one style. */
export function toSpans(text: string): Span[] {
  if (!text.includes("\u001b")) return [{ text, style: "", color: undefined }];
  const spans: Span[] = [];
  const parts = Anser.ansiToJson(limitColors(text), { json: true, remove_empty: true, use_classes: true });
  for (const { content, fg, bg, fg_truecolor, decorations } of parts) {
    const names = [toClassName("fg", fg), toClassName("bg", bg), ...decorations.map((name) => `ansi-${name}`)];
    spans.push({
      text: content,
      style: names.filter((name) => name !== "").join(" "),
      color: /^\d{1,3}, ?\d{1,3}, ?\d{1,3}$/.test(fg_truecolor ?? "") ? fg_truecolor : undefined,
    });
  }
  return spans;
}

/** The palette's classes. Other colors have no class of their own. */
function toClassName(layer: "fg" | "bg", name: string | null): string {
  const color = /^ansi-((?:bright-)?(?:black|red|green|yellow|blue|magenta|cyan|white))$/.exec(name ?? "")?.[1];
  return color === undefined ? "" : `${layer}-${color}`;
}

function limitColors(text: string): string {
  let count = 0;
  return text.replace(COLORS, (sequence) => {
    count += 1;
    return count < MAX_SPANS ? sequence : count === MAX_SPANS ? "\u001b[0m" : "";
  });
}
