import { describe, expect, it } from "vitest";
import { formatChange, projectMonth, splitPeriods, toTicks } from "../../web/usage/figures.ts";

describe("toTicks", () => {
  it.each([
    [0, true, [0, 1]],
    [3, true, [0, 1, 2, 3]],
    [38, true, [0, 10, 20, 30, 40]],
    [0.9, false, [0, 0.5, 1]],
    [12.4, false, [0, 5, 10, 15]],
    [1_900_000, true, [0, 500_000, 1_000_000, 1_500_000, 2_000_000]],
  ])("has round lines up to %d", (most, isWhole, ticks) => {
    expect(toTicks(most, isWhole)).toEqual(ticks);
  });
});

it.each([
  [112, 100, "12 % more"],
  [50, 100, "50 % less"],
  [100.2, 100, "as before"],
  [5, 0, undefined],
])("formatChange says that %d after %d is %s", (value, before, text) => {
  expect(formatChange(value, before)).toBe(text);
});

it("splitPeriods tells the days of a period from those of the one before", () => {
  const bucket = { runs: 1, succeeded: 1, failed: 0, total_tokens: 0, cost_usd: 0, run_seconds: 0 };
  const days = ["2026-05-04", "2026-05-11", "2026-05-12", "2026-05-18"].map((key) => ({ ...bucket, key }));
  const { current, previous } = splitPeriods(days, 7, Date.parse("2026-05-18T12:00:00Z"));
  expect([current.map(({ key }) => key), previous.map(({ key }) => key)]).toEqual([
    ["2026-05-12", "2026-05-18"],
    ["2026-05-04", "2026-05-11"],
  ]);
});

describe("projectMonth", () => {
  const renews = "2026-06-01T00:00:00.000Z";

  it("expects the month to go on as it began", () => {
    expect(projectMonth(10, renews, Date.parse("2026-05-11T00:00:00Z"))).toBeCloseTo(31);
  });

  it("expects nothing on the first day", () => {
    expect(projectMonth(10, renews, Date.parse("2026-05-01T23:00:00Z"))).toBeUndefined();
  });
});
