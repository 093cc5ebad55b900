import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRedactor } from "#harness/redaction/redactor.ts";
import { createLiveStream } from "#harness/reporting/live-stream.ts";
import { stripTerminal } from "#shared/wire/terminal-text.ts";
import { printable } from "../../cli/src/terminal-text.ts";
import { stripColors } from "../../web/ui/terminal/ansi.ts";

const SECRET = "ryp_0123456789abcdefghijklmnopqrstuvwxyzABCDEF";

/** What a reader sees of output: as it is, and without what the web app, the command line and terminals strip. */
const READERS: readonly ((text: string) => string)[] = [(text) => text, stripTerminal, stripColors, printable];

function expectHidden(text: string, secret: string): void {
  for (const read of READERS) expect(read(text)).not.toContain(secret);
}

const split = (secret: string, at: number, by: string) => `<${secret.slice(0, at)}${by}${secret.slice(at)}>`;

/** What programs and attackers put between the characters of a secret. */
const SEQUENCES: Readonly<Record<string, string>> = {
  "a color, as of grep --color=always": "\u001b[01;31m\u001b[K",
  "an end of color": "\u001b[m\u001b[K",
  "a color of 24 bits": "\u001b[38:2::10:20:30m",
  "a private mode": "\u001b[?25l",
  "an intermediate character": "\u001b[1 q",
  "a title, ended by BEL": "\u001b]0;a title\u0007",
  "a link, ended by ST": "\u001b]8;;https://example.com\u001b\\",
  "a device control string": "\u001bP$q\u001b\\",
  "an application command": "\u001b_G\u001b\\",
  "an escape of two characters": "\u001b7",
  "an escape with an intermediate character": "\u001b(B",
  "a sequence in a byte of C1": "\u009b31m",
  "a string in bytes of C1": "\u009d0;title\u009c",
  "a null": "\u0000",
  "a bell and a shift": "\u0007\u000e",
  "a mark of direction": "\u200e",
  "an override of direction": "\u202e",
};

describe("a secret in which terminal sequences stand", () => {
  it.each(Object.entries(SEQUENCES))("is redacted in text and in pieces: %s", (_, by) => {
    for (const at of [1, 3, 4, 20, SECRET.length - 1]) {
      const text = split(SECRET, at, by);
      expect(createRedactor([SECRET]).text(text)).toBe("<***>");
      const stream = createRedactor([SECRET]).stream();
      const pieces = [...text].map((character) => stream.push(character)).join("");
      expect(pieces + stream.end()).toBe("<***>");
    }
  });

  it.each(Object.entries(SEQUENCES))("is redacted although it is short: %s", (_, by) => {
    expect(createRedactor(["k3y9z"]).text(split("k3y9z", 2, by))).toBe("<***>");
  });

  it("is redacted in live output after a part was skipped", () => {
    const live = createLiveStream(createRedactor([SECRET]));
    live.skip(10);
    live.push(Buffer.from(`${[...SECRET.slice(20)].join("\u001b[m\u001b[K")}\n${"x".repeat(20)}`));
    expectHidden(live.take()?.text ?? "", SECRET.slice(-8));
  });
});

/** Sequences that do not end, after which some readers show the text and others do not. */
const UNFINISHED: Readonly<Record<string, string>> = {
  "an escape": "\u001b",
  "a control sequence": "\u001b[",
  parameters: "\u001b[38;5",
  "a title": "\u001b]0;",
  "the end of a title": "\u001b]0;a\u001b",
  "a device control string": "\u001bP",
  "a control sequence of C1": "\u009b1",
  "a string of C1": "\u009d",
};

describe("a secret after a sequence that does not end", () => {
  it.each(Object.entries(UNFINISHED))("is redacted in text and in pieces: %s", (_, unfinished) => {
    for (const text of [`${unfinished}${SECRET}`, `a${unfinished}\n${SECRET}\n`]) {
      expectHidden(createRedactor([SECRET]).text(text), SECRET);
      for (let cut = 0; cut <= text.length; cut++) {
        const stream = createRedactor([SECRET]).stream();
        expectHidden(
          stream.push(text.slice(0, cut)) + stream.pause() + stream.push(text.slice(cut)) + stream.end(),
          SECRET,
        );
      }
    }
  });
});

describe("secrets of any text, in any pieces, among any sequences", () => {
  it("are hidden from every reader", () => {
    const noise = fc.constantFrom(
      ...Object.values(SEQUENCES),
      ...Object.values(UNFINISHED),
      " ",
      "\n",
      "a",
      "m",
      "\u001b\\",
    );
    const letters = fc
      .array(fc.constantFrom(..."ab1[;m]Z"), { minLength: 8, maxLength: 24 })
      .map((all) => all.join(""));
    fc.assert(
      fc.property(
        letters,
        fc.array(noise, { maxLength: 40 }),
        fc.array(fc.nat(30), { maxLength: 20 }),
        (secret, between, cuts) => {
          const characters = [...secret];
          const text = `${between.slice(20).join("")}${characters.map((one, index) => one + (between[index] ?? "")).join("")}`;
          const stream = createRedactor([secret]).stream();
          let rest = text;
          let shown = "";
          for (const cut of cuts) {
            shown += stream.push(rest.slice(0, cut));
            rest = rest.slice(cut);
          }
          expectHidden(shown + stream.push(rest) + stream.end(), secret);
        },
      ),
      { numRuns: 2_000, seed: 20261128 },
    );
  });
});

describe("a secret with quotes, as programs quote it", () => {
  const quotes = `it's"q\\${SECRET.slice(4, 20)}`;
  const single = quotes.replaceAll('"', "");
  const double = quotes.replaceAll("'", "");
  it.each([
    ["shlex.quote", quotes, `'${quotes.replaceAll("'", `'"'"'`)}'`],
    ["html with &apos;", quotes, quotes.replaceAll("'", "&apos;").replaceAll('"', "&quot;")],
    ["Python's repr of both kinds", quotes, `'${quotes.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`],
    ["Python's repr of a single quote", single, `"${single.replaceAll("\\", "\\\\")}"`],
    ["Python's repr of a double quote", double, `'${double.replaceAll("\\", "\\\\")}'`],
  ])("is redacted: %s", (_, secret, printed) => {
    expect(createRedactor([secret]).text(printed).slice(1, -1)).toBe(
      "***".slice(printed.startsWith("it") ? 1 : 0, printed.startsWith("it") ? -1 : 3),
    );
  });
});
