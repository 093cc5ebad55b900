import { randomBytes, randomUUID } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createCapture } from "#harness/commands/output-capture.ts";
import { createRedactor } from "#harness/redaction/redactor.ts";

const random = (bytes: number) => randomBytes(bytes);
const pem = () => {
  const lines =
    random(240)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN PRIVATE KEY-----\n${lines.join("\n")}\n-----END PRIVATE KEY-----\n`;
};
/** One secret of each kind that teams have. */
const kinds: Readonly<Record<string, () => string>> = {
  "an API key": () => `sk_live_${random(18).toString("base64url")}`,
  "a hexadecimal token": () => random(20).toString("hex"),
  "a base64 key": () => random(33).toString("base64"),
  "a web token": () => [24, 60, 32].map((bytes) => random(bytes).toString("base64url")).join("."),
  "a password": () => `${random(5).toString("base64url")}"'$\\&<>/%+ ${random(5).toString("hex")}!*()~\``,
  "a passphrase": () => `correct horse ${random(4).toString("hex")} battery\tstaple ${random(4).toString("hex")}`,
  "a private key": pem,
  "a connection string": () =>
    `postgres://app:${random(9).toString("base64url")}@db.internal:5432/shop?sslmode=require`,
  "a password of other alphabets": () =>
    `пароль-${random(4).toString("hex")}-密碼-ñandú-😀-${random(3).toString("hex")}`,
  "a JSON document": () => JSON.stringify({ id: randomUUID(), key: random(24).toString("base64"), note: 'say "hi"\n' }),
  "a UUID": () => randomUUID(),
};
const secrets = Object.values(kinds).flatMap((make) => Array.from({ length: 19 }, make));
const redactor = createRedactor(secrets);

const wrapped = (text: string, width: number) => text.replace(new RegExp(`.{${width}}`, "gu"), "$&\n");
const json = (text: string) => JSON.stringify(text);
/** How programs print a value, with other text before and after it. */
const carriers: Readonly<Record<string, (value: string, before: string) => string>> = {
  plain: (value, before) => `${before}${value} end`,
  quoted: (value, before) => `+ curl -H '${before}${value.replaceAll("'", "'\\''")}'`,
  json: (value, before) => `{"a":${json(before + value)}}`,
  "json in json": (value, before) => json(`{"a":${json(before + value)}}`),
  url: (value, before) => `https://x.test/?q=${encodeURIComponent(before + value)}&z=1`,
  form: (value, before) => new URLSearchParams({ [before]: value, z: "1" }).toString(),
  base64: (value, before) => Buffer.from(`${before}${value}\n`).toString("base64"),
  "wrapped base64": (value, before) => wrapped(Buffer.from(`${before}${value}\n`).toString("base64"), 76),
  base64url: (value, before) => Buffer.from(`${before}${value} and more`).toString("base64url"),
  hexadecimal: (value, before) => Buffer.from(before + value).toString("hex"),
  "hexadecimal, byte by byte": (value) => (Buffer.from(value).toString("hex").match(/../g) ?? []).join(" "),
  "wrapped at 20": (value, before) => wrapped(before + value, 20),
};

