import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findSecretMembers, listEncodings } from "#harness/redaction/encodings.ts";
import { createRedactor } from "#harness/redaction/redactor.ts";

const secret = "ryr_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG";

describe("redactor", () => {
  it("removes a secret from any surrounding text", () => {
    const redactor = createRedactor([secret]);
    expect(redactor.text(`a${secret}b ${secret}`)).toBe("a***b ***");
  });

  it("omits what is nested too deeply to be reported", () => {
    const nest = (levels: number): unknown => (levels === 0 ? secret : [nest(levels - 1)]);
    const { json } = createRedactor([secret]);
    expect(json(nest(199))).toEqual(JSON.parse(`${"[".repeat(199)}"***"${"]".repeat(199)}`));
    const depths = [201, 3_000].map((levels) => JSON.stringify(json(nest(levels))));
    const omitted = `${"[".repeat(200)}"[omitted: nested too deeply]"${"]".repeat(200)}`;
    expect(depths).toEqual([omitted, omitted]);
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
    expect(createRedactor(["01234567"]).text("0123\n4567"), "eight characters").toBe("***");
    expect(createRedactor(["0123456"]).text("0123\n456"), "seven characters").toBe("0123\n456");
    expect(createRedactor([" 4711 "]).text("is 4711."), "without the white space around it").toBe("is ***.");
  });

  it("masks overlapping matches once, and adjacent ones separately", () => {
    const { text } = createRedactor(["abcdefgh", "efghijkl", "cdef"]);
    expect(text("abcdefghijkl cdef efghijklcdef")).toBe("*** *** ******");
  });

  it("holds back a match that a longer secret may still contain", () => {
    const stream = createRedactor(["abcdefgh", "cdef"]).stream();
    expect(stream.push("12abcdef")).toBe("12");
    expect(stream.push("x34")).toBe("ab***x34");
    expect(stream.push("56abcdef") + stream.push("gh78")).toBe("56***78");
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

  it("redacts titles, summaries, diffs, names and data of every kind of block", () => {
    const { message } = createRedactor([secret]);
    const about = { category: "command", name: secret, title: `a ${secret}` } as const;
    const seen = { summary: `b ${secret}`, diff: `c ${secret}`, output: [secret] };
    const shown = message({
      role: "assistant",
      content: [
        { type: "action", id: "1", ...about, input: { [secret]: secret } },
        { type: "action_result", action_id: "1", ...about, ...seen, state: "completed" },
        { type: "event", name: secret, data: { deep: [secret] } },
      ],
    });
    const shownAbout = { category: "command", name: "***", title: "a ***" };
    expect(shown).toEqual({
      role: "assistant",
      content: [
        { type: "action", id: "1", ...shownAbout, input: { "***": "***" } },
        {
          ...{ type: "action_result", action_id: "1", ...shownAbout, state: "completed" },
          ...{ summary: "b ***", diff: "c ***", output: ["***"] },
        },
        { type: "event", name: "***", data: { deep: ["***"] } },
      ],
    });
  });

  it("returns up to three characters of a possible beginning at a pause, and then not the rest of the secret", () => {
    const stream = createRedactor([secret]).stream();
    expect(stream.push(`told: ${secret.slice(0, 3)}`)).toBe("told: ");
    expect(stream.pause()).toBe(secret.slice(0, 3));
    expect(stream.push(`${secret.slice(3)} and ${secret}, too`)).toBe(" and ***, too");
    expect(stream.push(secret.slice(0, 4))).toBe("");
    expect(stream.pause(), "four characters").toBe("");
    expect(stream.push("? no") + stream.end()).toBe(`${secret.slice(0, 4)}? no`);
  });

  it("returns a secret's mark with its last character", () => {
    const stream = createRedactor([secret]).stream();
    expect(stream.push(secret)).toBe("***");
    expect(stream.pause() + stream.end(true)).toBe("");
  });

  it("shows text that only begins like a secret, at a pause and before skipped text", () => {
    const text = `told: ${secret.slice(0, 6)}x`;
    const stream = createRedactor([secret]).stream();
    expect(stream.push(text)).toBe(text);
    expect(stream.push("y") + stream.pause()).toBe("y");
    expect(createRedactor([secret]).stream().push(text)).toBe(text);
    const last = createRedactor([secret]).stream();
    expect(last.push("before ") + last.push(secret.slice(0, 6)) + last.push("x") + last.end(true)).toBe(
      `before ${secret.slice(0, 6)}x`,
    );
  });

  it.each([..."\t\n\v\f\r \u00a0\ufeff"])("matches a secret that is wrapped by the white space %j", (space) => {
    const { text } = createRedactor([secret]);
    expect(text(`<${[...secret].join(space)}>`)).toBe("<***>");
    expect(createRedactor([`${secret.slice(0, 20)}${space}${secret.slice(20)}`]).text(secret)).toBe("***");
  });

  it.each(["\b", "\u000e", "\u001f", "\u0085", "\u202e"])("matches a secret among the invisible %j", (character) => {
    expect(createRedactor([secret]).text(`<${[...secret].join(character)}>`)).toBe("<***>");
  });

  it.each(["!", "\u00a1", "\u200b"])("does not treat %j as white space", (character) => {
    const changed = `${secret.slice(0, 20)}${character}${secret.slice(20)}`;
    expect(createRedactor([secret]).text(changed)).toBe(changed);
  });

  it("matches a secret across 255 characters of white space, and no more", () => {
    const wrap = (spaces: number) => `${secret.slice(0, 20)}${" ".repeat(spaces)}${secret.slice(20)}`;
    const { text, stream } = createRedactor([secret]);
    expect(text(wrap(255))).toBe("***");
    expect(text(`${wrap(256)} ${secret}`)).toBe(`${wrap(256)} ***`);
    const begun = `${secret.slice(0, 20)}${" ".repeat(256)}`;
    for (const text of [begun, `${secret.slice(0, 2)}${" ".repeat(256)}`]) expect(stream().push(text)).toBe(text);
    expect(text(`${secret.slice(0, 2)}${" ".repeat(256)}${secret.slice(2)}`)).not.toContain("***");
    const twice = `${secret.slice(0, 20)}${" ".repeat(200)}${secret.slice(20, 30)}${" ".repeat(200)}${secret.slice(30)}`;
    expect(text(twice), "counted from one character to the next").toBe("***");
  });

  it("matches a secret that overlaps with itself", () => {
    const { text } = createRedactor(["abcdeabcde", "xyxyxyxyxz"]);
    expect(text("<abcdeabcdeabcde>")).toBe("<***>");
    expect(text("<xyxyxyxyxyxyxz>")).toBe("<xyxy***>");
  });

  it("finds what a search for the text itself finds, however a secret repeats itself", () => {
    const letters = (min: number, max: number) =>
      fc.string({ unit: fc.constantFrom("a", "b"), minLength: min, maxLength: max });
    fc.assert(
      fc.property(letters(5, 12), letters(0, 60), (value, rest) => {
        const text = `${rest.slice(0, 20)}${value}${rest.slice(20)}`;
        let [shown, covered] = ["", 0];
        for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1)) {
          if (at >= covered) shown += `${text.slice(covered, at)}***`;
          covered = at + value.length;
        }
        expect(createRedactor([value]).text(text)).toBe(shown + text.slice(covered));
      }),
      { numRuns: 500, seed: 1 },
    );
  });

  it("compares all characters, of any alphabet", () => {
    const { text } = createRedactor(["abcdefgh1234"]);
    // Four characters with the same codes as the first four of the secret.
    expect(text("abb\u0164efgh1234")).toBe("abb\u0164efgh1234");
  });

  it("states the length of the longest encoding", () => {
    expect(createRedactor([]).longest()).toBe(0);
    expect(createRedactor(["twelve-chars"]).longest(), "in hexadecimal").toBe(24);
    expect(createRedactor(["short", "twelve-chars", "seven-7"]).longest()).toBe(24);
    expect(createRedactor(["y".repeat(65_535)]).longest(), "the longest that is searched for").toBe(65_535);
    expect(createRedactor(["y".repeat(65_536)]).longest()).toBe(0);
  });

  it("does not treat short values as secrets, and accepts new ones later", () => {
    const redactor = createRedactor(["abc", "abc    ", "a  b"]);
    const hex = Buffer.from("abc    ").toString("hex");
    expect(redactor.text(`abc ab 616263 ${hex}`)).toBe(`abc ab 616263 ${hex}`);
    redactor.add("a-longer-secret");
    expect(redactor.text("this is a-longer-secret")).toBe("this is ***");
  });
});

