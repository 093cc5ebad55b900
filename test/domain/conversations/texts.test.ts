import fc from "fast-check";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { takeCharacters } from "#shared/characters.ts";
import { attachmentDisposition } from "#shared/files/file-store.ts";
import { canonicalJson } from "#shared/idempotency/canonical-json.ts";
import { deriveUuid, isUuid, uuidv7 } from "#shared/ids.ts";
import { deriveTitle, folded, statusText, toDuration } from "#shared/records/run.ts";
import { keys, sortableTime } from "#shared/table/keys.ts";
import { Timestamp, text, textOfBytes } from "#shared/wire/primitives.ts";

const anyText = fc.string({ unit: "grapheme", maxLength: 300 });
const points = (value: string) => [...value].length;

describe("takeCharacters", () => {
  it.each([
    ["", 2, ""],
    ["ab", 0, ""],
    ["ab", 2, "ab"],
    ["abc", 2, "ab"],
    ["😀😀😀", 2, "😀😀"],
    ["a😀b😀", 3, "a😀b"],
  ])("takes of %j the first %i characters: %j", (value, count, expected) => {
    expect(takeCharacters(value, count)).toBe(expected);
  });
});

// @contract runs.request.title-made
describe("deriveTitle", () => {
  it.each([
    ["# Fix the *tests*\nplease", "Fix the *tests*"],
    ["\n\n  > - quoted\nmore", "quoted"],
    ["```sh\nmake\n```", "make"],
    ["a\r\nb", "a"],
    ["a".repeat(300), `${"a".repeat(119)}…`],
    ["😀".repeat(121), `${"😀".repeat(119)}…`],
  ])("turns %j and %j into a title", (prompt, title) => expect(deriveTitle(prompt, undefined)).toBe(title));

  it("falls back to the skill, and to a title for untitled runs", () => {
    expect(deriveTitle(undefined, "o/r:tidy")).toBe("o/r:tidy");
    expect(deriveTitle(" \n# \n", "o/r:tidy")).toBe("o/r:tidy");
    expect(deriveTitle("", undefined)).toBe("Untitled run");
  });

  it("is one line of 1 to 120 characters without half a character", () => {
    fc.assert(
      fc.property(anyText, (prompt) => {
        const title = deriveTitle(prompt, undefined);
        expect(title).not.toContain("\n");
        expect(title.isWellFormed()).toBe(true);
        expect(points(title)).toBeGreaterThan(0);
        expect(points(title)).toBeLessThanOrEqual(120);
      }),
    );
  });
});

describe("statusText", () => {
  // @contract runs.item.status-sentence: It is one sentence of at most 1,024 characters.
  it("returns one trimmed line of at most 1,024 characters that begins like the message", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 3_000 }), (message) => {
        const line = statusText(message);
        expect(line).toBe(line.trim());
        expect(line).not.toMatch(/[\r\n\t]/);
        expect(points(line)).toBeLessThanOrEqual(1_024);
        expect(message.replace(/\s+/g, " ").trim().startsWith(line.replace(/…$/, ""))).toBe(true);
      }),
    );
    expect(statusText("x".repeat(1_024))).toHaveLength(1_024);
    expect(statusText("x".repeat(1_025))).toBe(`${"x".repeat(1_023)}…`);
  });
});

describe("folded", () => {
  // @contract runs.list.folded
  it("equates texts that differ in case and form only, within 200 characters and a key's bytes", () => {
    expect(folded("Ａ ﬁ Ä")).toBe("a fi ä");
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 600 }), (value) => {
        expect(points(folded(value))).toBeLessThanOrEqual(200);
        expect(Buffer.byteLength(folded(value))).toBeLessThanOrEqual(800);
        expect(folded(folded(value))).toBe(folded(value));
      }),
    );
  });
});

describe("canonicalJson", () => {
  // @contract runs.idempotency.canonical
  it("is equal for equal values in any member order, and parses back to the value", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.func(fc.nat()), (value, order) => {
        const shuffled = shuffle(value, order);
        expect(canonicalJson(shuffled)).toBe(canonicalJson(value));
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it("differs for different values", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        const same = JSON.stringify(shuffle(a, () => 0)) === JSON.stringify(shuffle(b, () => 0));
        if (canonicalJson(a) === canonicalJson(b))
          expect(JSON.parse(JSON.stringify(a))).toEqual(JSON.parse(JSON.stringify(b)));
        if (same) expect(canonicalJson(a)).toBe(canonicalJson(b));
      }),
    );
    expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]));
  });
});

function shuffle(value: unknown, order: (name: string) => number): unknown {
  if (Array.isArray(value)) return value.map((entry) => shuffle(entry, order));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => order(a) - order(b));
  return Object.fromEntries(entries.map(([name, entry]) => [name, shuffle(entry, order)]));
}

