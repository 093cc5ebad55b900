import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { createRedactor } from "#harness/redaction/redactor.ts";
import { createHash, randomUUID } from "#harness/support/lazy-crypto.ts";
import { createLog } from "#harness/support/log.ts";
import { formatError, Interrupted, SetupError, Stop } from "#harness/support/stop.ts";
import { cutBytes, cutBytesFromEnd, toWellFormed } from "#harness/support/text-limits.ts";
import { createSlice, findStepEnd, SliceEnd } from "#harness/support/time-slice.ts";
import { truncate } from "#harness/support/truncate.ts";
import { HarnessPrograms } from "#server/sandbox/harness-programs.ts";

describe("createSlice", () => {
  const NOW = 1_000_000;
  const create = (total: number | undefined, now = () => NOW) =>
    createSlice(total === undefined ? undefined : NOW + total, now);

  it.each([
    [900_000, 5_000, 65_000, 185_000],
    [100_000, 5_000, 15_000, 35_000],
    [10_000, 2_000, 3_000, 5_000],
    [2_000, 400, 900, 1_900],
  ])(
    "of %i ms lets nothing run in the last %i ms, ends steps before the last %i ms, and begins none in the last %i ms",
    (total, last, end, cut) => {
      const { deadlineAt, stepsEndAt, cutAt } = create(total);
      expect([deadlineAt, stepsEndAt, cutAt]).toEqual([NOW + total - last, NOW + total - end, NOW + total - cut]);
    },
  );

  it("has no end in a sandbox without a time limit", () => {
    const slice = create(undefined);
    const { deadlineAt, stepsEndAt, cutAt } = slice;
    expect(new Set([deadlineAt, stepsEndAt, cutAt])).toEqual(new Set([Number.POSITIVE_INFINITY]));
    slice.afterStep();
    expect(() => slice.beforeStep()).not.toThrow();
  });

  it("allows one step at any time, and others only before its end", () => {
    let now = NOW;
    const slice = create(100_000, () => now);
    now = slice.cutAt + 50_000;
    expect(() => slice.beforeStep()).not.toThrow();
    slice.afterStep();
    expect(() => slice.beforeStep()).toThrow(SliceEnd);
    now = slice.cutAt;
    expect(() => slice.beforeStep()).toThrow("the time of this execution is over");
    now = slice.cutAt - 1;
    expect(() => slice.beforeStep()).not.toThrow();
  });

  it.each([
    ["its longest time", 600_000, 600_000],
    ["three quarters of the time of all steps, if that is less,", 3_600_000, 626_250],
    ["the time of a last step, if that is more,", 1_000, 120_000],
  ])("begins a step that cannot be repeated only where %s is left", (_what, longestMs, left) => {
    let now = NOW;
    const slice = create(900_000, () => now);
    slice.afterStep();
    now = slice.stepsEndAt - left - 1;
    expect(() => slice.beforeStep(longestMs)).not.toThrow();
    now++;
    expect(() => slice.beforeStep(longestMs)).toThrow(SliceEnd);
  });

  it("begins such a step at any time if it is the first, or has no time limit", () => {
    let now = NOW;
    const slice = create(900_000, () => now);
    now = slice.cutAt + 1;
    expect(() => slice.beforeStep(600_000)).not.toThrow();
    const unlimited = create(undefined);
    unlimited.afterStep();
    expect(() => unlimited.beforeStep(600_000)).not.toThrow();
  });
});

describe("findStepEnd", () => {
  it("leaves time to save the work, unless a first step begins too late for that", () => {
    const slice = createSlice(Date.now() + 100_000);
    expect(findStepEnd(slice)).toBe(slice.stepsEndAt);
    const late = { ...slice, cutAt: Date.now() };
    expect(findStepEnd(late)).toBe(slice.deadlineAt);
  });
});

describe("truncate", () => {
  const NOTE = "\n[... truncated ...]";

  it("returns a value that fits as it is", () => {
    const value = { text: "x".repeat(50), list: [1, true, null, ["y"]] };
    expect(truncate(value, 1_000)).toEqual(value);
    expect(truncate("x".repeat(98), 100)).toBe("x".repeat(98));
    expect([truncate(undefined, 100), truncate(undefined, 10)]).toEqual([undefined, "null"]);
  });

  it("truncates all texts and names to the same length, until the value fits", () => {
    const value = { a: "x".repeat(300), b: ["y".repeat(300), 1, null, true], ["n".repeat(150)]: "short" };
    expect(truncate(value, 600)).toEqual({
      a: `${"x".repeat(150)}${NOTE}`,
      b: [`${"y".repeat(150)}${NOTE}`, 1, null, true],
      ["n".repeat(150)]: "short",
    });
    expect(truncate({ ["n".repeat(300)]: 1 }, 300)).toEqual({ [`${"n".repeat(150)}${NOTE}`]: 1 });
    expect(truncate("x".repeat(99), 100)).toBe(`"${"x".repeat(49)}${NOTE}`);
    expect(truncate("x".repeat(200), 128), "the shortest texts").toBe(`${"x".repeat(64)}${NOTE}`);
  });

  it("returns the beginning of the value as a text where its parts are too many", () => {
    const many = Array.from({ length: 100 }, () => "abcdefgh");
    expect(truncate(many, 200)).toBe(`${JSON.stringify(many).slice(0, 100)}${NOTE}`);
  });

  it("replaces what the API refuses", () => {
    expect(truncate(["a\0b", "\ud800"], 1_000)).toEqual(["a\ufffdb", "\ufffd"]);
  });
});

