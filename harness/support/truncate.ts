import { cutBytes, wellFormed } from "./text-limits.ts";

const NOTE = "\n[... cut ...]";
/** Texts are not cut shorter than this; where even that is too much, the whole becomes one text. */
const SHORTEST = 64;

/** A JSON value in at most about so many bytes: its texts are cut, all at the same length. It is well formed besides. */
export function fitted(value: unknown, bytes: number): unknown {
  for (let longest = bytes; longest >= SHORTEST; longest = Math.floor(longest / 2)) {
    const cut = mapTexts(value, longest);
    if (Buffer.byteLength(JSON.stringify(cut) ?? "null") <= bytes) return cut;
  }
  return cutText(JSON.stringify(value) ?? "null", Math.floor(bytes / 2));
}

function mapTexts(value: unknown, longest: number): unknown {
  if (typeof value === "string") return cutText(value, longest);
  if (Array.isArray(value)) return value.map((item: unknown) => mapTexts(item, longest));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [cutText(name, longest), mapTexts(member, longest)]),
  );
}

function cutText(text: string, longest: number): string {
  const clean = wellFormed(text);
  const start = cutBytes(clean, longest);
  return start.length < clean.length ? start + NOTE : start;
}
