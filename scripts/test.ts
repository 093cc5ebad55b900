/** `npm test`: everything, nothing skipped. Its last line is the sum over every runner: `N passed, N failed`. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CheckResult, describeCheck, runChecks } from "./checks.ts";
import { runCommand, runTool } from "./run-command.ts";
import { checkSentences } from "./sentences.ts";
import { countPython, countVitest, sum, type Tally } from "./tally.ts";

const runners: Record<string, () => Promise<Tally>> = { check, python, vitest };

await requireTools();
const tallies: Tally[] = [];
for (const [name, runner] of Object.entries(runners)) {
  tallies.push(await runner().catch((error: unknown) => crashed(name, error)));
}
const total = sum(tallies);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1;

async function requireTools(): Promise<void> {
  const { exitCode, output } = await runCommand("bash", ["scripts/install-test-tools.sh", "--check"]);
  if (exitCode !== 0) {
    console.error(`The tests need: ${output.split("\n").join(", ")}. Run: bash scripts/install-test-tools.sh`);
    process.exit(1);
  }
}

async function check(): Promise<Tally> {
  return countChecks(await runChecks());
}

function countChecks(results: readonly CheckResult[]): Tally {
  for (const result of results) {
    console.log(describeCheck(result));
  }
  const passed = results.filter((result) => result.ok).length;
  return { passed, failed: results.length - passed };
}

/** The Python client: its script brings all that it needs, and runs before vitest, one of whose tests uses what it made. */
async function python(): Promise<Tally> {
  return withReport(async (file) => {
    const args = ["clients/python/scripts/check.py", "--report", file];
    const { exitCode } = await runCommand(process.env["RUNYARD_PYTHON"] ?? "python3", args, {
      show: true,
      timeoutSeconds: 600,
    });
    return countPython(readFileSync(file, "utf8"), exitCode);
  });
}

async function vitest(): Promise<Tally> {
  return withReport(async (file) => {
    const args = ["run", "--reporter=default", "--reporter=json", `--outputFile.json=${file}`];
    const { exitCode } = await runTool("vitest", args, { show: true, timeoutSeconds: 3_200 });
    const report = readFileSync(file, "utf8");
    return sum([countVitest(report, exitCode), countChecks([checkSentences(report)])]);
  });
}

async function withReport(run: (file: string) => Promise<Tally>): Promise<Tally> {
  const folder = mkdtempSync(join(tmpdir(), "runyard-test-"));
  try {
    return await run(join(folder, "report.json"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function crashed(name: string, error: unknown): Tally {
  console.error(`${name} did not end as it should:`, error);
  return { passed: 0, failed: 1 };
}
