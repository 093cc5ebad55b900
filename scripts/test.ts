/** `npm test`: everything, nothing skipped. Its last line is the sum over every runner: `N passed, N failed`. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeCheck, runChecks } from "./checks.ts";
import { runCommand, runTool } from "./run-command.ts";
import { countVitest, sum, type Tally } from "./tally.ts";

const runners: Record<string, () => Promise<Tally>> = { check, vitest };

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
  const results = await runChecks();
  for (const result of results) {
    console.log(describeCheck(result));
  }
  const passed = results.filter((result) => result.ok).length;
  return { passed, failed: results.length - passed };
}

async function vitest(): Promise<Tally> {
  const folder = mkdtempSync(join(tmpdir(), "runyard-test-"));
  try {
    const file = join(folder, "vitest.json");
    const args = ["run", "--reporter=default", "--reporter=json", `--outputFile.json=${file}`];
    const { exitCode } = await runTool("vitest", args, { show: true, timeoutSeconds: 900 });
    return countVitest(readFileSync(file, "utf8"), exitCode);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function crashed(name: string, error: unknown): Tally {
  console.error(`${name} did not end as it should:`, error);
  return { passed: 0, failed: 1 };
}
