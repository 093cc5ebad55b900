import { describe, expect, it } from "vitest";
import { toAxis } from "../../web/run/axis.ts";

describe("toAxis", () => {
  it.each([
    [1, ["0", "1 ms"]],
    [230, ["0", "50 ms", "100 ms", "150 ms", "200 ms"]],
    [1800, ["0", "500 ms", "1 s", "1 s 500 ms"]],
    [28_000, ["0", "5 s", "10 s", "15 s", "20 s", "25 s"]],
    [204_000, ["0", "1 min", "2 min", "3 min"]],
    [100_000, ["0", "20 s", "40 s", "1 min", "1 min 20 s", "1 min 40 s"]],
    [9_000_000, ["0", "30 min", "1 h", "1 h 30 min", "2 h", "2 h 30 min"]],
    [900_000_000, ["0", "2 d", "4 d", "6 d", "8 d", "10 d"]],
  ])("has marks at round times within %d ms", (length, texts) => {
    expect(toAxis(length).map(({ text }) => text)).toEqual(texts);
  });

  it("places each mark by its time", () => {
    expect(toAxis(4000).map(({ place }) => place)).toEqual([0, 0.25, 0.5, 0.75, 1]);
  });
});
