import { describe, expect, it } from "vitest";
import { createCapture } from "#harness/commands/output-capture.ts";
import { createRedactor } from "#harness/redaction/redactor.ts";
import { cutBytes } from "#harness/support/text-limits.ts";

const secret = "ryr_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG";
const redactor = createRedactor([secret]);

function captured(chunks: readonly (string | Buffer)[], limits = {}) {
  const capture = createCapture(redactor, limits);
  const write = capture.stream();
  for (const chunk of chunks) write(Buffer.from(chunk));
  return capture.end();
}

describe("output capture", () => {
  it("keeps a short output whole", () => {
    expect(captured(["one\n", "two\n"])).toEqual({ text: "one\ntwo\n", truncated: false });
  });

  it("keeps beginning and end of long output, within its bytes, and reports how much is omitted", () => {
    const lines = Array.from({ length: 20_000 }, (_, index) => `line ${index} äöü\n`);
    const { text, truncated } = captured(lines);
    expect(truncated).toBe(true);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(16 * 1024);
    expect(text).toMatch(/^line 0 äöü\n/);
    expect(text).toMatch(/line 19999 äöü\n$/);
    const [note = "", omitted, left] = /\[\.\.\. (\d+) lines \((\d+) bytes\) omitted \.\.\.\]\n/.exec(text) ?? [];
    expect(Number(left) + Buffer.byteLength(text) - Buffer.byteLength(note)).toBe(Buffer.byteLength(lines.join("")));
    const shown = text.replace(note, "").split(/(?<=\n)/);
    expect([Number(omitted) + shown.length, shown.every((line) => lines.includes(line))]).toEqual([20_000, true]);
    expect(text.isWellFormed()).toBe(true);
    expect(text).not.toContain("\ufffd");
  });

  it("keeps output of exactly its bytes whole, and cuts one byte more", () => {
    const whole = "x".repeat(1_000);
    expect(captured([whole], { keepBytes: 1_000 })).toEqual({ text: whole, truncated: false });
    const { text, truncated } = captured(["a".repeat(500), "b".repeat(501)], { keepBytes: 1_000 });
    const [head, tail] = [336, 504];
    expect([text, truncated]).toEqual([
      `${"a".repeat(head)}\n[... ${1_001 - head - tail} bytes omitted ...]\n${"b".repeat(501).padStart(tail, "a")}`,
      true,
    ]);
  });

  it("counts bytes and not characters", () => {
    expect(captured(["ä".repeat(501)], { keepBytes: 1_000 }).truncated).toBe(true);
    expect(captured(["ä".repeat(500)], { keepBytes: 1_000 }).truncated).toBe(false);
  });

  it.each([
    ["many chunks", 1],
    ["two chunks", 1_500],
    ["one chunk", 3_000],
  ])("keeps the very end of output that comes in %s", (_, lines) => {
    const numbers = Array.from({ length: 3_000 }, (_, index) => `${index}\n`);
    const chunks = numbers.flatMap((_, at) => (at % lines === 0 ? [numbers.slice(at, at + lines).join("")] : []));
    const { text } = captured(chunks, { keepBytes: 1_000 });
    const all = numbers.join("");
    const [first = "", last = ""] = text.split(/\[\.\.\. .* \.\.\.\]\n/);
    expect([all.startsWith(first), all.endsWith(last), first.length, last.length]).toEqual([true, true, 334, 500]);
  });

  it("keeps output of exactly the bytes that it reads", () => {
    expect(captured(["x".repeat(100)], { readBytes: 100 })).toEqual({ text: "x".repeat(100), truncated: false });
    expect(captured(["x".repeat(101)], { readBytes: 100 })).toEqual({
      text: `${"x".repeat(100)}\n[... 1 bytes omitted; output after 100 bytes was discarded ...]\n`,
      truncated: true,
    });
  });

  it("reads on beyond its limit without keeping it, and reports that", () => {
    const { text, truncated } = captured(["a".repeat(90), "b".repeat(90), "c".repeat(9000)], { readBytes: 100 });
    expect(truncated).toBe(true);
    expect(text).toContain("output after 100 bytes was discarded");
    expect(text).not.toContain("c".repeat(10));
  });

  it("joins a character that arrives in two chunks", () => {
    const bytes = Buffer.from("ä€😀");
    expect(captured([...bytes].map((byte) => Buffer.from([byte]))).text).toBe("ä€😀");
  });

  it("redacts a secret across chunks and at the edge of the kept output", () => {
    for (let offset = 0; offset < 60; offset++) {
      const { text } = captured(["x".repeat(6300 + offset), secret.slice(0, 20), secret.slice(20), "y".repeat(20_000)]);
      expect(text).not.toContain(secret.slice(0, 20));
      expect(text).not.toContain(secret.slice(20));
    }
  });

  it("shows no part of a secret at the limit", () => {
    for (let readBytes = 5; readBytes < 60; readBytes++) {
      const { text } = captured([`key: ${secret} and more`], { readBytes });
      expect(text.replace(/\[\.\.\..*/s, "")).not.toMatch(/ryr_/);
    }
  });

  it("replaces characters that JSON on the wire rejects", () => {
    const { text } = captured([Buffer.from([0x61, 0x00, 0xff, 0x62])]);
    expect(text).toBe("a\ufffd\ufffdb");
  });
});

describe("the captured output that people and models read", () => {
  function shown(text: string, keepBytes = 1_000) {
    const pieces: string[] = [];
    const write = (piece: string) => void pieces.push(piece);
    const openFile = () => ({ path: "/run/output.txt", write, close: () => write("<closed>") });
    const capture = createCapture(redactor, { keepBytes }, { openFile });
    capture.stream()(Buffer.from(text));
    return { ...capture.end(), written: pieces.join("") };
  }

  it("keeps what a terminal shows in the end of a progress bar", () => {
    const bar = Array.from({ length: 3_000 }, (_, index) => `\rDownloading ${Math.floor(index / 30)}% [==>  ]`).join(
      "",
    );
    const redraws = Array.from({ length: 3_000 }, (_, index) => `\r\u001b[2KBuilding ${index}`).join("");
    const { text, written } = shown(`${bar}\nIMPORTANT LINE\n${redraws}\n`);
    expect([text, written]).toEqual(["Downloading 99% [==>  ]\nIMPORTANT LINE\nBuilding 2999\n", ""]);
  });

  it.each([
    ["many lines", "line\n".repeat(1_000)],
    ["one line", "x".repeat(5_000)],
    ["more bytes than characters", "\u20ac".repeat(900)],
  ])("is in a file as a whole if it is too long: %s", (_, text) => {
    const result = shown(text);
    expect(result).toMatchObject({ truncated: true, file: "/run/output.txt", written: `${text}<closed>` });
    expect(result.text).toMatch(/omitted; see \/run\/output\.txt \.\.\.\]\n/);
    expect(Buffer.byteLength(result.text)).toBeLessThanOrEqual(1_000);
  });

  it("shows no secret that moves of the cursor put together", () => {
    expect(shown(`${secret.slice(0, 9)}x\b${secret.slice(9)}\n`).text).toBe("***\n");
  });
});

describe("cutBytes", () => {
  it("never splits a character", () => {
    for (let bytes = 0; bytes <= 10; bytes++) {
      const cut = cutBytes("aä€😀", bytes);
      expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(bytes);
      expect("aä€😀".startsWith(cut)).toBe(true);
    }
  });
});
