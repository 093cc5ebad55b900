import { describe, expect, it } from "vitest";
import { sortByText, splitIntoBatches } from "#shared/arrays.ts";

describe("sortByText", () => {
  it("sorts by UTF-16 units, and does not change its input", () => {
    const items = [{ name: "b" }, { name: "é" }, { name: "B" }, { name: "" }, { name: "a10" }, { name: "a1" }];
    const before = [...items];
    expect(sortByText(items, ({ name }) => name).map(({ name }) => name)).toEqual(["", "B", "a1", "a10", "b", "é"]);
    expect(items).toEqual(before);
    expect(sortByText([], String)).toEqual([]);
  });

  it("keeps the order of items with equal texts", () => {
    const items = ["b1", "a1", "b2", "a2", "b3"];
    expect(sortByText(items, (item) => item.slice(0, 1))).toEqual(["a1", "a2", "b1", "b2", "b3"]);
    expect(sortByText(["x3", "x1", "x2"], (item) => item.slice(0, 1))).toEqual(["x3", "x1", "x2"]);
  });
});

describe("splitIntoBatches", () => {
  it.each([
    [0, []],
    [1, [1]],
    [3, [3]],
    [4, [3, 1]],
    [6, [3, 3]],
    [7, [3, 3, 1]],
  ])("splits %i items into batches of up to three", (count, sizes) => {
    const items = Array.from({ length: count }, (_, index) => index);
    const batches = splitIntoBatches(items, 3);
    expect(batches.map(({ length }) => length)).toEqual(sizes);
    expect(batches.flat()).toEqual(items);
  });
});
