/** Chooses the tests that a change is tried with, so that running them once leaves most of five minutes for its mutants. */
import { readFileSync } from "node:fs";
import { basename, matchesGlob } from "node:path";
import { findBlocksAround, toFileKey } from "../planted/blocks.ts";
import { listFiles } from "../planted/planted.ts";
import { type Reach, readReach, splitWords } from "../planted/reach.ts";
import { listByDistance } from "./importers.ts";
import { selectTests } from "./suites.ts";

const MAX_TESTS_OF_FILE = 3;
const MAX_TESTS = 8;
/** Slower test files are left out where their time is known. */
const MAX_MILLISECONDS = 30_000;
/** An import of the changed file, or that all of the change is run, says more than a rare word in both names, which is about 4. */
const IMPORT_WEIGHT = 6;
const REACH_WEIGHT = 6;

interface Test {
  readonly file: string;
  readonly code: string;
  readonly words: readonly string[];
}

/**
 * The test files of a suite that are nearest to changed lines: those that run them, where `npm run lab -- mutate-planted --reach`
 * has found that out, that import their file, or that have rare words of its name in theirs.
 */
export async function findNearestTests(
  patterns: readonly string[],
  suite: readonly string[],
  reach = readReach(),
): Promise<readonly string[]> {
  const { include, exclude } = selectTests(suite);
  const isMatched = (file: string, globs: readonly string[]) => globs.some((glob) => matchesGlob(file, glob));
  const tests = (await listFiles(["test"]))
    .filter((file) => isMatched(file, include) && !isMatched(file, exclude))
    .map((file) => ({ file, code: readFileSync(file, "utf8"), words: splitWords(basename(file)) }));
  const ranked: (readonly Test[])[] = [];
  for (const [file, lines] of Map.groupBy(patterns, toFile)) ranked.push(await rankTests(file, lines, tests, reach));
  // By turns, so that each changed file gets its nearest tests before another one gets more.
  const turns = Array.from({ length: MAX_TESTS_OF_FILE }, (_, turn) => ranked.flatMap((one) => one[turn]?.file ?? []));
  return [...new Set(turns.flat())].slice(0, MAX_TESTS);
}

const toFile = (pattern: string): string => pattern.replace(/:\d+-\d+$/, "");

/** The tests that may notice a change of these lines, the most likely ones first. */
async function rankTests(
  file: string,
  patterns: readonly string[],
  tests: readonly Test[],
  reach: Reach,
): Promise<readonly Test[]> {
  const keys = findChangedKeys(file, patterns, reach);
  const running = tests.filter((test) => keys.length === 0 || isUsable(reach.tests[test.file], keys));
  // A file that no test resembles or imports is tried with the tests of the files that import it.
  for (const files of await listByDistance([file])) {
    const rated = running.map((test) => {
      const reached = keys.filter((key) => reach.tests[test.file]?.reached.includes(key)).length;
      return { test, rating: rateName(test, files, tests) + (REACH_WEIGHT * reached) / Math.max(1, keys.length) };
    });
    const near = rated.filter(({ rating }) => rating > 0);
    if (near.length > 0) return near.toSorted((one, other) => other.rating - one.rating).map(({ test }) => test);
  }
  return running;
}

/** A test file that the map does not have may run anything. */
function isUsable(entry: Reach["tests"][string] | undefined, keys: readonly number[]): boolean {
  if (entry === undefined) return true;
  return entry.passed && entry.milliseconds <= MAX_MILLISECONDS && keys.some((key) => entry.reached.includes(key));
}

/** The rarer a word is among the names of the tests, the more it says. */
function rateName({ words, code }: Test, files: readonly string[], tests: readonly Test[]): number {
  const shared = [...new Set(files.flatMap(splitWords))].filter((word) => words.includes(word));
  const rate = (word: string) => Math.log(tests.length / tests.filter((test) => test.words.includes(word)).length);
  const imported = files.some((file) => code.includes(`#${file}"`)) ? IMPORT_WEIGHT : 0;
  return shared.reduce((sum, word) => sum + rate(word), imported);
}

/** Positions of the changed blocks in the map; of all blocks of the file, or else of the file, if it knows none of those that changed. */
function findChangedKeys(file: string, patterns: readonly string[], { keys }: Reach): readonly number[] {
  const code = readFileSync(file, "utf8");
  const changed = patterns.flatMap(listLines).map((line) => findKnownKey(file, code, line, keys));
  const whole = keys.indexOf(toFileKey(file));
  const blocks = keys.flatMap((key, index) => (key.startsWith(toFileKey(file)) && index !== whole ? [index] : []));
  const choices = [[...new Set(changed)], blocks, [whole]];
  return choices.map((choice) => choice.filter((key) => key !== -1)).find((choice) => choice.length > 0) ?? [];
}

function listLines(pattern: string): readonly number[] {
  const [, first, last] = /:(\d+)-(\d+)$/.exec(pattern) ?? [];
  return Array.from({ length: Number(last) - Number(first) + 1 || 0 }, (_, index) => Number(first) + index);
}

/** The position of the innermost block around a line that the map knows, or -1. */
function findKnownKey(file: string, code: string, line: number, keys: readonly string[]): number {
  const text = code.split("\n")[line - 1] ?? "";
  const end = code.split("\n").slice(0, line).join("\n").length;
  const around = findBlocksAround(file, code, end - text.trimStart().length, end);
  return keys.indexOf(around.find(({ key }) => key !== toFileKey(file) && keys.includes(key))?.key ?? "");
}
