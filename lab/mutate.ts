/** `npm run lab -- mutate`: changes the code in small ways, one at a time, and reports which changes no test notices. */
import { existsSync, statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { findChangedLines } from "./mutation/changed.ts";
import { findNearestTests } from "./mutation/nearest.ts";
import { mutatePython, PYTHON_FOLDER } from "./mutation/python.ts";
import { findRedundantTests, formatResults } from "./mutation/results.ts";
import { chooseSample } from "./mutation/sample.ts";
import { runStryker } from "./mutation/stryker.ts";
import { findFolder, findSuite, MUTABLE_FOLDERS } from "./mutation/suites.ts";
import { findDanger, leaveOutDanger } from "./mutation/throw-away.ts";

const HELP = `npm run lab -- mutate FOLDER|FILE…     mutants of a folder or of files: ${MUTABLE_FOLDERS.filter((folder) => !folder.includes("/")).join(", ")}, clients/typescript,
                                   a folder or file in one of them, or ${PYTHON_FOLDER}
npm run lab -- mutate --changed        mutants of the lines that this branch changed

  --sample PERCENT   mutants of functions chosen at random that have so much of the code
  --seed N           chooses the same functions again (default: a new one, which is printed)
  --base REF         what --changed compares with (default: main)
  --minutes N        ends after so many minutes with what was found out (default: 5 with --changed, otherwise no limit)
  --tests PATH       tests to try mutants with instead of the nearest ones; may be given several times
  --concurrency N    test processes at the same time (default: one less than there are processors)
  --force            tries every mutant again; otherwise only those whose code or tests changed since the last run
  --redundant        lists tests that catch nothing which another does not; tries every mutant with all of its tests
  --help

Exits 1 where a mutant survives. Reports are kept in .runyard/mutation.`;

/** Leaves time for what comes before and after the mutants, so that the whole takes five minutes. */
const CHANGED_SECONDS = 285;
/** Generous, since a time-out counts as caught; but a few must not take up the five minutes. */
const GRACE_SECONDS = 60;
const CHANGED_GRACE_SECONDS = 15;

/** A name of a file has at most 255 bytes. */
const MAX_NAME = 200;

const { values, positionals } = parseCommandLine();
const sample = parseSample();
if (values.help === true) {
  console.log(HELP);
} else if (positionals.length === 1 && positionals[0] === PYTHON_FOLDER) {
  process.exitCode = await mutatePython([
    ...(sample === undefined ? [] : [`--sample=${sample.percent}`, `--seed=${sample.seed}`]),
    ...(values.minutes === undefined ? [] : [`--minutes=${toNumber("--minutes", values.minutes)}`]),
  ]);
} else {
  await mutate();
}

function parseCommandLine() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        changed: { type: "boolean" },
        sample: { type: "string" },
        seed: { type: "string" },
        base: { type: "string" },
        minutes: { type: "string" },
        tests: { type: "string", multiple: true },
        concurrency: { type: "string" },
        force: { type: "boolean" },
        redundant: { type: "boolean" },
        help: { type: "boolean" },
      },
    });
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

function refuse(message: string): never {
  console.error(`${message}\n\n${HELP}`);
  process.exit(2);
}

async function mutate(): Promise<void> {
  const isChanged = values.changed === true;
  // A sample has a report of its own.
  const sampleName = sample === undefined ? [] : [`sample ${sample.percent} ${sample.seed}`];
  const patterns = leaveOutDanger(isChanged ? await changedPatterns() : await choosePatterns());
  if (patterns.length === 0) return console.log("Nothing that is mutated has changed.");
  const seconds = values.minutes === undefined ? undefined : 60 * toNumber("--minutes", values.minutes);
  const outcomes = isChanged
    ? await runByFolder(patterns, seconds ?? CHANGED_SECONDS)
    : [await run([...positionals, ...sampleName], patterns, values.tests ?? findSuites(patterns), seconds)];
  const results = outcomes.flatMap((outcome) => outcome.results);
  console.log(formatResults(results));
  const isWhole = outcomes.every(({ ended }) => ended === "done");
  if (values.redundant === true && isWhole) console.log(`redundant:\n${findRedundantTests(results).join("\n")}`);
  for (const { name, ended } of outcomes) if (ended !== "done") console.log(`Not all mutants of ${name}: ${ended}.`);
  const survived = results.some(({ status }) => status === "Survived" || status === "NoCoverage");
  process.exitCode = survived || outcomes.some(({ ended }) => ended === "failed") ? 1 : 0;
}

