import { expect, it } from "vitest";
import { formatClock, formatRelative } from "../../web/ui/format.ts";

const NOW = Date.parse("2026-05-18T12:00:00Z");

it.each([
  ["2026-05-18T11:59:30Z", "just now"],
  ["2026-05-18T12:00:03Z", "just now"],
  ["2026-05-18T12:00:30Z", "in a moment"],
  ["2026-05-18T11:54:01Z", "5 min ago"],
  ["2026-05-18T13:05:00Z", "in 1 h"],
  ["2026-05-15T12:00:00Z", "3 d ago"],
  ["no time", ""],
])("formatRelative shows %s as %j", (at, text) => {
  expect(formatRelative(at, NOW)).toBe(text);
});

it("formatRelative writes out dates that are more than a week away", () => {
  expect(formatRelative("2026-05-01T12:00:00Z", NOW)).toMatch(/May/);
});

it("formatClock shows hours, minutes and seconds with two digits each", () => {
  expect(formatClock("2026-05-18T09:05:03")).toBe("09:05:03");
});
