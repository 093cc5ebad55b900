/**
 * `npm run lab -- mutate-conditions`: removes each condition of the service's transactions in turn and reports those that no test catches.
 *   --only TEXT     only conditions whose name has TEXT in it; may be given several times
 *   --list          prints their names and ends
 * test/reliability/survivors.json explains what survives. Conditions that refuse the same writes are left out together, and must be
 * missed together. Exits 1 where a condition survives unexplained, or one is explained that is caught.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, matchesGlob } from "node:path";
import { parseArgs } from "node:util";
import * as v from "valibot";
import { runTool } from "../scripts/run-command.ts";

const { values } = parseArgs({ options: { only: { type: "string", multiple: true }, list: { type: "boolean" } } });

/** What could notice: lives that are disturbed, random histories, and the responses to callers. */
const SUITES = [
  "test/reliability",
  "test/domain/capacity/slots.test.ts",
  "test/domain/runs/run-life.test.ts",
  "test/domain/http/idempotency.test.ts",
  "test/domain/budgets/reservations.test.ts",
  "test/api",
  "test/security",
];
const Noted = v.union([v.tuple([v.string(), v.string()]), v.tuple([v.string()])]);
const Survivor = v.object({
  /** Conditions without their function; `*` for any text without a space. */
  conditions: v.array(v.string()),
  /** The functions it is about. Default: all. */
  functions: v.exactOptional(v.array(v.string())),
  /** They refuse the same writes: with all of a function's left out, a test must notice. Default: false. */
  caught_together: v.exactOptional(v.boolean()),
  because: v.pipe(v.string(), v.minLength(20)),
});
type Survivor = v.InferOutput<typeof Survivor>;
const SECONDS = 1_800;

const explanations = v.parse(v.array(Survivor), JSON.parse(readFileSync("test/reliability/survivors.json", "utf8")));
const filesByCondition = await allConditions();
const conditions = [...filesByCondition.keys()]
  .filter((name) => values.only === undefined || values.only.some((text) => name.includes(text)))
  .sort();
if (values.list === true) {
  console.log(conditions.join("\n"));
  process.exit(0);
}
const catchers = new Map<string, Promise<string | undefined>>();
const counts = { caught: 0, "caught with its twins": 0, explained: 0, unexplained: 0, "explained, but caught": 0 };
for (const [index, name] of conditions.entries()) {
  const { outcome, by } = await tryWithout(name);
  counts[outcome]++;
  console.log(`${index + 1}/${conditions.length}  ${outcome}${by === undefined ? "" : ` by ${by}`}  ${name}`);
}
console.log(
  Object.entries(counts)
    .map(([outcome, count]) => `${count} ${outcome}`)
    .join(", "),
);
process.exitCode = counts.unexplained + counts["explained, but caught"] === 0 ? 0 : 1;

async function tryWithout(name: string): Promise<{ outcome: keyof typeof counts; by?: string }> {
  const explanation = explanations.find((survivor) => isAbout(survivor, name));
  if (explanation?.caught_together !== true) {
    const by = await findCatcherOnce([name]);
    if (by === undefined) return { outcome: explanation === undefined ? "unexplained" : "explained" };
    return { outcome: explanation === undefined ? "caught" : "explained, but caught", by };
  }
  const [who] = split(name);
  const twins = [...filesByCondition.keys()].filter((other) => split(other)[0] === who && isAbout(explanation, other));
  const by = await findCatcherOnce(twins.sort());
  return by === undefined ? { outcome: "unexplained" } : { outcome: "caught with its twins", by };
}

function isAbout({ conditions, functions }: Survivor, name: string): boolean {
  const [who, what] = split(name);
  return conditions.some((pattern) => matches(what, pattern)) && (functions === undefined || functions.includes(who));
}

/** Slashes and spaces of a condition's name are no separators of a path. */
function matches(what: string, pattern: string): boolean {
  const [text = "", glob = ""] = [what, pattern].map((name) => name.replaceAll("/", ":").replaceAll(" ", "/"));
  return matchesGlob(text, glob);
}

function split(name: string): readonly [who: string, what: string] {
  const at = name.indexOf(" ");
  return [name.slice(0, at), name.slice(at + 1)];
}

/** Every condition that the suites come across with all in place, and the test files in which its write was refused. */
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
      found.set(name, testFile === undefined || files.includes(testFile) ? files : [...files, testFile]);
    }
    return found;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * The first test file that fails without these conditions; undefined if all pass. A test takes another course only from a write
 * that was refused and is no longer, so only those files are run in which one of theirs was.
 */
function findCatcherOnce(names: readonly string[]): Promise<string | undefined> {
  const all = names.join("\n");
  const found = catchers.get(all) ?? findCatcher(names);
  catchers.set(all, found);
  return found;
}

async function findCatcher(names: readonly string[]): Promise<string | undefined> {
  const files = [...new Set(names.flatMap((name) => filesByCondition.get(name) ?? []))];
  if (files.length === 0) return undefined;
  const { exitCode, output } = await test([...files, "--bail=1"], { RUNYARD_DROPPED: names.join("\n") });
  if (exitCode === 0) return undefined;
  return /FAIL .*?(test\/\S+?\.test\.ts)/.exec(output)?.[1] ?? `an end with ${exitCode ?? "a time-out"}`;
}

function test(args: readonly string[], env: Readonly<Record<string, string>>) {
  return runTool("vitest", ["run", "--reporter=dot", ...args], { env, timeoutSeconds: SECONDS });
}