/** Folder by folder, so that one with slow tests takes no time from the others. Each gets its share of what is left. */
async function runByFolder(patterns: readonly string[], seconds: number) {
  const end = performance.now() + 1000 * seconds;
  const folders = [...Map.groupBy(patterns, (pattern) => findFolder(toPath(pattern)) ?? "")];
  const outcomes: Awaited<ReturnType<typeof run>>[] = [];
  for (const [index, [folder, changed]] of folders.entries()) {
    const remainingSeconds = (end - performance.now()) / 1000;
    const suite = values.tests ?? (await findNearestTests(changed, findSuite(folder) ?? []));
    console.log(`${folder}: tried with ${suite.length === 0 ? "no test, since none is near" : suite.join(", ")}`);
    outcomes.push(await run([`changed ${folder}`], changed, suite, remainingSeconds / (folders.length - index)));
  }
  return outcomes;
}

async function run(
  names: readonly string[],
  patterns: readonly string[],
  suite: readonly string[],
  seconds: number | undefined,
) {
  const name = names.join("+").replaceAll(/[/ ]/g, "-").slice(0, MAX_NAME);
  const outcome = await runStryker({
    name,
    mutate: patterns,
    suite,
    concurrency: toNumber("--concurrency", values.concurrency ?? String(Math.max(1, availableParallelism() - 1))),
    seconds,
    graceSeconds: values.changed === true ? CHANGED_GRACE_SECONDS : GRACE_SECONDS,
    allKillers: values.redundant === true,
    force: values.force === true || values.redundant === true,
  });
  return { name: names.join(" "), ...outcome };
}

function findSuites(patterns: readonly string[]): readonly string[] {
  return [...new Set(patterns.flatMap((pattern) => findSuite(toPath(pattern)) ?? []))];
}

async function changedPatterns(): Promise<readonly string[]> {
  if (positionals.length > 0) refuse("--changed takes no folder");
  const changed = await findChangedLines(values.base ?? "main");
  return changed.filter((pattern) => pattern.includes(".ts") && findSuite(toPath(pattern)) !== undefined);
}

async function choosePatterns(): Promise<readonly string[]> {
  const patterns = positionals.map(toPattern);
  if (sample === undefined) return patterns;
  console.log(`seed ${sample.seed}`);
  return chooseSample(positionals, sample);
}

function parseSample(): { readonly percent: number; readonly seed: number } | undefined {
  if (values.sample === undefined) return values.seed === undefined ? undefined : refuse("--seed needs --sample");
  if (values.changed === true) refuse("--changed takes no --sample");
  const percent = toNumber("--sample", values.sample);
  if (percent > 100) refuse(`--sample ${values.sample}: must be at most 100`);
  return { percent, seed: toNumber("--seed", values.seed ?? String(1 + (Date.now() % 9_999))) };
}

function toPattern(path: string): string {
  const clean = path.replace(/^\.\//, "").replace(/\/+$/, "");
  const known = `one of ${[...MUTABLE_FOLDERS, PYTHON_FOLDER].join(", ")}, or in one of them`;
  if (clean === PYTHON_FOLDER) refuse(`${PYTHON_FOLDER} is tried alone`);
  if (findSuite(clean) === undefined) refuse(`${path}: must be ${known}`);
  const danger = findDanger(clean);
  if (danger !== undefined) refuse(danger);
  if (!existsSync(clean)) refuse(`${path}: there is no such folder or file`);
  return statSync(clean).isDirectory() ? `${clean}/**/*.ts` : clean;
}

function toPath(pattern: string): string {
  return pattern.replace(/:\d+-\d+$|\/\*\*\/\*\.ts$/, "");
}

function toNumber(option: string, text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) refuse(`${option} ${text}: must be a whole number from 1`);
  return Number(text);
}