describe("ids and keys", () => {
  it("a UUIDv7 is valid, sorts by its time, and is unique", () => {
    fc.assert(
      fc.property(fc.nat({ max: 2 ** 47 }), fc.nat({ max: 2 ** 47 }), (a, b) => {
        const [first, second] = [uuidv7(a), uuidv7(b)];
        expect(isUuid(first)).toBe(true);
        expect(first[14]).toBe("7");
        if (a !== b) expect(first < second).toBe(a < b);
        else expect(first).not.toBe(second);
      }),
    );
  });

  it("a UUID of parts is equal for exactly the same parts, however they are divided", () => {
    expect(deriveUuid("a", "b")).toBe(deriveUuid("a", "b"));
    expect(deriveUuid("a", "b")).not.toBe(deriveUuid("ab"));
    expect(isUuid(deriveUuid())).toBe(true);
  });

  it.each([
    [
      "a UUIDv7 has its time, version and variant, and random bits otherwise",
      () => uuidv7(0x1234_5678_9abc),
      ["123456789abc70008000000000000000", "123456789abc7fffbfffffffffffffff"],
    ],
    [
      "a UUIDv8 of parts has its version and variant, and bits of a digest otherwise",
      (n: number) => deriveUuid(`${n}`),
      ["00000000000080008000000000000000", "ffffffffffff8fffbfffffffffffffff"],
    ],
  ] as const)("%s", (_, create, [inAll, inAny]) => {
    const ids = Array.from({ length: 200 }, (_, n) => BigInt(`0x${create(n).replaceAll("-", "")}`));
    const hex = (value: bigint) => value.toString(16).padStart(32, "0");
    expect(hex(ids.reduce((all, id) => all & id))).toBe(inAll);
    expect(hex(ids.reduce((all, id) => all | id))).toBe(inAny);
  });

  it("numbers and times sort as texts in their numeric order", () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), (a, b) => {
        expect(keys.event("r", a).sk < keys.event("r", b).sk).toBe(a < b);
        expect(sortableTime(a) < sortableTime(b)).toBe(a < b);
      }),
    );
  });
});

describe("limits of texts", () => {
  // @contract general.text.code-points: Lengths count code points, unless they are given in bytes.
  it("count characters as a reader does, or bytes if the limit is in bytes", () => {
    const within = (schema: v.GenericSchema<unknown, unknown>, value: string) => v.is(schema, value);
    expect(within(text(3), "😀😀😀")).toBe(true);
    expect(within(text(3), "😀😀😀😀")).toBe(false);
    expect(within(textOfBytes(12), "😀😀😀")).toBe(true);
    expect(within(textOfBytes(11), "😀😀😀")).toBe(false);
    fc.assert(fc.property(anyText, (value) => void expect(within(text(points(value)), value)).toBe(true)));
    fc.assert(fc.property(anyText, (value) => void expect(within(text(points(value) - 1), value)).toBe(false)));
  });

  it("are named in the messages for texts that are too short or too long", () => {
    const say = (schema: v.GenericSchema<string>, value: string) =>
      v.safeParse(schema, value).issues?.map(({ message }) => message);
    for (const [make, unit] of [
      [text, "characters"],
      [textOfBytes, "bytes"],
    ] as const) {
      expect(say(make(3, 1), "")).toEqual(["must not be empty"]);
      expect(say(make(3, 2), "a")).toEqual(["must have at least 2 characters"]);
      expect(say(make(3, 2), "abcd")).toEqual([`must have at most 3 ${unit}`]);
      expect(say(make(3), "")).toBeUndefined();
    }
  });

  // @contract general.clients.micros
  it("times have an offset and an existing date", () => {
    for (const good of ["2026-05-18T19:00:00Z", "2026-05-18t19:00:00.123456789z", "2024-02-29T23:59:59.5-23:59"])
      expect(v.is(Timestamp, good), good).toBe(true);
    for (const bad of [
      "2026-05-18",
      "2026-05-18T19:00:00",
      "2026-02-29T00:00:00Z",
      "2026-13-01T00:00:00Z",
      "2026-05-18T24:01:00Z",
      "2026-05-18 19:00:00Z",
      "1779130800",
    ]) {
      expect(v.is(Timestamp, bad), bad).toBe(false);
    }
  });

  // @contract runs.item.run-time: run_time is an ISO 8601 duration.
  it("a duration is ISO 8601 with milliseconds", () => {
    expect(toDuration(75_250)).toBe("PT75.250S");
    expect(toDuration(0)).toBe("PT0.000S");
  });
});

describe("a download's file name", () => {
  // @contract runs.artifact.download
  it("is in its header in ASCII and in UTF-8, and cannot break out of it", () => {
    fc.assert(
      fc.property(
        anyText.filter((name) => name.isWellFormed()),
        (name) => {
          const header = attachmentDisposition(name);
          expect(header).toMatch(/^attachment; filename="[^"\\]*"; filename\*=UTF-8''[A-Za-z0-9!#$&+.^_`|~%-]*$/);
          expect(header).toMatch(/^[\x20-\x7e]*$/);
          expect(decodeURIComponent(header.split("UTF-8''")[1] ?? "")).toBe(name);
        },
      ),
    );
  });
});
