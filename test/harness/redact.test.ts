import { describe, expect, it } from "vitest";
import { createRedactor } from "#harness/redact.ts";

const secret = "ryr_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG";

describe("redactor", () => {
  it("takes a secret out of text, whatever stands around it", () => {
    const redactor = createRedactor([secret]);
    expect(redactor.text(`a${secret}b ${secret}`)).toBe("a***b ***");
  });

  it.each([0, 1, 2, 3, 4])("knows the secret's base64 with %i bytes before it", (before) => {
    const redactor = createRedactor([secret]);
    for (const encoding of ["base64", "base64url"] as const) {
      const encoded = Buffer.from(`${"x".repeat(before)}${secret} and more`).toString(encoding);
      const shown = redactor.text(encoded);
      expect(shown).toContain("***");
      expect(shown.length).toBeLessThan(encoded.length - secret.length);
    }
  });

  it("knows the forms of a secret in URLs, JSON and hexadecimal", () => {
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

  it.each([1, 2, 3, 7, 20, 46])("finds a secret that comes in pieces of %i characters", (size) => {
    const stream = createRedactor([secret]).stream();
    const text = `before ${secret} between ${secret}${secret} after`;
    let shown = "";
    for (let start = 0; start < text.length; start += size) shown += stream.push(text.slice(start, start + size));
    expect(shown + stream.end()).toBe("before *** between ****** after");
  });

  it("leaves everything else as it was, however it is cut", () => {
    const stream = createRedactor([secret]).stream();
    const text = `${secret.slice(0, 30)} is not the whole, and neither is ${secret.slice(5)}`;
    expect(stream.push(text.slice(0, 10)) + stream.push(text.slice(10)) + stream.end()).toBe(text);
  });

  it("does not take short values for secrets, and learns new ones later", () => {
    const redactor = createRedactor(["abc"]);
    expect(redactor.text("abc")).toBe("abc");
    redactor.add("a-longer-secret");
    expect(redactor.text("this is a-longer-secret")).toBe("this is ***");
  });
});
