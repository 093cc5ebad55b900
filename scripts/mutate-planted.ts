/** `npm run mutate:planted`: plants bugs of usual kinds at places chosen at random, and tells which of them the tests notice. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import * as v from "valibot";
import { FAST_TESTS, testsToEnvironment } from "./mutation/suites.ts";
import { type Candidate, findCandidates, KINDS } from "./planted/candidates.ts";
import { copyRepository, listFiles } from "./planted/planted.ts";
import { root, runCommand } from "./run-command.ts";

const HELP = `npm run mutate:planted

  --count N     bugs to plant, one at a time (default: 20)
  --seed N      chooses the same bugs again (default: a new one, which is printed)
  --folder F    where to plant them; may be given several times (default: shared, functions, harness, infra)
  --workers N   test processes at the same time (default: 2)
  --list        prints the bugs and ends`;
const SECONDS = 3_600;

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "20" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    folder: { type: "string", multiple: true, default: ["shared", "functions", "harness", "infra"] },
    workers: { type: "string", default: "2" },
    list: { type: "boolean" },
    help: { type: "boolean" },
  },
});
const Report = v.object({ testResults: v.array(v.object({ name: v.string(), status: v.string() })) });
const Numbers = v.record(v.string(), v.pipe(v.string(), v.regex(/^\d{1,9}$/, "must be a whole number"), v.toNumber()));

if (values.help === true) console.log(HELP);
else await main();

async function main(): Promise<void> {
  const { count = 0, seed = 0 } = v.parse(Numbers, { count: values.count, seed: values.seed });
  console.log(`seed ${seed}`);
  // Some of them are noticed by the checks.
  const places = await choosePlaces(3 * count, seed);
  const folder = join(root, ".runyard/mutation", `planted-${process.pid}`);
  const copy = join(folder, "copy");
  try {
    const bugs = (await removeChecked(join(folder, "checked"), places)).slice(0, count);
    if (values.list === true) return console.log(bugs.map(format).join("\n"));
    await copyRepository(copy, bugs, "switched");
    const log = join(folder, "log");
    await test(copy, FAST_TESTS, ["--reporter=json", `--outputFile=${join(folder, "report.json")}`], {
      RUNYARD_PLANTED_LOG: log,
    });
    const passed = readPassedFiles(join(folder, "report.json"), copy);
    const reached = readReached(log);
    let caught = 0;
    for (const [id, bug] of bugs.entries()) {
      const files = passed.filter((file) => reached.get(id)?.has(file));
      const by = files.length === 0 ? undefined : await findCatcher(copy, files, id);
      if (by !== undefined) caught++;
      console.log(
        `${by === undefined ? `SURVIVED (${files.length} test files run it)` : `caught by ${by}`}: ${format(bug)}`,
      );
    }
    console.log(`${caught} of ${bugs.length} caught, seed ${seed}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The bugs that neither the type checker nor the linter notices. */
async function removeChecked(copy: string, bugs: readonly Candidate[]): Promise<readonly Candidate[]> {
  await copyRepository(copy, bugs, "planted");
  const tool = (name: string, args: readonly string[]) =>
    runCommand(join(root, "node_modules/.bin", name), args, { cwd: copy });
  const results = await Promise.all([
    tool("tsc", ["--noEmit", "--pretty", "false"]),
    tool("biome", [
      "lint",
      "--vcs-enabled=false",
      "--max-diagnostics=none",
      "--reporter=github",
      ...bugs.map(({ file }) => file),
    ]),
  ]);
  const complaints = results.map(({ output }) => output).join("\n");
  return bugs.filter(({ file }) => !complaints.includes(file));
}

/** First a kind, then a place: otherwise most bugs would be of the most frequent kind. A file gets one bug at most. */
async function choosePlaces(count: number, seed: number): Promise<readonly Candidate[]> {
  const files = (await listFiles(values.folder)).filter((file) => /\.ts$/.test(file));
  const all = files.flatMap((file) => findCandidates(file, readFileSync(join(root, file), "utf8")));
  const random = createRandom(seed);
  const chosen: Candidate[] = [];
  while (chosen.length < Math.min(count, files.length / 2)) {
    const kind = KINDS[Math.floor(random() * KINDS.length)];
    const places = all.filter((one) => one.kind === kind);
    const one = places[Math.floor(random() * places.length)];
    if (one !== undefined && !chosen.some(({ file }) => file === one.file)) chosen.push(one);
  }
  return chosen;
}

/** Mulberry32: the same numbers for the same seed. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function test(copy: string, suite: readonly string[], args: readonly string[], env: Readonly<Record<string, string>>) {
  const hook = pathToFileURL(join(root, "scripts/planted/hook.mjs")).href;
  const vitest = join(root, "node_modules/.bin/vitest");
  const config = ["--config=scripts/planted/vitest.config.ts", `--maxWorkers=${values.workers}`];
  return runCommand(process.execPath, [vitest, "run", ...config, ...args], {
    cwd: copy,
    timeoutSeconds: SECONDS,
    env: { ...testsToEnvironment(suite), NODE_OPTIONS: `--import=${hook}`, NO_COLOR: "1", ...env },
  });
}

async function findCatcher(copy: string, files: readonly string[], id: number): Promise<string | undefined> {
  const { exitCode, output } = await test(copy, files, ["--bail=1", "--reporter=dot"], { RUNYARD_PLANTED: String(id) });
  return exitCode === 0
    ? undefined
    : (/FAIL\s+(test\/\S+?\.test\.ts[^\n]*)/.exec(output)?.[1] ?? `exit code ${exitCode}`);
}

/** Tests that need more than the copy has fail without a bug, and say nothing about one. */
function readPassedFiles(report: string, copy: string): readonly string[] {
  const { testResults } = v.parse(Report, JSON.parse(readFileSync(report, "utf8")));
  const name = (path: string) => path.slice(copy.length + 1);
  const failed = testResults.filter(({ status }) => status !== "passed").map((result) => name(result.name));
  if (failed.length > 0) console.log(`left out, since they fail without a bug: ${failed.join(", ")}`);
  return testResults.map((result) => name(result.name)).filter((file) => !failed.includes(file));
}

/** The test files that run the code of each bug. */
function readReached(log: string): ReadonlyMap<number, ReadonlySet<string>> {
  const reached = new Map<number, Set<string>>();
  for (const line of existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : []) {
    const [id, file] = v.parse(v.tuple([v.number(), v.string()]), JSON.parse(line));
    reached.set(id, (reached.get(id) ?? new Set()).add(file));
  }
  return reached;
}

function format({ kind, file, line, original, replacement }: Candidate): string {
  const shorten = (code: string) => code.replaceAll(/\s+/g, " ").slice(0, 160);
  return `${kind}, ${file}:${line}\n    ${shorten(original)}\n    ${shorten(replacement)}`;
}
