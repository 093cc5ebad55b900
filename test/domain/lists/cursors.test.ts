import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { RunyardError } from "#shared/errors.ts";
import { type Cursors, cursors } from "#shared/pagination/cursor.ts";
import { keys } from "#shared/table/keys.ts";
import { memoryTable } from "#shared/table/memory-table.ts";

async function signedBy(secret: string): Promise<Cursors> {
  const table = memoryTable();
  await table.write({ kind: "put", item: { ...keys.signing("1"), secret } });
  return cursors(table);
}

const refused = { code: "invalid_request", errors: [{ path: "cursor" }] };
const position = fc.string({ unit: "grapheme", maxLength: 200 });
const binding = fc.jsonValue();

describe("cursors", () => {
  let ours: Cursors;
  beforeAll(async () => {
    ours = await signedBy("one secret");
  });

  it("decode to the encoded position, and need no encoding in a query", async () => {
    await fc.assert(
      fc.asyncProperty(binding, position, async (bound, after) => {
        const cursor = await ours.write(bound, after);
        expect(cursor).toBe(encodeURIComponent(cursor));
        expect(await ours.read(structuredClone(bound), cursor)).toBe(after);
      }),
    );
  });

  it("are short for any list, and are rejected with three parts", async () => {
    const cursor = await ours.write("b".repeat(1_000), "");
    expect(cursor.length).toBeLessThan(100);
    await expect(ours.read("b".repeat(1_000), `${cursor}.x`)).rejects.toMatchObject(refused);
  });

  // @contract runs.cursor.opaque: A cursor that was changed or forged is 400.
  it("are rejected with any one character changed, removed or added", async () => {
    await fc.assert(
      fc.asyncProperty(position, fc.nat(), fc.constantFrom(..."Aa0-_.=%"), async (after, place, character) => {
        const cursor = await ours.write("b", after);
        const at = place % cursor.length;
        for (const changed of [
          cursor.slice(0, at) + character + cursor.slice(at + 1),
          cursor.slice(0, at) + cursor.slice(at + 1),
          cursor.slice(0, at) + character + cursor.slice(at),
          `${cursor}.`,
          cursor + character,
        ]) {
          if (changed !== cursor) await expect(ours.read("b", changed), changed).rejects.toMatchObject(refused);
        }
      }),
      { numRuns: 300 },
    );
  });

  // @contract runs.cursor.bound
  it("are rejected for another list, and from another signer", async () => {
    const theirs = await signedBy("another secret");
    await fc.assert(
      fc.asyncProperty(binding, binding, position, async (one, other, after) => {
        const cursor = await ours.write(one, after);
        fc.pre(JSON.stringify(one) !== JSON.stringify(other) && !(one === 0 && other === 0));
        await expect(theirs.read(one, cursor)).rejects.toMatchObject(refused);
        const same = await ours.write(other, after);
        if (same !== cursor) await expect(ours.read(other, cursor)).rejects.toBeInstanceOf(RunyardError);
      }),
    );
  });

  it("cause only a client error if they are invalid", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), async (text) => {
        await expect(ours.read("b", text)).rejects.toMatchObject(refused);
      }),
    );
  });

  it("need the signing key, and use it as soon as it exists", async () => {
    const table = memoryTable();
    const early = cursors(table);
    await expect(early.write("b", "a")).rejects.toThrow(/bootstrap/);
    await table.write({ kind: "put", item: { ...keys.signing("1"), secret: "s" } });
    expect(await early.read("b", await early.write("b", "a"))).toBe("a");
  });
});
