import { crc32 } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { uuidv7 } from "#shared/ids.ts";
import { hashKey, newKey, newRunKey, parseKey, toKey } from "#shared/principals/api-key.ts";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const toBase62 = (value: number): string =>
  value < 62 ? BASE62.charAt(value) : toBase62(Math.floor(value / 62)) + BASE62.charAt(value % 62);
const uuid = fc.oneof(
  fc.uuid(),
  fc.nat({ max: 2 ** 46 }).map(uuidv7),
  fc.constantFrom("00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"),
);
const key = fc.oneof(fc.constantFrom("personal" as const, "agent" as const).map(newKey), uuid.map(newRunKey));

describe("API keys", () => {
  // @contract identities.keys.form: A key is a prefix, 37 base62 characters and six of CRC-32 over them.
  it("have a prefix, 37 random characters and a checksum of 6, and parse to their kind and hash", () => {
    fc.assert(
      fc.property(key, (raw) => {
        expect(raw).toMatch(/^ry[par]_[0-9A-Za-z]{43}$/);
        const kind = { ryp_: "personal", rya_: "agent", ryr_: "run" }[raw.slice(0, 4)];
        expect(parseKey(raw)).toMatchObject({ kind, hash: hashKey(raw) });
      }),
    );
  });

  it("made of secret bytes are well-formed, the same for the same bytes, and depend on each byte", () => {
    const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 });
    fc.assert(
      fc.property(fc.constantFrom("personal" as const, "agent" as const), bytes, fc.nat(31), (kind, secret, at) => {
        const raw = toKey(kind, secret);
        expect(parseKey(raw)).toMatchObject({ kind, hash: hashKey(raw) });
        expect(toKey(kind, secret.slice())).toBe(raw);
        expect(toKey(kind, secret.with(at, (secret[at] ?? 0) ^ 1))).not.toBe(raw);
      }),
    );
    expect(parseKey(toKey("personal", new Uint8Array(32)))).toMatchObject({ kind: "personal" });
  });

  it("of a run parse to the run's id", () => {
    fc.assert(
      fc.property(uuid, (id) => void expect(parseKey(newRunKey(id))).toMatchObject({ kind: "run", runId: id })),
    );
  });

  it("are rejected if any one character differs", () => {
    fc.assert(
      fc.property(key, fc.integer({ min: 4, max: 46 }), fc.constantFrom(...BASE62), (raw, at, character) => {
        fc.pre(raw[at] !== character);
        expect(parseKey(raw.slice(0, at) + character + raw.slice(at + 1))).toBeUndefined();
      }),
      { numRuns: 500 },
    );
  });

  it("are rejected with two characters swapped, truncated, extended, or in another format", () => {
    fc.assert(
      fc.property(key, fc.integer({ min: 4, max: 45 }), (raw, at) => {
        const exchanged = raw.slice(0, at) + (raw[at + 1] ?? "") + (raw[at] ?? "") + raw.slice(at + 2);
        if (exchanged !== raw) expect(parseKey(exchanged)).toBeUndefined();
        for (const bad of [
          raw.slice(0, -1),
          `${raw}0`,
          ` ${raw}`,
          raw.toUpperCase(),
          raw.replace("_", "-"),
          raw.slice(4),
          `${raw}\n`,
        ]) {
          expect(parseKey(bad)).toBeUndefined();
        }
      }),
    );
    fc.assert(fc.property(fc.string(), (text) => void expect(parseKey(text)).toBeUndefined()));
  });

  it("of a run are rejected if the encoded id exceeds a UUID", () => {
    const random = "z".repeat(37);
    const crafted = [..."0123456789"].map((digit) => `ryr_${random}${digit.repeat(6)}`);
    for (const raw of crafted) expect(parseKey(raw)).toBeUndefined();
    const sealed = random + toBase62(crc32(random)).padStart(6, "0");
    expect(parseKey(`ryp_${sealed}`), "the checksum is right").toMatchObject({ kind: "personal" });
    expect(parseKey(`ryr_${sealed}`)).toBeUndefined();
  });

  it("are unique", () => {
    const id = uuidv7(0);
    expect(new Set(Array.from({ length: 200 }, () => newRunKey(id))).size).toBe(200);
  });
});
