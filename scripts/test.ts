/** `npm test`: everything, nothing skipped. Its last line is the sum over every runner: `N passed, N failed`. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CheckResult, checksBesideTests, describeCheck, runChecks } from "./checks.ts";
import { fetchDynamoDbLocal } from "./dynamodb-local.ts";
import { setup as installThirdPartyAgents } from "./install-agents.ts";
import { runCommand, runTool } from "./run-command.ts";
import { checkSentences } from "./sentences.ts";
import { countPython, countVitest, sum, type Tally } from "./tally.ts";

await requireTools();
// The checks use both processors. The tests of the Python client wait for packages and processes, as many of vitest do.
const first = await Promise.all([
  runStep("check", check),
  runStep("agents", installAgents),
  runStep("dynamodb local", fetchDatabase),
]);
const second = await Promise.all([runStep("python", python), runStep("vitest", vitest)]);
const total = sum([...first, ...second]);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1;

async function runStep(name: string, step: () => Promise<Tally>): Promise<Tally> {
  const began = performance.now();
  try {
    return await step();
  } catch (error) {
    console.error(`${name} did not end as it should:`, error);
    return { passed: 0, failed: 1 };
  } finally {
    console.log(`${name}: ${((performance.now() - began) / 1000).toFixed(0)} s`);
  }
}

/** Downloads the third-party agents while the processors are busy; the tests of the agents would do it otherwise. */
async function installAgents(): Promise<Tally> {
  await installThirdPartyAgents();
  return { passed: 0, failed: 0 };
}

/** Downloads DynamoDB Local at the same time; its tests would do it otherwise. */
async function fetchDatabase(): Promise<Tally> {
  const fetched = await fetchDynamoDbLocal();
  if (typeof fetched !== "string") throw new Error(`DynamoDB Local needs ${fetched.missing}`);
  return { passed: 0, failed: 0 };
}

async function requireTools(): Promise<void> {
  const { exitCode, output } = await runCommand("bash", ["scripts/install-test-tools.sh", "--check"]);
  if (exitCode !== 0) {
    console.error(`The tests need: ${output.split("\n").join(", ")}. Run: bash scripts/install-test-tools.sh`);
    process.exit(1);
  }
}

async function check(): Promise<Tally> {
  return countChecks(await runChecks(checksBesideTests));
}

function countChecks(results: readonly CheckResult[]): Tally {
  for (const result of results) {
    console.log(describeCheck(result));
  }
  const passed = results.filter((result) => result.ok).length;
  return { passed, failed: results.length - passed };
}

/** The Python client: its script brings all that it needs. */
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
