import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { runScan } from "#shared/sandbox/harness-process.ts";
import { newMark, sleepers } from "../support/processes.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "scan-program-test-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Scans with a program that consists of this code. */
async function scanWith(code: string, more: { url?: string; time_limit_ms?: number } = {}): Promise<unknown> {
  const file = join(folder, "program.mjs");
  writeFileSync(file, code);
  return runScan({ v: 1, kind: "scan", url: "https://git.test/a", time_limit_ms: 15_000, ...more }, { file });
}
/** Prints a JSON text of this many bytes. */
const printing = (bytes: number) => `process.stdout.write(JSON.stringify("x".repeat(${bytes - 2})));`;
const failed = (message: string) => ({ outcome: "failed", reason: "unreadable", message });
const MAX_BYTES = 5_500_000;

it("a scan gives its request to the program, and returns the JSON that it prints", async () => {
  expect(await scanWith("process.stdin.pipe(process.stdout);")).toEqual({
    v: 1,
    kind: "scan",
    url: "https://git.test/a",
    time_limit_ms: 15_000,
  });
});

it("a scan returns a response of 5.5 MB, and fails with a larger one", async () => {
  expect(String(await scanWith(printing(MAX_BYTES)))).toHaveLength(MAX_BYTES - 2);
  expect(await scanWith(printing(MAX_BYTES + 1))).toEqual(failed("its skills exceed the size of a response"));
});

it.each([
  ["ends with an error", `${printing(10)} process.exitCode = 1;`, {}],
  ["reads nothing of its request", "process.exit(1);", { url: `https://git.test/${"a".repeat(1_000_000)}` }],
  ["does not end at its time limit", "setInterval(() => {}, 1000);", { time_limit_ms: -4_500 }],
])("a scan fails if its program %s", async (_, code, more) => {
  expect(await scanWith(code, more)).toEqual(failed("the scan broke off"));
});

it("a scan leaves no process of its program and no timer behind", async () => {
  const mark = newMark();
  const leaving = `import { spawn } from "node:child_process";
    spawn("sleep", ["${mark}"], { detached: true, stdio: "ignore" }).unref();
    ${printing(10)}`;
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const [scanned, timers] = await scanWith(leaving)
    .then((result) => [result, vi.getTimerCount()])
    .finally(() => vi.useRealTimers());
  expect([scanned, timers, sleepers(mark)]).toEqual(["x".repeat(8), 0, 0]);
});

it("a scan is not held up by what its program writes to its standard error", async () => {
  const noisy = `process.stderr.write("x".repeat(1_000_000), () => { ${printing(10)} });`;
  expect(await scanWith(noisy)).toBe("x".repeat(8));
});
