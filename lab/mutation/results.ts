/** What mutation testing found out, and how it is shown. */
import { existsSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import * as v from "valibot";

export const RESULTS_VARIABLE = "RUNYARD_MUTATION_RESULTS";

const Result = v.object({
  file: v.string(),
  line: v.number(),
  column: v.number(),
  mutator: v.string(),
  original: v.string(),
  replacement: v.string(),
  status: v.string(),
  /** Tests that ran the mutated code, and those that failed. Stryker stops at the first that fails, unless it is to find all. */
  coveredBy: v.array(v.string()),
  killedBy: v.array(v.string()),
});
export type Result = v.InferOutput<typeof Result>;

const Equivalent = v.object({
  file: v.string(),
  original: v.string(),
  replacement: v.string(),
  because: v.pipe(v.string(), v.minLength(20)),
});

const SURVIVED = ["Survived", "NoCoverage"];
const CAUGHT = ["Killed", "Timeout"];

/** The results that Stryker's process has written, which may be some of them only. */
export function readResults(file: string): readonly Result[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
  const equivalent = readEquivalents();
  return lines
    .map((line) => v.parse(Result, JSON.parse(line)))
    .map((result) => ({
      ...result,
      status: equivalent.some((one) => isSame(one, result)) ? "Equivalent" : result.status,
    }));
}

/** Reads the mutants that no test can notice, each with its reason. */
export function readEquivalents(): readonly v.InferOutput<typeof Equivalent>[] {
  return v.parse(v.array(Equivalent), JSON.parse(readFileSync("lab/mutation/equivalent.json", "utf8")));
}

function isSame(one: v.InferOutput<typeof Equivalent>, { file, original, replacement, status }: Result): boolean {
  const same = one.file === file && one.original === original && one.replacement === replacement;
  return same && SURVIVED.includes(status);
}

interface Score {
  readonly caught: number;
  readonly survived: number;
  readonly equivalent: number;
}

function countResults(results: readonly Result[]): Score {
  const count = (statuses: readonly string[]) => results.filter(({ status }) => statuses.includes(status)).length;
  return { caught: count(CAUGHT), survived: count(SURVIVED), equivalent: count(["Equivalent"]) };
}

function formatScore({ caught, survived, equivalent }: Score): string {
  const percent = caught + survived === 0 ? "–" : `${((100 * caught) / (caught + survived)).toFixed(1)} %`;
  const noted = equivalent === 0 ? "" : `, ${equivalent} equivalent`;
  return `${percent} (${caught} of ${caught + survived} caught${noted})`;
}

/** Survivors, then the score of each folder and of each file with survivors. */
export function formatResults(results: readonly Result[]): string {
  const survivors = results.filter(({ status }) => SURVIVED.includes(status));
  const scores = [...new Set(results.map(({ file }) => dirname(file)))].sort().map((folder) => {
    const inFolder = results.filter(({ file }) => dirname(file) === folder);
    return `${formatScore(countResults(inFolder))}  ${folder}`;
  });
  return [...survivors.map(formatSurvivor), ...scores, `${formatScore(countResults(results))}  all`].join("\n");
}

function formatSurvivor({ file, line, column, mutator, original, replacement, status }: Result): string {
  const untested = status === "NoCoverage" ? ", no test runs it" : "";
  return `survived: ${file}:${line}:${column} (${mutator}${untested})\n  ${shorten(original)}\n  ${shorten(replacement)}\n`;
}

const shorten = (code: string): string =>
  (code.length > 300 ? `${code.slice(0, 300)}…` : code).replaceAll("\n", "\n  ");

/**
 * Tests without which the same mutants are killed, also if all of them are deleted: those that kill the fewest are left out
 * first. It needs results that name every killer.
 */
export function findRedundantTests(results: readonly Result[]): readonly string[] {
  const kills = new Map(results.flatMap(({ coveredBy }) => coveredBy).map((test) => [test, 0]));
  for (const test of results.flatMap(({ killedBy }) => killedBy)) kills.set(test, (kills.get(test) ?? 0) + 1);
  const redundant = new Set<string>();
  for (const [test] of [...kills].sort(([, one], [, other]) => one - other)) {
    const isNeeded = results.some(
      ({ killedBy }) => killedBy.includes(test) && killedBy.every((one) => one === test || redundant.has(one)),
    );
    if (!isNeeded) redundant.add(test);
  }
  return [...redundant].sort();
}
