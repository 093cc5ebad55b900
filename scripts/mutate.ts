/**
 * `npm run mutate`: leaves out each condition of the service's transactions in turn and tells which of them no test misses.
 *   --only TEXT     only conditions whose name has TEXT in it; may be given several times
 *   --list          prints their names and ends
 * Exits 1 where a condition survives that test/reliability/survivors.json does not explain, or one is explained there that is caught.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import * as v from "valibot";
import { runTool } from "./run-command.ts";

const { values } = parseArgs({ options: { only: { type: "string", multiple: true }, list: { type: "boolean" } } });

/** What could notice: lives that are disturbed, random histories, and the answers to callers. */
const SUITES = [
  "test/reliability",
  "test/domain/slots.test.ts",
  "test/domain/run-life.test.ts",
  "test/domain/idempotency.test.ts",
  "test/api",
];
const Noted = v.tuple([v.string(), v.string()]);
const SECONDS = 1_800;

const filesOf = await allConditions();
const conditions = [...filesOf.keys()]
  .filter((name) => values.only === undefined || values.only.some((text) => name.includes(text)))
  .sort();
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
  const by = await catcherOf(name, filesOf.get(name) ?? []);
  console.log(`${index + 1}/${conditions.length}  ${by ?? "SURVIVED"}  ${name}`);
  if (by === undefined) survivors.push(name);
}
const unexplained = survivors.filter((name) => explained[name] === undefined);
const caught = Object.keys(explained).filter((name) => conditions.includes(name) && !survivors.includes(name));
for (const name of caught) console.log(`caught, though it is explained as a survivor: ${name}`);
console.log(
  `${conditions.length - survivors.length} caught, ${survivors.length} survived, ${unexplained.length} unexplained`,
);
process.exitCode = unexplained.length + caught.length === 0 ? 0 : 1;

/** Every condition that the suites come across with all of them in place, and the test files that do so. */
async function allConditions(): Promise<Map<string, string[]>> {
  const folder = mkdtempSync(join(tmpdir(), "runyard-mutate-"));
  const file = join(folder, "conditions.txt");
  try {
    const { exitCode, output } = await test(SUITES, { RUNYARD_CONDITIONS: file });
    if (exitCode !== 0) throw new Error(`the tests fail as it is:\n${output.slice(-4_000)}`);
    const found = new Map<string, string[]>();
    for (const line of readFileSync(file, "utf8").trim().split("\n")) {
      const [name, testFile] = v.parse(Noted, JSON.parse(line));
      const files = found.get(name) ?? [];
      if (!files.includes(testFile)) found.set(name, [...files, testFile]);
    }
    return found;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The first test file that fails without the condition, of those that come across it; undefined where all pass. */
async function catcherOf(name: string, files: readonly string[]): Promise<string | undefined> {
  const { exitCode, output } = await test([...files, "--bail=1"], { RUNYARD_DROPPED: name });
  if (exitCode === 0) return undefined;
  return /FAIL .*?(test\/\S+?\.test\.ts)/.exec(output)?.[1] ?? `the tests ended with ${exitCode ?? "a time-out"}`;
}

function test(args: readonly string[], env: Readonly<Record<string, string>>) {
  return runTool("vitest", ["run", "--reporter=dot", ...args], { env, timeoutSeconds: SECONDS });
}