/** The output of common encoders for a text. */
function encode(text: string): string[] {
  const json = JSON.stringify(text).slice(1, -1);
  const ascii = json.replace(/[^ -~]/g, (unit) => `\\u00${unit.charCodeAt(0).toString(16)}`);
  const html = text.replace(/[&<>"]/g, (found) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[found] ?? "&quot;");
  const python = json.replaceAll('\\"', '"');
  const strict = (part: string) =>
    encodeURIComponent(part).replace(/[!'()*]/g, (found) => `%${found.charCodeAt(0).toString(16).toUpperCase()}`);
  const form = new URLSearchParams({ x: text }).toString().slice(2).replaceAll("+", "%20");
  const urls = [strict(text), text.split("/").map(strict).join("/"), encodeURIComponent(text), encodeURI(text), form];
  const hex = Buffer.from(text).toString("hex");
  return [
    ...[text, json, ascii, json.replaceAll("/", "\\/")],
    ...[json, ascii].map((once) => JSON.stringify(once).slice(1, -1)),
    ...[html, html.replaceAll("'", "&#39;"), html.replaceAll("'", "&#x27;"), html.replaceAll("'", "&apos;")],
    ...[python, python.split("'").join("\\'")],
    text.split("'").join(`'"'"'`),
    ...[
      text.split("'").join("'\\''"),
      text.replace(/[\\"$`]/g, "\\$&"),
      text.replace(/[^a-zA-Z0-9_@%+=:,./-]/g, "\\$&"),
    ],
    ...urls
      .flatMap((url) => [url, url.replace(/%../g, (code) => code.toLowerCase())])
      .flatMap((url) => [url, url.split("%20").join("+")]),
    ...[hex, hex.toUpperCase()],
    ...[0, 1, 2].flatMap((before) => {
      const bytes = Buffer.concat([Buffer.alloc(before, "x"), Buffer.from(text), Buffer.from("xxx")]);
      const [first, last] = [Math.ceil((before * 8) / 6), Math.floor(((bytes.length - 3) * 8) / 6)];
      return (["base64", "base64url"] as const).map((kind) => bytes.toString(kind).slice(first, last));
    }),
  ];
}

describe("listEncodings", () => {
  it.each([
    "p\"q'r/s<t>&u é $`\\~!*(),;:@=+#[]-._%",
    "ÿþýüûúùø>>>???",
    "twelve bytes",
    "thirteen byte",
    "  white space around it  ",
  ])("lists the encodings of %j that programs print, and nothing else", (value) => {
    expect([...listEncodings(value)].sort()).toEqual([...new Set(encode(value))].sort());
  });

  it("lists the encodings of each line of at least eight characters, without the header and footer of a PEM key", () => {
    const value = "-----BEGIN KEY-----\r\n  line-one\rline-2!\n\nline-03\nlast-line-----\n-----END KEY-----";
    expect([...listEncodings(value)].sort()).toEqual(
      [...new Set([value, "line-one", "last-line-----"].flatMap(encode))].sort(),
    );
    expect([...listEncodings("only-one-line\n")].sort()).toEqual(
      [...new Set(["only-one-line\n", "only-one-line"].flatMap(encode))].sort(),
    );
  });
});

describe("findSecretMembers", () => {
  it("finds members with the names of secrets at any depth, and none with the names of addresses", () => {
    const secrets = ["api_key", "Secret", "TOKEN", "passw0rd", "passphrase", "credentials", "private", "authorization"];
    const others = ["token_uri", "auth_url", "private_key_id", "auth_type", "token_host", "secret_name", "client", "x"];
    const value = Object.fromEntries([...secrets, ...others].map((name) => [name, `value of ${name}`]));
    const found = secrets.map((name) => `value of ${name}`);
    expect(findSecretMembers(JSON.stringify(value)).sort()).toEqual([...found].sort());
    expect(findSecretMembers(` \n[{"deep":${JSON.stringify(value)}}]`).sort()).toEqual([...found].sort());
    expect(findSecretMembers('{"token_uri_suffix": "kept", "key": 5, "auth": null}')).toEqual(["kept"]);
  });

  it.each(["", "key", '"key"', '{"key": "x"', "5", ' x {"key":"x"}'])("finds none in %j", (value) => {
    expect(findSecretMembers(value)).toEqual([]);
  });

  it("are redacted with the document", () => {
    const { text } = createRedactor(['{"client": "public-name", "private_key": "hush-hush"}']);
    expect(text("public-name has hush-hush")).toBe("public-name has ***");
  });
});
