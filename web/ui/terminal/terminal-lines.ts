import { safeUrl } from "../safe-url.ts";
import { type Span, toSpans } from "./ansi.ts";

export interface Line {
  readonly number: number;
  readonly spans: readonly Span[];
}

/** Splits text into numbered lines of styled parts. A style goes on in the next line, as in a terminal. */
export function toLines(text: string, first = 1): Line[] {
  const lines: { number: number; spans: Span[] }[] = [{ number: first, spans: [] }];
  for (const span of toSpans(text)) {
    span.text.split("\n").forEach((part, index) => {
      if (index > 0) lines.push({ number: first + lines.length, spans: [] });
      if (part !== "") lines.at(-1)?.spans.push({ ...span, text: part });
    });
  }
  return lines;
}

/** Matches beyond this number are not shown until all of the text is. */
const MAX_MATCHES = 40;

/** The lines that contain a text, in any case, with their numbers. */
export function findLines(text: string, wanted: string): Line[] {
  const searched = wanted.trim().toLowerCase();
  if (searched === "" || !text.toLowerCase().includes(searched)) return [];
  const found: Line[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (!line.toLowerCase().includes(searched)) continue;
    found.push(...toLines(line, index + 1));
    if (found.length >= MAX_MATCHES) break;
  }
  return found;
}

export interface TextPart {
  readonly text: string;
  /** The address that the text is. */
  readonly href?: string;
}

const ADDRESS = /https?:\/\/[^\s"'`<>()[\]{}|\\^]+/g;

/** Finds the addresses in a text that a browser may open. The mark that ends a sentence is no part of one. */
export function findAddresses(text: string): TextPart[] {
  if (!text.includes("://")) return [{ text }];
  const parts: TextPart[] = [];
  let end = 0;
  for (const { 0: match, index } of text.matchAll(ADDRESS)) {
    const address = match.replace(/[.,:;!?]+$/, "");
    const href = safeUrl(address);
    if (href === undefined) continue;
    if (index > end) parts.push({ text: text.slice(end, index) });
    parts.push({ text: address, href });
    end = index + address.length;
  }
  return end < text.length ? [...parts, { text: text.slice(end) }] : parts;
}
