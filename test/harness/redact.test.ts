import { describe, expect, it } from "vitest";
import { createRedactor } from "#harness/redaction/redactor.ts";

const secret = "ryr_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG";

describe("redactor", () => {
  it("removes a secret from any surrounding text", () => {
    const redactor = createRedactor([secret]);
    expect(redactor.text(`a${secret}b ${secret}`)).toBe("a***b ***");
  });

  it.each([0, 1, 2, 3, 4])("matches the secret's base64 with %i bytes before it", (before) => {
    const redactor = createRedactor([secret]);
    for (const encoding of ["base64", "base64url"] as const) {
      const encoded = Buffer.from(`${"x".repeat(before)}${secret} and more`).toString(encoding);
      const shown = redactor.text(encoded);
      expect(shown).toContain("***");
      expect(shown.length).toBeLessThan(encoded.length - secret.length);
    }
  });

  it("matches the forms of a secret in URLs, JSON and hexadecimal", () => {
    const odd = 'pass word/+"quoted"';
    const redactor = createRedactor([odd]);
    for (const form of [encodeURIComponent(odd), JSON.stringify(odd), Buffer.from(odd).toString("hex")])
      expect(redactor.text(`<${form}>`)).toMatch(/^<"?\*\*\*"?>$/);
  });

  it("redacts strings and member names deep inside JSON", () => {
    const redactor = createRedactor([secret]);
    const shown = redactor.json({ list: [{ [secret]: `is ${secret}` }], number: 7, nothing: null });
    expect(shown).toEqual({ list: [{ "***": "is ***" }], number: 7, nothing: null });
  });

  it.each([1, 2, 3, 7, 20, 46])("matches a secret that arrives in chunks of %i characters", (size) => {
    const stream = createRedactor([secret]).stream();
    const text = `before ${secret} between ${secret}${secret} after`;
    let shown = "";
    for (let start = 0; start < text.length; start += size) shown += stream.push(text.slice(start, start + size));
    expect(shown + stream.end()).toBe("before *** between ****** after");
  });

  it("leaves everything else unchanged, for any split", () => {
    const stream = createRedactor([secret]).stream();
    const text = `${secret.slice(0, 30)} is not the whole, and neither is ${secret.slice(5)}`;
    expect(stream.push(text.slice(0, 10)) + stream.push(text.slice(10)) + stream.end()).toBe(text);
  });

  it("matches each line of a multi-line value, but not lines that all such values share", () => {
    const value = "-----BEGIN KEY-----\r\nfirst-line-0123\r\nsecond-line-456\r\n-----END KEY-----\r\n";
    const { text } = createRedactor([value]);
    expect(text(`<${value}>`)).toBe("<***\r\n>");
    expect(text(value.replaceAll("\r\n", " "))).toBe("*** ");
    expect(text("-----BEGIN KEY-----\n  second-line-456")).toBe("-----BEGIN KEY-----\n  ***");
  });

  it("matches a long value across line breaks, and a short one only exactly", () => {
    const { text } = createRedactor(["0123456789", "4711"]);
    expect(text("01234\n   56789")).toBe("***");
    expect(text("47 11, 4\n7\n1\n1, 4711")).toBe("47 11, 4\n7\n1\n1, ***");
  });

  it("masks overlapping matches once, and adjacent ones separately", () => {
    const { text } = createRedactor(["abcdefgh", "efghijkl", "cdef"]);
    expect(text("abcdefghijkl cdef efghijklcdef")).toBe("*** *** ******");
  });

  it("redacts a possible beginning of a secret at the end of input", () => {
    const piece = `told: ${secret.slice(0, 20)}`;
    for (const [goesOn, shown] of [
      [true, "told: ***"],
      [false, piece],
    ] as const) {
      const stream = createRedactor([secret]).stream();
      expect(stream.push(piece) + stream.end(goesOn)).toBe(shown);
    }
  });

  it("redacts a message's texts, and keeps its protocol members", () => {
    const { message } = createRedactor(["completed", "command", "assistant", "2026", "text", "said-it"]);
    const about = { category: "command", name: "run_command" } as const;
    const given = { type: "action_result", action_id: "command-2026", ...about, state: "completed" } as const;
    const timestamp = "2026-05-18T19:00:00.000Z";
    expect(
      message({
        role: "assistant",
        timestamp,
        content: [
          { type: "text", text: "said-it" },
          { ...given, output: { completed: "text" } },
        ],
      }),
    ).toEqual({
      role: "assistant",
      timestamp,
      content: [
        { type: "text", text: "***" },
        { ...given, name: "run_***", output: { "***": "***" } },
      ],
    });
  });

  it("does not treat short values as secrets, and accepts new ones later", () => {
    const redactor = createRedactor(["abc"]);
    expect(redactor.text("abc")).toBe("abc");
    redactor.add("a-longer-secret");
    expect(redactor.text("this is a-longer-secret")).toBe("this is ***");
  });
});
