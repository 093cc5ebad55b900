/**
 * `npm run lab -- mutate-planted`: plants bugs of usual kinds at places chosen at random, and reports which of them the tests notice.
 */
import { randomUUID } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import * as v from "valibot";
import { root, runCommand } from "../scripts/run-command.ts";
import { seededRandom } from "../shared/random.ts";
import { leaveOutDanger } from "./mutation/throw-away.ts";
import { type Candidate, findCandidates, KINDS } from "./planted/candidates.ts";
import { copyRepository, listFiles, plant } from "./planted/planted.ts";
import { findTests, type Reach, readReach, updateReach } from "./planted/reach.ts";
import { runTests } from "./planted/tests.ts";

const CODE = ["shared", "functions", "harness", "infra"];
/** Folders of tests that run this code, but neither browsers, package managers nor the emulator. */
const TESTS = ["domain", "api", "events", "store", "security", "infra", "harness", "server", "reliability", "e2e"];

const HELP = `npm run lab -- mutate-planted

  --count N     bugs to plant, one at a time (default: 20)
  --seed N      chooses the same bugs again (default: a new one, which is printed)
  --folder F    where to plant them; may be given several times (default: ${CODE.join(", ")})
  --tests F     folders of the tests; may be given several times (default: ${TESTS.join(", ")} of test/)
  --minutes N   a bug that no test has noticed after so many minutes survives (default: 10)
  --workers N   test processes at the same time (default: 2)
  --list        prints the bugs and ends
  --reach       finds out which test files run which code, and ends
  --known       tries only test files of which an earlier run found that out`;

const ONE_FILE_SECONDS = 300;
/** The time that a test file gets which ends without a bug, to find out whether it ends with the bug. */
const ENDLESS_SECONDS = 60;

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "20" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    folder: { type: "string", multiple: true, default: CODE },
    tests: { type: "string", multiple: true, default: TESTS.map((folder) => `test/${folder}`) },
    minutes: { type: "string", default: "10" },
    workers: { type: "string", default: "2" },
    list: { type: "boolean" },
    reach: { type: "boolean" },
    known: { type: "boolean" },
    help: { type: "boolean" },
  },
});
const Numbers = v.object({ count: toNumber(), seed: toNumber(), minutes: toNumber(), workers: toNumber() });
const { count, seed, minutes, workers } = v.parse(Numbers, values);

if (values.help === true) console.log(HELP);
else await main();

function toNumber() {
  return v.pipe(v.string(), v.regex(/^\d{1,9}$/, "must be a whole number"), v.toNumber());
}

