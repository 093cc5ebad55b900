/**
 * Characters that have no width or change the direction of text. They can make text read differently from what it is, so
 * they are shown by their code points. Joiners stay where scripts and emoji need them: between visible characters.
 */
const HIDDEN =
  /\u034F|[\u00AD\u061C\u115F\u1160\u180E\u200B\u200E\u200F\u202A-\u202E\u2060-\u2069\u3164\uFEFF\uFFA0\uFFF9-\uFFFB]|[\u{E0000}-\u{E007F}]|(?:\p{M}{8})\p{M}+/gu;

/** Makes hidden characters visible, as in `[U+202E]`. Piles of combining marks are cut. */
export function revealHidden(text: string): string {
  return text.replace(HIDDEN, (match) => {
    if (match.length > 2) return match.slice(0, 8);
    return `[U+${(match.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}]`;
  });
}
