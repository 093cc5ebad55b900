import { describe, expect, test } from "vitest";
import { parseOptions } from "../../emulator/options.ts";

describe("npm run emulator --", () => {
  test("uses the defaults without options", () => {
    expect(parseOptions([])).toEqual({ kind: "start", options: { once: false, fresh: false, runTests: false } });
  });

  test("accepts every option in its help", () => {
    const args = ["--once", "--fresh", "--port", "4600", "--repo", "../other", "--run-tests", "--faults", "7/20"];
    expect(parseOptions(args)).toEqual({
      kind: "start",
      options: { once: true, fresh: true, port: 4600, repo: "../other", runTests: true, faults: "7/20" },
    });
  });

  test.each([["0"], ["65536"], ["4500.5"], ["http"], [""]])("rejects --port %j and names valid values", (port) => {
    expect(parseOptions(["--port", port])).toEqual({
      kind: "wrong",
      why: `--port takes a number from 1 to 65535, not "${port}"`,
    });
  });

  test.each(["x", "-1", "7/", ""])("rejects --faults %j and names valid values", (faults) => {
    expect(parseOptions([`--faults=${faults}`])).toEqual({
      kind: "wrong",
      why: `--faults takes a number, or two as in 7/20, not "${faults}"`,
    });
  });

  test("rejects an empty --repo", () => {
    expect(parseOptions(["--repo", " "])).toMatchObject({ kind: "wrong" });
  });

  test.each([[["--nonsense"]], [["something"]], [["--once=yes"]]])("rejects %j", (args) => {
    expect(parseOptions(args)).toMatchObject({ kind: "wrong" });
  });

  test("shows help before anything else", () => {
    expect(parseOptions(["--once", "-h"])).toEqual({ kind: "help" });
  });
});
