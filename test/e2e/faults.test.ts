import { spawn } from "node:child_process";
import path from "node:path";
import { text } from "node:stream/consumers";
import * as v from "valibot";
import { expect, test } from "vitest";

const program = path.resolve(import.meta.dirname, "../../chaos/chaos.ts");
const RUNS = 12;
const Report = v.object({
  runs: v.number(),
  faults: v.record(v.string(), v.number()),
  restMs: v.number(),
  findings: v.object({ violations: v.array(v.unknown()) }),
});

/** Each promise of docs/reliability.md, with a dozen runs while AWS throttles, fails, repeats itself and forgets to answer. */
test("runs end as they should while calls of AWS go wrong", async () => {
  const args = ["--runs", `${RUNS}`, "--callers", `${RUNS}`, "--seed", "5", "--faults", "--no-kills", "--json"];
  const chaos = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const [printed, told] = await Promise.all([text(chaos.stdout), text(chaos.stderr)]);
  expect(printed, told).toContain("findings");
  const report = v.parse(Report, JSON.parse(printed));
  expect(report.findings.violations).toEqual([]);
  expect(report.runs).toBeGreaterThanOrEqual(RUNS);
  const injected = Object.values(report.faults).reduce((sum, count) => sum + count, 0);
  expect(injected, JSON.stringify(report.faults)).toBeGreaterThan(RUNS);
}, 300_000);
