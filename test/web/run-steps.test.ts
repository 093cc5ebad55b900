import { describe, expect, it } from "vitest";
import type { ActionEntry, Entry } from "../../web/run/feed.ts";
import { ALL_STEPS, filterEntries, foldReads, nextError } from "../../web/run/steps/steps.ts";

const action = (key: string, name: string, state = "completed", output: unknown = ""): ActionEntry => ({
  kind: "action",
  key,
  at: "2026-05-18T19:00:00.000Z",
  id: key,
  name,
  category: "files",
  title: undefined,
  input: { command: `call ${key}` },
  endedAt: undefined,
  state,
  summary: undefined,
  diff: undefined,
  output,
  live: "",
});
const text = (key: string, words: string): Entry => ({ kind: "text", key, at: "", role: "assistant", text: words });
const keys = (entries: readonly { readonly key: string }[]) => entries.map(({ key }) => key);

describe("foldReads", () => {
  it("makes one step of three and more reads in a row, and keeps fewer and those that failed", () => {
    const reads = ["r1", "r2", "r3"].map((key) => action(key, "read_files"));
    const entries = [
      ...reads,
      text("t", "Now I know."),
      action("r4", "read_files"),
      action("r5", "search_files"),
      action("r6", "read_files", "failed"),
    ];
    const steps = foldReads(entries);
    expect(keys(steps)).toEqual(["r1", "t", "r4", "r5", "r6"]);
    expect(steps[0]).toEqual({ kind: "reads", key: "r1", reads });
  });

  it("keeps the key of the step when a read is added to it", () => {
    const reads = ["r1", "r2", "r3", "r4"].map((key) => action(key, "read_files"));
    expect(keys(foldReads(reads.slice(0, 3)))).toEqual(keys(foldReads(reads)));
  });
});

describe("filterEntries", () => {
  const entries = [
    text("t", "The Voucher is applied twice."),
    action("c1", "run_command", "completed", { stdout: "3 passed" }),
    action("c2", "run_command", "failed", { stdout: "voucher.test.ts: 1 failed" }),
  ];

  it("returns what contains the text in any case: words, commands and output", () => {
    expect(keys(filterEntries(entries, { ...ALL_STEPS, text: " voucher " }))).toEqual(["t", "c2"]);
    expect(keys(filterEntries(entries, { ...ALL_STEPS, text: "call c1" }))).toEqual(["c1"]);
  });

  it("returns the errors only, and all entries without a filter", () => {
    expect(keys(filterEntries(entries, { text: "", onlyErrors: true }))).toEqual(["c2"]);
    expect(filterEntries(entries, { text: " ", onlyErrors: false })).toBe(entries);
  });
});

describe("nextError", () => {
  const entries = [
    action("a", "run_command", "failed"),
    action("b", "run_command"),
    action("c", "run_command", "failed"),
    action("d", "run_command", "denied"),
  ];

  it("begins with the last error, and goes around the end in both directions", () => {
    expect(nextError(entries, "", 1)?.key).toBe("c");
    expect(nextError(entries, "c", 1)?.key).toBe("a");
    expect(nextError(entries, "b", 1)?.key).toBe("c");
    expect(nextError(entries, "b", -1)?.key).toBe("a");
    expect(nextError(entries, "a", -1)?.key).toBe("c");
  });

  it("returns nothing where there is no error", () => {
    expect(nextError(entries.slice(1, 2), "b", 1)).toBeUndefined();
  });
});
