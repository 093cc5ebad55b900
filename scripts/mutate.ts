/** `npm run mutate`: changes the code in small ways, one at a time, and tells which changes no test notices. */
import { existsSync, statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { findChangedLines } from "./mutation/changed.ts";
import { mutatePython, PYTHON_FOLDER } from "./mutation/python.ts";
import { findRedundantTests, formatResults } from "./mutation/results.ts";
import { runStryker } from "./mutation/stryker.ts";
import { findFolder, findSuite, MUTABLE_FOLDERS } from "./mutation/suites.ts";

const HELP = `npm run mutate -- FOLDER|FILE…     mutants of a folder or of files: ${MUTABLE_FOLDERS.filter((folder) => !folder.includes("/")).join(", ")}, clients/typescript,
                                   a folder or file in one of them, or ${PYTHON_FOLDER}
npm run mutate -- --changed        mutants of the lines that this branch changed

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

const { values, positionals } = parseCommandLine();
if (values.help === true) {
  console.log(HELP);
} else if (positionals.length === 1 && positionals[0] === PYTHON_FOLDER) {
  process.exitCode = await mutatePython();
} else {
  await mutate();
}

function parseCommandLine() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        changed: { type: "boolean" },
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
  const patterns = isChanged ? await changedPatterns() : positionals.map(toPattern);
  if (patterns.length === 0) return console.log("Nothing that is mutated has changed.");
  const seconds = values.minutes === undefined ? undefined : 60 * toNumber("--minutes", values.minutes);
  const outcomes = isChanged
    ? await runByFolder(patterns, seconds ?? CHANGED_SECONDS)
    : [await run(positionals, patterns, seconds)];
  const results = outcomes.flatMap((outcome) => outcome.results);
  console.log(formatResults(results));
  if (values.redundant === true) console.log(`redundant:\n${findRedundantTests(results).join("\n")}`);
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
    const left = (end - performance.now()) / 1000;
    outcomes.push(await run([`changed ${folder}`], changed, left / (folders.length - index)));
  }
  return outcomes;
}

async function run(names: readonly string[], patterns: readonly string[], seconds: number | undefined) {
  const name = names.join("+").replaceAll(/[/ ]/g, "-");
  const outcome = await runStryker({
    name,
    mutate: patterns,
    suite: values.tests ?? [...new Set(patterns.flatMap((pattern) => findSuite(toPath(pattern)) ?? []))],
    concurrency: toNumber("--concurrency", values.concurrency ?? String(Math.max(1, availableParallelism() - 1))),
    seconds,
    allKillers: values.redundant === true,
    force: values.force === true || values.redundant === true,
  });
  return { name: names.join(" "), ...outcome };
}

async function changedPatterns(): Promise<readonly string[]> {
  if (positionals.length > 0) refuse("--changed takes no folder");
  const changed = await findChangedLines(values.base ?? "main");
  return changed.filter((pattern) => pattern.includes(".ts") && findSuite(toPath(pattern)) !== undefined);
}

function toPattern(path: string): string {
  const clean = path.replace(/^\.\//, "").replace(/\/+$/, "");
  const known = `one of ${[...MUTABLE_FOLDERS, PYTHON_FOLDER].join(", ")}, or in one of them`;
  if (clean === PYTHON_FOLDER) refuse(`${PYTHON_FOLDER} is tried alone`);
  if (findSuite(clean) === undefined) refuse(`${path}: must be ${known}`);
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
