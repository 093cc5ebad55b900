/** Which test files run which code. It is kept between runs, and found out again for test files that changed or failed. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as v from "valibot";
import { root } from "../../scripts/run-command.ts";
import { findBlocks, findBlocksAround, instrument, toFileKey } from "./blocks.ts";
import type { Candidate } from "./candidates.ts";
import { copyRepository, listFiles } from "./planted.ts";
import { runTests } from "./tests.ts";

const Entry = v.object({
  hash: v.string(),
  milliseconds: v.number(),
  /** False if a test of it failed on the instrumented code, which is larger and slower. It may notice a bug all the same. */
  passed: v.boolean(),
  /** Positions in `keys`. */
  reached: v.array(v.number()),
});
const Reach = v.object({ keys: v.array(v.string()), tests: v.record(v.string(), Entry) });
export type Reach = v.InferOutput<typeof Reach>;

const FILE = join(root, ".runyard/mutation/reach.json");
/** Test files of one run of Vitest: what was found out is kept although a later run ends early. */
const BATCH = 25;
const SECONDS = 3_600;

export async function updateReach(options: {
  readonly code: readonly string[];
  readonly tests: readonly string[];
  readonly workers: number;
}): Promise<Reach> {
  const reach = readReach();
  const present = (await listFiles(options.tests)).filter((file) => file.endsWith(".test.ts"));
  const isKnown = (file: string) => reach.tests[file]?.passed === true && reach.tests[file].hash === hashFile(file);
  const changed = present.filter((file) => !isKnown(file));
  const copy = join(root, ".runyard/mutation", `reach-${process.pid}`);
  try {
    if (changed.length > 0) await copyInstrumented(copy, options.code);
    for (let at = 0; at < changed.length; at += BATCH) {
      console.log(`which code tests run: ${at} of ${changed.length} test files done`);
      await addTests(reach, copy, changed.slice(at, at + BATCH), options.workers);
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
  const tests = Object.fromEntries(Object.entries(reach.tests).filter(([file]) => present.includes(file)));
  return { keys: reach.keys, tests };
}

export function readReach(): Reach {
  return existsSync(FILE) ? v.parse(Reach, JSON.parse(readFileSync(FILE, "utf8"))) : { keys: [], tests: {} };
}

function hashFile(file: string): string {
  return createHash("sha256")
    .update(readFileSync(join(root, file)))
    .digest("hex")
    .slice(0, 12);
}

async function copyInstrumented(copy: string, folders: readonly string[]): Promise<void> {
  await copyRepository(copy);
  const hook = join(copy, "lab/planted/hook.mjs");
  for (const file of (await listFiles(folders)).filter((one) => one.endsWith(".ts"))) {
    const code = readFileSync(join(root, file), "utf8");
    writeFileSync(join(copy, file), instrument(code, findBlocks(file, code), hook));
  }
}

async function addTests(reach: Reach, copy: string, files: readonly string[], workers: number): Promise<void> {
  const log = join(copy, "reached.jsonl");
  rmSync(log, { force: true });
  const run = { files, workers, seconds: SECONDS, reach: true, isolate: true, bail: false };
  const { results } = await runTests(copy, run);
  const reached = readLog(log);
  const positions = new Map(reach.keys.map((key, position) => [key, position]));
  const toPosition = (key: string) => {
    const position = positions.get(key) ?? reach.keys.push(key) - 1;
    positions.set(key, position);
    return position;
  };
  for (const { file, passed, milliseconds } of results) {
    if (!passed) console.log(`fails on instrumented code, so it is tried last: ${file}`);
    const keys = [...(reached.get(file) ?? [])];
    reach.tests[file] = { hash: hashFile(file), milliseconds, passed, reached: keys.map(toPosition) };
  }
  mkdirSync(dirname(FILE), { recursive: true });
  writeFileSync(FILE, JSON.stringify(reach));
}

const Line = v.tuple([v.union([v.string(), v.number()]), v.union([v.string(), v.array(v.number())])]);

function readLog(log: string): ReadonlyMap<string, ReadonlySet<string>> {
  const lines = existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : [];
  const workers = new Map<number, string>();
  const reached = new Map<string, Set<string>>();
  for (const line of lines) {
    const [what, by] = v.parse(Line, JSON.parse(line));
    if (typeof what === "number") {
      if (typeof by === "string") workers.set(what, by);
      continue;
    }
    const file = typeof by === "string" ? by : by.map((pid) => workers.get(pid)).find((one) => one !== undefined);
    if (file !== undefined) reached.set(file, (reached.get(file) ?? new Set()).add(what));
  }
  return reached;
}

/** It reads the code instead of running it, and is fast. */
const READER = "test/checks/limits.test.ts";

/** A test file that imports the code counts as if its name had so many words of the code's. */
const IMPORT_WORDS = 2;

/** The test files that run the code around a bug: those that import it or are named like it first, then the fastest. */
export function findTests(copy: string, { keys, tests }: Reach, { file, start, end }: Candidate): readonly string[] {
  const code = readFileSync(join(copy, file), "utf8");
  const around = findBlocksAround(file, code, start, end).map(({ key }) => keys.indexOf(key));
  const block = around.find((position) => position !== -1) ?? keys.indexOf(toFileKey(file));
  const words = new Set(splitWords(file));
  const rank = ([name, { milliseconds, passed }]: readonly [string, Reach["tests"][string]]) => {
    if (!passed) return Number.POSITIVE_INFINITY;
    const shared = splitWords(name).filter((word) => words.has(word)).length;
    const imported = readFileSync(join(copy, name), "utf8").includes(`#${file}"`) ? IMPORT_WORDS : 0;
    return milliseconds - SECONDS * 1000 * (shared + imported);
  };
  const running = Object.entries(tests)
    .filter(([, { reached }]) => reached.includes(block))
    .toSorted((one, other) => (rank(one) < rank(other) ? -1 : 1))
    .map(([name]) => name);
  return [...new Set([READER, ...running])];
}

/** Words of a path, in the singular: `shared/schedules/fire-schedule.ts` and `test/api/schedules/schedule-firing.test.ts` share one. */
export function splitWords(path: string): readonly string[] {
  const words = path.replace(/(\.test)?\.ts$/, "").split(/[/.-]/);
  return [...new Set(words.map((word) => word.replace(/s$/, "")).filter((word) => word !== "test"))];
}