/** Returns everything that common tools can decode from a text. */
function readings(text: string): string[] {
  const dense = text.replace(/\s+/g, "");
  const unescaped = (from: string) =>
    from
      .replace(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
      .replace(/\\(.)/g, (_, kept: string) => ({ n: "\n", t: "\t" })[kept] ?? kept);
  const percent = (from: string) =>
    Buffer.from(
      from
        .replace(/[^\x20-\x7e]/g, "?")
        .replace(/%([0-9a-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16))),
      "latin1",
    ).toString();
  const runs = (pattern: RegExp, encoding: "base64" | "hex", shifts: number) =>
    (dense.match(pattern) ?? []).flatMap((run) =>
      Array.from({ length: shifts }, (_, shift) => Buffer.from(run.slice(shift), encoding).toString()),
    );
  return [
    text,
    unescaped(text),
    unescaped(unescaped(text)),
    percent(text),
    percent(text.replaceAll("+", " ")),
    text.replaceAll("'\\''", "'"),
    ...runs(/[\w+/-]{8,}/g, "base64", 4),
    ...runs(/[0-9a-f]{8,}/gi, "hex", 2),
  ];
}

const dense = (text: string) => text.replace(/\s+/g, "");
const denseSecrets = secrets.map(dense);

/** Returns the secrets that can be decoded from a text, ignoring white space. */
function readable(text: string): string[] {
  const all = readings(text).map(dense);
  return denseSecrets.filter((secret) => all.some((reading) => reading.includes(secret)));
}

const piece = fc.record({
  secret: fc.constantFrom(...secrets),
  carrier: fc.constantFrom(...Object.values(carriers)),
  before: fc.constantFrom("", "k", "k=", "key=", "{{k}}"),
});

function inChunks(text: string, cuts: readonly number[]): Buffer[] {
  const bytes = Buffer.from(text);
  const at = [...new Set(cuts.map((cut) => Math.floor(cut * bytes.length)))].sort((a, b) => a - b);
  return [...at, bytes.length].map((end, index) => bytes.subarray(at[index - 1] ?? 0, end));
}

describe("two hundred injected secrets", () => {
  it.each(Object.keys(carriers))("are readable in a text that contains each of them: %s", (name) => {
    // Without redaction, the search must find each secret; otherwise the next tests prove nothing.
    for (const secret of secrets.filter((_, index) => index % 19 === 0))
      expect(readable(carriers[name]?.(secret, "k=") ?? "")).toContain(dense(secret));
  });

  it("are redacted in the output of commands, in any encoding and split", () => {
    const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), { maxLength: 40 });
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 8 }), cuts, (pieces, places) => {
        const text = pieces
          .map(({ secret, carrier, before }, index) => `<${index}>\n${carrier(secret, before)}\n</${index}>\n`)
          .join("");
        const capture = createCapture(redactor, { keepBytes: 1_000_000 });
        const write = capture.stream();
        for (const chunk of inChunks(text, places)) write(chunk);
        const shown = capture.end().text;
        expect(readable(shown)).toEqual([]);
        for (const index of pieces.keys()) expect(shown).toMatch(new RegExp(`<${index}>\\n[^]*</${index}>\\n`));
      }),
      { numRuns: 300 },
    );
  });

  it("are redacted in any part of a message", () => {
    fc.assert(
      fc.property(piece, ({ secret, carrier, before }) => {
        const printed = carrier(secret, before);
        const about = { category: "command", name: "run_command" } as const;
        const message = redactor.message({
          role: "assistant",
          content: [
            { type: "text", text: printed },
            { type: "action", id: "1", ...about, input: { [printed]: [printed, { deep: printed }] } },
            { type: "action_result", action_id: "1", ...about, state: "completed", output: printed },
            { type: "event", name: "note", data: printed },
          ],
        });
        expect(readable(JSON.stringify(message))).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });

  it("give the same text for any split", () => {
    const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), { maxLength: 30 });
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 4 }), cuts, (pieces, places) => {
        const text = pieces.map(({ secret, carrier, before }) => carrier(secret, before)).join("");
        const stream = redactor.stream();
        const at = [...new Set(places.map((cut) => Math.floor(cut * text.length)))].sort((a, b) => a - b);
        const parts = [...at, text.length].map((end, index) => stream.push(text.slice(at[index - 1] ?? 0, end)));
        expect(parts.join("") + stream.end()).toBe(redactor.text(text));
      }),
      { numRuns: 100 },
    );
  });

  it("leave two megabytes of other text unchanged", () => {
    const line = `${"The quick brown fox jumps over the lazy dog 0123456789. ".repeat(20)}\n`;
    const text = line.repeat(Math.ceil((2 * 1024 * 1024) / line.length));
    const stream = redactor.stream();
    let shown = "";
    for (let start = 0; start < text.length; start += 10_000) shown += stream.push(text.slice(start, start + 10_000));
    expect(shown + stream.end() === text).toBe(true);
  });
});
