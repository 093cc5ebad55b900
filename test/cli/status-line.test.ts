import { expect, test } from "vitest";
import { elapsed, StatusLine } from "../../cli/src/follow/status-line.ts";
import { usageText } from "../../cli/src/usage.ts";

test("the status line shows elapsed times and the activity, and stays below the output", () => {
  let now = 0;
  const written: string[] = [];
  const line = new StatusLine({ out: (text) => written.push(text), columns: 40, now: () => now });
  line.show("not shown before the start");
  line.start();
  now = 65_000;
  line.above(() => written.push("output\n"));
  line.show(`npm test\u001b[2J${"x".repeat(100)}`);
  line.stop();
  line.show("not shown after the end");
  const erase = `\r${" ".repeat(39)}\r`;
  expect(written).toEqual([
    `${erase}  0 s · not shown before the start`,
    erase,
    "output\n",
    `${erase}  1 min 5 s · not shown before the sta…`,
    `${erase}  1 min 5 s · npm test${"x".repeat(16)}…`,
    erase,
  ]);
});

test("elapsed times show minutes and hours if there are any", () => {
  expect([0, 59_999, 60_000, 3_725_000].map(elapsed)).toEqual(["0 s", "59 s", "1 min 0 s", "1 h 2 min"]);
});

test("usage is shown as tokens and dollars, with small amounts in full", () => {
  expect(usageText({ total_tokens: 12_345, inference_cost: 0.0421 })).toBe("12,345 tokens · $0.0421");
  expect(usageText({ inference_cost: 1.5, compute_cost: 0.25 })).toBe("$1.75");
  expect(usageText({})).toBeUndefined();
  expect(usageText(undefined)).toBeUndefined();
});
