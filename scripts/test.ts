/**
 * `npm test` and, with `full`, `npm run test:full`: one tier of the tests, nothing skipped. The last line is the sum over every
 * runner: `N passed, N failed`; the lines before it name what failed. Where RUNYARD_TALLY names a file, both tiers write
 * their sums to it, and the second prints the sum of both.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as v from "valibot";
import { type CheckResult, checksBesideTests, describeCheck, runChecks } from "./checks.ts";
import { fetchDynamoDbLocal } from "./dynamodb-local.ts";
import { checkGuarantees } from "./guarantees.ts";
import { setup as installThirdPartyAgents } from "./install-agents.ts";
import { runCommand, runTool } from "./run-command.ts";
import { fetchRuntimeInterface } from "./runtime-interface.ts";
import { countPython, countVitest, recordTier, sum, type Tally } from "./tally.ts";
import { TIER_VARIABLE, Tier } from "./tiers.ts";

const tier = v.parse(v.optional(Tier, "first"), process.argv[2]);
await requireTools();
const own = sum(await (tier === "full" ? runFullTier() : runFirstTier()));
const file = process.env["RUNYARD_TALLY"];
const total = file === undefined || file === "" ? own : recordTier(file, tier, own);
for (const name of total.failures) console.log(`failed: ${name}`);
console.log(`${total.passed} passed, ${total.failures.length} failed`);
process.exitCode = total.failures.length === 0 && own.passed > 0 ? 0 : 1;

/** One after the other, since the checks use both processors. */
async function runFirstTier(): Promise<Tally[]> {
  return [await runStep("check", check), await runStep("vitest", vitest)];
}

/** The tests of the Python client wait for packages and processes, as many of vitest do. */
async function runFullTier(): Promise<Tally[]> {
  const downloads = Promise.all([
    runStep("agents", installAgents),
    runStep("dynamodb local", fetchDatabase),
    runStep("runtime interface", buildRuntimeInterface),
  ]);
  const tests = downloads.then(() => runStep("vitest", vitest));
  return [...(await downloads), ...(await Promise.all([tests, runStep("python", python)]))];
}

async function runStep(name: string, step: () => Promise<Tally>): Promise<Tally> {
  const began = performance.now();
  try {
    return await step();
  } catch (error) {
    console.error(`${name} did not end as it should:`, error);
    return { passed: 0, failures: [name] };
  } finally {
    console.log(`${name}: ${((performance.now() - began) / 1000).toFixed(0)} s`);
  }
}

/** Downloads the third-party agents; the tests of the agents would do it otherwise. */
async function installAgents(): Promise<Tally> {
  await installThirdPartyAgents();
  return { passed: 0, failures: [] };
}

/** Downloads DynamoDB Local at the same time; its tests would do it otherwise. */
async function fetchDatabase(): Promise<Tally> {
  const fetched = await fetchDynamoDbLocal();
  if (typeof fetched !== "string") throw new Error(`DynamoDB Local needs ${fetched.missing}`);
  return { passed: 0, failures: [] };
}

/** Builds Lambda's runtime interface at the same time; its tests would do it otherwise. */
async function buildRuntimeInterface(): Promise<Tally> {
  await fetchRuntimeInterface();
  return { passed: 0, failures: [] };
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
  const failed = results.filter((result) => !result.ok);
  return { passed: results.length - failed.length, failures: failed.map(({ name }) => `check ${name}`) };
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
    const env = { [TIER_VARIABLE]: tier };
    const { exitCode } = await runTool("vitest", args, { show: true, timeoutSeconds: 1_700, env });
    const report = readFileSync(file, "utf8");
    return sum([countVitest(report, exitCode), countChecks([checkGuarantees(report)])]);
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
