import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { BubblewrapOptions } from "#harness/isolation/bubblewrap.ts";
import { type Boundary, openTriedBoundary, tryBoundary } from "#harness/isolation/isolation.ts";
import { readLimits } from "#harness/isolation/limits.ts";
import { findProgram } from "#harness/isolation/programs.ts";
import { createWorkspace, type Workspace } from "#harness/isolation/workspace.ts";
import { newMark, sleepers } from "../support/processes.ts";

const folder = mkdtempSync(join(tmpdir(), "trial-"));
let workspace: Workspace;
beforeAll(() => {
  workspace = createWorkspace();
});
afterAll(async () => {
  await workspace.remove();
  rmSync(folder, { recursive: true });
});
afterEach(() => void vi.useRealTimers());

/** The options of a boundary that uses the network of this process. */
function toOptions(opened: boolean | undefined, bwrap = findProgram("bwrap") ?? ""): BubblewrapOptions {
  const enter = ["/usr/bin/env"] as const;
  const network = opened === undefined ? undefined : { enter, opened: Promise.resolve(opened), close: async () => {} };
  return { bwrap, etc: workspace.etc, limits: readLimits({}), network, group: undefined, filtered: false };
}

const hasNetwork = (boundary: Boundary) =>
  "make" in boundary
    ? boundary.make({ host: workspace.paths, runId: "run-1", marker: {} }).network
    : `failed: ${boundary.failure}`;

describe.each([
  ["tryBoundary", (options: BubblewrapOptions) => tryBoundary(options, workspace.paths)],
  ["openTriedBoundary", openTriedBoundary],
])("%s", (_, open) => {
  it.each([
    ["a network that has opened", true, true],
    ["no network if it did not open", false, false],
    ["no network if none is given", undefined, false],
  ])("gives commands %s", async (_, opened, expected) => {
    expect(hasNetwork(await open(toOptions(opened)))).toBe(expected);
  });
});

describe("tryBoundary", () => {
  it("clears its timer once the trial has ended", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    expect(await tryBoundary(toOptions(undefined), workspace.paths)).toHaveProperty("make");
    expect(vi.getTimerCount()).toBe(0);
  });

  it("fails with the reason if the program cannot be started", async () => {
    const failure = "Error: spawn /nowhere/bwrap ENOENT";
    expect(await tryBoundary(toOptions(undefined, "/nowhere/bwrap"), workspace.paths)).toEqual({ failure });
  });

  it("ends a trial that does not start within 20 seconds", async () => {
    const mark = newMark();
    const hanging = join(folder, "bwrap");
    writeFileSync(hanging, `#!/bin/sh\nexec sleep ${mark}\n`, { mode: 0o755 });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const trying = tryBoundary(toOptions(undefined, hanging), workspace.paths);
    await expect.poll(() => [vi.getTimerCount(), sleepers(mark)]).toEqual([1, 1]);
    vi.advanceTimersByTime(20_000);
    expect(await trying).toEqual({ failure: "it did not start in time" });
    expect(sleepers(mark)).toBe(0);
  });
});
