import { cutBytes, toWellFormed } from "./text-limits.ts";

const NOTE = "\n[... truncated ...]";
/** Texts are not truncated below this. If the value is still too large, it becomes one truncated text. */
const MIN_TEXT_BYTES = 64;

/** Truncates the texts in a JSON value, all to the same length, until the value fits. The result is well formed. */
export function truncate(value: unknown, bytes: number): unknown {
  for (let longest = bytes; longest >= MIN_TEXT_BYTES; longest = Math.floor(longest / 2)) {
    const cut = truncateTexts(value, longest);
    if (Buffer.byteLength(JSON.stringify(cut) ?? "null") <= bytes) return cut;
  }
  return truncateText(JSON.stringify(value) ?? "null", Math.floor(bytes / 2));
}

function truncateTexts(value: unknown, longest: number): unknown {
  if (typeof value === "string") return truncateText(value, longest);
  if (Array.isArray(value)) return value.map((item: unknown) => truncateTexts(item, longest));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [truncateText(name, longest), truncateTexts(member, longest)]),
  );
}

/** Truncates a text, and says so at its end. The result is well formed. */
export function truncateText(text: string, longest: number): string {
  const clean = toWellFormed(text);
  const start = cutBytes(clean, longest);
  return start.length < clean.length ? start + NOTE : start;
}
