import { describe, expect, it } from "vitest";
import { findAddresses, findLines, type Line, toLines } from "../../web/ui/terminal/terminal-lines.ts";

const texts = (lines: readonly Line[]) =>
  lines.map(({ number, spans }) => [number, spans.map(({ text }) => text).join("")]);

describe("toLines", () => {
  it("numbers lines from the first one, empty ones included", () => {
    expect(texts(toLines("a\n\nb", 12))).toEqual([
      [12, "a"],
      [13, ""],
      [14, "b"],
    ]);
  });

  it("goes on with a style in the next line", () => {
    const styles = toLines("\u001b[31mred\nstill\u001b[0m\nplain").map(({ spans }) => spans[0]?.style);
    expect(styles).toEqual(["fg-red", "fg-red", ""]);
  });
});

describe("findLines", () => {
  it("returns the lines that contain the text in any case, with their numbers", () => {
    const text = Array.from({ length: 500 }, (_, index) => (index % 200 === 199 ? "A Failure" : `line ${index}`)).join(
      "\n",
    );
    expect(texts(findLines(text, " failure "))).toEqual([
      [200, "A Failure"],
      [400, "A Failure"],
    ]);
    expect(findLines(text, "")).toEqual([]);
    expect(findLines(text, "absent")).toEqual([]);
  });

  it("returns at most 40 lines", () => {
    expect(findLines("x\n".repeat(1000), "x")).toHaveLength(40);
  });
});

describe("findAddresses", () => {
  it("finds addresses, without the mark that ends a sentence", () => {
    expect(findAddresses("See https://ci.example/runs/7. Or (http://a.example/b?c=d)")).toEqual([
      { text: "See " },
      { text: "https://ci.example/runs/7", href: "https://ci.example/runs/7" },
      { text: ". Or (" },
      { text: "http://a.example/b?c=d", href: "http://a.example/b?c=d" },
      { text: ")" },
    ]);
  });

  it("leaves out addresses that a browser should not open", () => {
    const text = "https://user:secret@host.example/ javascript://x file:///etc/passwd";
    expect(findAddresses(text)).toEqual([{ text }]);
  });
});