async function main(): Promise<void> {
  const folder = join(root, ".runyard/mutation", `planted-${randomUUID()}`);
  try {
    if (values.reach === true) {
      await updateReach({ code: CODE, tests: values.tests, workers });
      return;
    }
    console.log(`seed ${seed}`);
    const copy = join(folder, "copy");
    // Some of them are noticed by the checks.
    const places = await choosePlaces(3 * count);
    await copyRepository(copy);
    const safe = new Set(leaveOutDanger(places.map(({ file }) => file)));
    const bugs = (await removeChecked(copy, places)).filter(({ file }) => safe.has(file)).slice(0, count);
    if (values.list === true) return console.log(bugs.map(format).join("\n"));
    const reach = values.known === true ? readReach() : await updateReach({ code: CODE, tests: values.tests, workers });
    let caught = 0;
    for (const bug of bugs) if (await tryBug(copy, bug, reach)) caught++;
    console.log(`${caught} of ${bugs.length} caught, seed ${seed}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function tryBug(copy: string, bug: Candidate, reach: Reach): Promise<boolean> {
  const started = performance.now();
  const files = findTests(copy, reach, bug);
  const outcome = await findCatcher(copy, files, bug);
  const seconds = Math.round((performance.now() - started) / 1000);
  const caught = typeof outcome === "object";
  const how = caught ? `caught by ${outcome.file}: ${outcome.failed ?? "the file did not load"}` : outcome;
  console.log(`${how} (${files.length} test files run it, ${seconds} s)\n  ${format(bug)}`);
  return caught;
}

interface Catcher {
  readonly file: string;
  /** The title of the first test that failed. */
  readonly failed: string | undefined;
}

/**
 * Files share modules at first, since that is faster. The one that failed must then fail with the bug and pass without it,
 * in a process of its own; otherwise the search goes on without it.
 */
async function findCatcher(
  copy: string,
  files: readonly string[],
  bug: Candidate,
): Promise<Catcher | "SURVIVED" | "SURVIVED until the time was up"> {
  const ends = performance.now() + minutes * 60_000;
  let remaining = files;
  while (remaining.length > 0) {
    const restore = plant(copy, bug);
    const seconds = Math.max(1, Math.ceil((ends - performance.now()) / 1000));
    const many = { files: remaining, workers, seconds, isolate: false, bail: true };
    const { results, late } = await runTests(copy, many);
    // Bail reports the files that it cut off as failed, too, but without a failed test.
    const failed = results.find(({ failures }) => failures.length > 0) ?? results.find(({ passed }) => !passed);
    const one = { files: [failed?.file ?? ""], workers: 1, seconds: ONE_FILE_SECONDS, isolate: true, bail: false };
    const withBug = failed === undefined ? undefined : (await runTests(copy, one)).results[0];
    restore();
    if (late) return (await findEndless(copy, remaining, bug)) ?? "SURVIVED until the time was up";
    if (failed === undefined) return "SURVIVED";
    const without = (await runTests(copy, one)).results[0];
    if (withBug?.passed !== true && without?.passed === true) {
      return { file: failed.file, failed: withBug?.failures[0] ?? failed.failures[0] };
    }
    const done = results.filter(({ passed, file }) => passed || file === failed.file).map(({ file }) => file);
    remaining = remaining.filter((file) => !done.includes(file));
  }
  return "SURVIVED";
}

/** The first of the nearest test files that does not end with the bug, but passes soon without it: a loop that never ends is noticed. */
async function findEndless(copy: string, files: readonly string[], bug: Candidate): Promise<Catcher | undefined> {
  for (const file of files.slice(0, 3)) {
    const one = { files: [file], workers: 1, seconds: ENDLESS_SECONDS, isolate: true, bail: false };
    const restore = plant(copy, bug);
    const withBug = await runTests(copy, one);
    restore();
    const without = (await runTests(copy, one)).results[0];
    const isQuick = without?.passed === true && without.milliseconds < (ENDLESS_SECONDS * 1000) / 3;
    if (withBug.late && isQuick) return { file, failed: `it does not end in ${ENDLESS_SECONDS} s` };
  }
  return undefined;
}

/** The bugs that neither the type checker nor the linter notices. */
async function removeChecked(copy: string, bugs: readonly Candidate[]): Promise<readonly Candidate[]> {
  const restores = bugs.map((bug) => plant(copy, bug));
  const tool = (name: string, args: readonly string[]) =>
    runCommand(join(root, "node_modules/.bin", name), args, { cwd: copy });
  const files = bugs.map(({ file }) => file);
  const results = await Promise.all([
    tool("tsc", ["--noEmit", "--pretty", "false"]),
    tool("biome", ["lint", "--vcs-enabled=false", "--max-diagnostics=none", "--reporter=github", ...files]),
    tool("oxlint", ["--type-aware", "--quiet", "--format=unix", ...files]),
  ]);
  for (const restore of restores) restore();
  const complaints = results.map(({ output }) => output).join("\n");
  return bugs.filter(({ file }) => !complaints.includes(file));
}

/** First a kind, then a place: otherwise most bugs would be of the most frequent kind. A file gets one bug at most. */
async function choosePlaces(wanted: number): Promise<readonly Candidate[]> {
  const files = (await listFiles(values.folder)).filter((file) => /\.ts$/.test(file));
  const all = files.flatMap((file) => findCandidates(file, readFileSync(join(root, file), "utf8")));
  const random = seededRandom(seed);
  const chosen: Candidate[] = [];
  while (chosen.length < Math.min(wanted, files.length / 2)) {
    const kind = KINDS[Math.floor(random() * KINDS.length)];
    const places = all.filter((one) => one.kind === kind);
    const one = places[Math.floor(random() * places.length)];
    if (one !== undefined && !chosen.some(({ file }) => file === one.file)) chosen.push(one);
  }
  return chosen;
}

function format({ kind, file, line, original, replacement }: Candidate): string {
  const shorten = (code: string) => code.replaceAll(/\s+/g, " ").slice(0, 160);
  return `${kind}, ${file}:${line}\n    ${shorten(original)}\n    ${shorten(replacement)}`;
}