describe("limits of texts", () => {
  it("cutBytes keeps whole characters of the beginning", () => {
    expect([3, 4, 5, 6, 7, 8, 9].map((bytes) => cutBytes("aä€ab", bytes))).toEqual([
      ...["aä", "aä", "aä", "aä€", "aä€a", "aä€ab", "aä€ab"],
    ]);
    expect(
      ["\ud800", "\ud800a"].map((text) => cutBytes(text, 4)),
      "as it is",
    ).toEqual(["\ud800", "\ud800a"]);
    expect([cutBytes("ab", 0), cutBytes("ab", -1), cutBytes("ä", 1)]).toEqual(["", "", ""]);
  });

  it("cutBytesFromEnd keeps whole characters of the end", () => {
    expect([1, 2, 3, 4, 5, 6, 7].map((bytes) => cutBytesFromEnd("aä€b", bytes))).toEqual([
      ...["b", "b", "b", "€b", "€b", "ä€b", "aä€b"],
    ]);
    expect([cutBytesFromEnd("ab", 0), cutBytesFromEnd("ab", 9)]).toEqual(["", "ab"]);
  });

  it("toWellFormed replaces NUL characters and lone surrogates", () => {
    expect(toWellFormed("a\0\0b\ud800c😀")).toBe("a\ufffd\ufffdb\ufffdc😀");
  });
});

it("createLog writes one line of redacted JSON to standard output", () => {
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  const log = createLog(createRedactor(["planted-value-0001"]), { run_id: "run-1" });
  log("warn", "a planted-value-0001", { detail: "planted-value-0001!" });
  log("info", "plain");
  const lines = write.mock.calls.map(([line]) => String(line));
  write.mockRestore();
  const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { timestamp, level: "warn", message: "a ***", run_id: "run-1", detail: "***!" },
    { timestamp, level: "info", message: "plain", run_id: "run-1" },
  ]);
  expect(lines.every((line) => line.indexOf("\n") === line.length - 1)).toBe(true);
});

it("Stop, Interrupted and SetupError have their names, and the reason", () => {
  const stop = new Stop("stale", "the key is gone");
  expect([stop.name, stop.kind, stop.message]).toEqual(["Stop", "stale", "the key is gone"]);
  const others = [new Interrupted(3), new SetupError("no repository")];
  expect(others.map(String)).toEqual(["Interrupted: Interrupted by follow-up 3.", "SetupError: no repository"]);
});

it("formatError takes the message of an error, and any other value as text", () => {
  expect([formatError(new Error("no")), formatError("why"), formatError(7)]).toEqual(["no", "why", "7"]);
});

it("randomUUID and createHash return what node:crypto does", () => {
  expect(randomUUID()).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  expect(randomUUID()).not.toBe(randomUUID());
  expect(createHash("sha256").update("").digest("hex")).toMatch(/^e3b0c44298fc1c149afbf4c8996fb924/);
});

/** Lists a module and those that load with it. */
function listModules(path: string, imported: RegExp, modules = new Set<string>()): Set<string> {
  if (modules.has(path)) return modules;
  modules.add(path);
  for (const [, name = ""] of readFileSync(path, "utf8").matchAll(imported))
    listModules(join(dirname(path), name), imported, modules);
  return modules;
}

it("the bundle of the harness loads node:crypto only where it is needed", async () => {
  const programs = new HarnessPrograms({});
  await programs.bundle();
  const { file } = programs.main();
  const loaded = listModules(file, /(?:from|import) ?"(\.\/[\w-]+\.mjs)"/g);
  for (const path of loaded) expect(readFileSync(path, "utf8"), path).not.toMatch(/from ?"node:crypto"/);
  expect(loaded.size).toBeGreaterThan(1);
});

it("a command-line agent does not load the engine of the Agent Client Protocol", () => {
  const directory = join(import.meta.dirname, "../../../harness/third-party");
  const loaded = listModules(join(directory, "make-third-party.ts"), /^import (?!type\b)[^;]* from "(\.[\w./-]+)";/gm);
  expect(loaded).toContain(join(directory, "engine.ts"));
  expect(loaded).not.toContain(join(directory, "acp/engine.ts"));
});
