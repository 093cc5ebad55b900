import { beforeAll, describe, expect, it } from "vitest";
import { type Cursors, cursors } from "#shared/pagination/cursor.ts";
import { fitting, paginate } from "#shared/pagination/page.ts";
import { byName, latestFirst } from "#shared/pagination/places.ts";
import { keys } from "#shared/table/keys.ts";
import { memoryTable } from "#shared/table/memory-table.ts";

let signed: Cursors;
beforeAll(async () => {
  const table = memoryTable();
  await table.write({ kind: "put", item: { ...keys.signing("1"), secret: "s" } });
  signed = cursors(table);
});
const page = (all: readonly string[], limit?: number, cursor?: string) =>
  paginate(all, { limit, cursor }, { binding: "letters", placeOf: (item) => item }, signed);

describe("paginate", () => {
  it("returns everything without page_info, unless the request has a limit", async () => {
    expect(await page(["a", "b"])).toEqual({ items: ["a", "b"], page: {} });
    expect(await page([])).toEqual({ items: [], page: {} });
    const info = { page_info: { has_next_page: false } };
    expect(await page(["a", "b"], 2)).toEqual({ items: ["a", "b"], page: info });
    expect(await page([], 1)).toEqual({ items: [], page: info });
  });

  it("continues after the last item of the previous page, to the end", async () => {
    const first = await page(["a", "b", "c"], 2);
    expect(first).toEqual({
      items: ["a", "b"],
      page: { page_info: { has_next_page: true, next_cursor: expect.any(String) } },
    });
    const cursor = first.page.page_info?.next_cursor;
    const last = { page_info: { has_next_page: false } };
    expect(await page(["a", "b", "c"], 2, cursor)).toEqual({ items: ["c"], page: last });
    expect(await page(["a", "c"], undefined, cursor), "with the item deleted").toEqual({ items: ["c"], page: last });
  });

  it("returns 500 items at most", async () => {
    const all = Array.from({ length: 501 }, (_, index) => String(index).padStart(3, "0"));
    const { items, page: info } = await page(all);
    expect(items).toEqual(all.slice(0, 500));
    expect(info.page_info).toMatchObject({ has_next_page: true });
    expect(await page(all.slice(1))).toEqual({ items: all.slice(1), page: {} });
  });
});

describe("fitting", () => {
  it("takes as many items as the bytes hold, each with the comma after it, and one at least", () => {
    // As JSON each has three bytes, or five where its letter has three.
    expect(fitting(["a", "b", "c"], 12)).toEqual(["a", "b", "c"]);
    expect(fitting(["a", "b", "c"], 11)).toEqual(["a", "b"]);
    expect(fitting(["a", "€", "c"], 10)).toEqual(["a", "€"]);
    expect(fitting(["a", "€", "c"], 9)).toEqual(["a"]);
    expect(fitting(["a", "b"], 1)).toEqual(["a"]);
    expect(fitting([], 1)).toEqual([]);
  });
});

describe("places in a list", () => {
  it("put the later time first", () => {
    const now = Date.parse("2026-05-18T19:00:00.000Z");
    expect(latestFirst(now)).toBe("8220869199999");
    expect(latestFirst(9_999_999_999_998)).toBe("0000000000001");
    expect([now, now + 1, now - 1].map(latestFirst).toSorted()).toEqual([now + 1, now, now - 1].map(latestFirst));
  });

  it("ignore case and width of names", () => {
    expect([byName("Ab"), byName("ＡＢ"), byName("aB")]).toEqual(["ab", "ab", "ab"]);
  });
});
