/**
 * `npm run mutate`: leaves out each condition of the service's transactions in turn and tells which of them no test misses.
 *   --only TEXT     only conditions whose name has TEXT in it
 *   --list          prints their names and ends
 * Exits 1 where a condition survives that test/reliability/survivors.json does not explain.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import * as v from "valibot";
import { runTool } from "./run-command.ts";

const { values } = parseArgs({ options: { only: { type: "string" }, list: { type: "boolean" } } });

/** What could notice: lives that are disturbed, random histories, and the answers to callers. */
const SUITES = [
  ["--project=reliability"],
  ["--project=domain", "test/domain/slots.test.ts", "test/domain/run-life.test.ts", "test/domain/idempotency.test.ts"],
  ["--project=api"],
];

const conditions = (await allConditions()).filter((name) => name.includes(values.only ?? ""));
if (values.list === true) {
  console.log(conditions.join("\n"));
  process.exit(0);
}
const explained = v.parse(
  v.record(v.string(), v.pipe(v.string(), v.minLength(20))),
  JSON.parse(readFileSync("test/reliability/survivors.json", "utf8")),
);
const survivors: string[] = [];
for (const [index, name] of conditions.entries()) {
  const by = await catcherOf(name);
  console.log(`${index + 1}/${conditions.length}  ${by ?? "SURVIVED"}  ${name}`);
  if (by === undefined) survivors.push(name);
}
const unexplained = survivors.filter((name) => explained[name] === undefined);
console.log(
  `${conditions.length - survivors.length} caught, ${survivors.length} survived, ${unexplained.length} unexplained`,
);
process.exitCode = unexplained.length === 0 ? 0 : 1;

/** Every condition that the suites come across, with all of them in place. */
async function allConditions(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), "runyard-mutate-"));
  const file = join(folder, "conditions.txt");
  try {
    for (const suite of SUITES) {
      const { exitCode, output } = await test(suite, { RUNYARD_CONDITIONS: file });
      if (exitCode !== 0) throw new Error(`the tests fail as it is:\n${output.slice(-4_000)}`);
    }
    return [...new Set(readFileSync(file, "utf8").trim().split("\n"))].sort();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The first suite that fails without the condition; undefined where all pass. */
async function catcherOf(name: string): Promise<string | undefined> {
  for (const suite of SUITES) {
    const { exitCode } = await test([...suite, "--bail=1"], { RUNYARD_DROPPED: name });
    if (exitCode !== 0) return suite[0]?.replace("--project=", "");
  }
  return undefined;
}

function test(args: readonly string[], env: Readonly<Record<string, string>>) {
  return runTool("vitest", ["run", "--reporter=dot", ...args], { env, timeoutSeconds: 900 });
}
