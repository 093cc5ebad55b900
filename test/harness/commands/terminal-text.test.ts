// biome-ignore-all lint/suspicious/noControlCharactersInRegex: this is about control characters.

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createTerminalText } from "#harness/commands/terminal-text.ts";

function show(...pieces: string[]): string {
  const terminal = createTerminalText();
  return pieces.map((piece) => terminal.push(piece)).join("") + terminal.end();
}

describe("the text of a terminal", () => {
  it.each([
    ["plain lines", "a\nb\n", "a\nb\n"],
    ["lines of Windows", "a\r\nb\r\n", "a\nb\n"],
    ["a line that is written again", "abc\rx\n", "xbc\n"],
    ["a line that is erased", "10%\r\u001b[KDone\n", "Done\n"],
    ["a part that is erased", "abcdef\u001b[3D\u001b[1Kx\u001b[0K\n", "   x\n"],
    ["backspaces", "ab\b\bc\n", "cb\n"],
    ["lines that are drawn again", "a\nb\n\u001b[2A\u001b[Kc\n\u001b[Kd\n", "c\nd\n"],
    ["lines that are erased", "a\nb\nc\n\u001b[3F\u001b[Jx\n", "x\n"],
    ["columns", "\u001b[5Gx\u001b[2Dy\u001b[Cz\n", "   yxz\n"],
    ["colours", "\u001b[31mred\u001b[0m\n", "\u001b[31mred\u001b[0m\n"],
    ["colours of an overwritten line", "\u001b[31m10%\u001b[0m\r20\n", "20%\n"],
    ["titles and modes", "\u001b]0;title\u0007\u001b[?25la\u001b[?25h\u001b(B\n", "a\n"],
    ["a cleared screen", "before\n\u001b[2J\u001b[Hafter\n", "before\nafter\n"],
    ["an unfinished sequence", "a\u001b[3", "a"],
  ])("shows %s", (_, text, shown) => {
    expect(show(text)).toBe(shown);
  });

  it("reaches fifty lines back", () => {
    const lines = Array.from({ length: 60 }, (_, index) => `${index}\n`).join("");
    expect(show(`${lines}\u001b[99Ax`)).toBe(lines.replace("11\n", "x1\n"));
  });

  it("does not depend on the pieces in which the output comes", () => {
    const parts = fc.constantFrom(
      "a",
      "bc\n",
      "\r",
      "\b",
      "\u001b[31m",
      "\u001b[2K",
      "\u001b[A",
      "\u001b[3D",
      "\u001b[J",
      "\u001b[H",
      "\n",
    );
    const texts = fc.array(fc.tuple(parts, fc.boolean()), { maxLength: 30 });
    fc.assert(
      fc.property(texts, (list) => {
        const whole = list.map(([part]) => part).join("");
        const pieces = list.flatMap(([part, isAlone]) => (isAlone ? [...part] : [part]));
        expect(show(...pieces)).toBe(show(whole));
      }),
    );
  });

  it("leaves text without control characters as it is", () => {
    const character = fc.oneof(fc.constant("\n"), fc.string({ unit: "grapheme", minLength: 1, maxLength: 1 }));
    const text = fc.string({ unit: character, maxLength: 20 }).map((some) => some.replaceAll(/[\u001b\r\b]/g, ""));
    const texts = fc.array(text, { maxLength: 20 });
    fc.assert(fc.property(texts, (pieces) => show(...pieces) === pieces.join("")));
  });
});
