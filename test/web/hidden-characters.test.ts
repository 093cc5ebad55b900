import { expect, it } from "vitest";
import { revealHidden } from "../../web/ui/hidden-characters.ts";

it.each([
  ["a direction", "a\u202Eb", "a[U+202E]b"],
  ["no width", "a\u200Bb\uFEFF", "a[U+200B]b[U+FEFF]"],
  ["a tag", "\u{E0041}", "[U+E0041]"],
  ["the fillers of Hangul", "a\u3164b\uFFA0c\u115F", "a[U+3164]b[U+FFA0]c[U+115F]"],
  ["a joiner of combining marks", "a\u034Fb\u0301\u034F", "a[U+034F]b\u0301[U+034F]"],
  ["a pile of combining marks", `a${"\u0301".repeat(50)}b`, `a${"\u0301".repeat(8)}b`],
  ["nothing", "e\u0301 \u{1F468}\u200D\u{1F469} \uD55C\uAE00", "e\u0301 \u{1F468}\u200D\u{1F469} \uD55C\uAE00"],
])("revealHidden shows %s", (_, text, shown) => {
  expect(revealHidden(text)).toBe(shown);
});
