import { expect, it, vi } from "vitest";
import { RUN_STATES } from "../../clients/typescript/src/index.ts";
import {
  formatBytes,
  formatClock,
  formatDay,
  formatDuration,
  formatExact,
  formatRelative,
  formatUsd,
  formatWholeMinutes,
  isEnded,
  parseDuration,
  plural,
  toSentence,
  toWords,
} from "../../web/ui/format.ts";

const NOW = Date.parse("2026-05-18T12:00:00Z");

it.each([
  ["2026-05-18T11:59:30Z", "just now"],
  ["2026-05-18T12:00:03Z", "just now"],
  ["2026-05-18T12:00:30Z", "in a moment"],
  ["2026-05-18T11:54:01Z", "5 min ago"],
  ["2026-05-18T13:05:00Z", "in 1 h"],
  ["2026-05-15T12:00:00Z", "3 d ago"],
  ["2026-05-18T11:59:00Z", "1 min ago"],
  ["2026-05-18T12:00:05Z", "just now"],
  ["2026-05-18T11:00:01Z", "59 min ago"],
  ["2026-05-17T12:00:01Z", "23 h ago"],
  ["2026-05-11T12:00:00Z", "7 d ago"],
  ["2026-05-20T12:00:00Z", "in 2 d"],
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

it.each([
  [-1, "0 ms"],
  [0.6, "1 ms"],
  [999, "999 ms"],
  [1_000, "1.0 s"],
  [9_940, "9.9 s"],
  [10_000, "10 s"],
  [59_999, "59 s"],
  [60_000, "1 min 0 s"],
  [125_900, "2 min 5 s"],
  [3_599_000, "59 min 59 s"],
  [3_600_000, "1 h 0 min"],
  [90_061_000, "25 h 1 min"],
])("formatDuration shows %d as %j", (milliseconds, text) => {
  expect(formatDuration(milliseconds)).toBe(text);
});

it.each([
  ["PT1M2.5S", 62_500],
  ["PT2H", 7_200_000],
  ["P1DT1H1M1S", 90_061_000],
  ["PT0S", 0],
  ["1 h", undefined],
  [undefined, undefined],
])("parseDuration reads %j as %j", (text, milliseconds) => {
  expect(parseDuration(text)).toBe(milliseconds);
});

it.each([
  [0, "$0"],
  [0.009, "< $0.01"],
  [0.01, "$0.01"],
  [12.345, "$12.35"],
])("formatUsd shows %d as %j", (usd, text) => {
  expect(formatUsd(usd)).toBe(text);
});

it.each([
  [0, "0 B"],
  [1_023, "1023 B"],
  [1_024, "1.0 KB"],
  [1_536 * 1_024, "1.5 MB"],
])("formatBytes shows %d as %j", (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});

it("plural counts in words", () => {
  expect([plural(0, "run"), plural(1, "run"), plural(2, "run"), plural(2, "identity", "identities")]).toEqual([
    "0 runs",
    "1 run",
    "2 runs",
    "2 identities",
  ]);
});

it.each([
  [60, "1 minute"],
  [1_800, "30 minutes"],
  [90, "90 seconds"],
  [1, "1 second"],
])("formatWholeMinutes shows %d seconds as %j", (seconds, text) => {
  expect(formatWholeMinutes(seconds)).toBe(text);
});

it("toWords separates the words of a name", () => {
  expect([toWords("setup_repo_clone"), toWords("artifact-created"), toWords("")]).toEqual([
    "Setup repo clone",
    "Artifact created",
    "",
  ]);
});

it.each([
  ["there is no such run", "There is no such run"],
  ["a run's key cannot do this", "A run's key cannot do this"],
  ["cron_schedule: has 4 fields", "cron_schedule: has 4 fields"],
  ["name: is required", "name: is required"],
  ["config.approvals: the program has none", "config.approvals: the program has none"],
  ["run_id is unknown", "run_id is unknown"],
  ["The service did not respond.", "The service did not respond."],
])("toSentence shows %j as %j", (text, shown) => {
  expect(toSentence(text)).toBe(shown);
});

it("formatDay shows a day of UTC, wherever the viewer is", () => {
  vi.stubEnv("TZ", "America/New_York");
  expect(formatDay("2026-05-18")).toMatch(/\b18\b/);
  vi.unstubAllEnvs();
  expect(formatDay("some day")).toBe("some day");
});

it("formatExact and formatClock leave what is no time as it is", () => {
  expect([formatExact("some time"), formatClock("some time")]).toEqual(["some time", "some time"]);
});

it("isEnded distinguishes final states from others", () => {
  const states = ["QUEUED", "PENDING", "CLAIMED", "INPROGRESS", "SUCCEEDED", "FAILED", "ERROR", "BLOCKED", "CANCELLED"];
  const ended = RUN_STATES.filter(isEnded);
  expect([RUN_STATES.toSorted(), ended.toSorted()]).toEqual([
    states.toSorted(),
    ["BLOCKED", "CANCELLED", "ERROR", "FAILED", "SUCCEEDED"],
  ]);
});
