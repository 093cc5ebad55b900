/**
 * Holds the tests that ran against the sentences of the API's contract, test/contract/sentences.json; each tier does so
 * after vitest. By hand: `npx vitest run --reporter=json --outputFile=FILE`, then `node scripts/sentences.ts FILE`.
 */
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import * as v from "valibot";
import { type CheckResult, describeCheck } from "./checks.ts";
import { root } from "./run-command.ts";
import { type Tier, tierOf } from "./tiers.ts";

/** A reason must be meaningful: "later" is not one. */
const LEAST_REASON = 20;

const Sentence = v.strictObject({
  /** Section, what it is about, and what it says of that: `2.cancel.order`. */
  id: v.pipe(v.string(), v.regex(/^[0-9][\w.-]+$/)),
  sentence: v.pipe(v.string(), v.nonEmpty()),
  /**
   * Tests that hold it: file, describes and name, joined by ` > `. A `*` stands for any text, where a test is written for
   * several cases or routes; every test that it matches has to have passed.
   */
  tests: v.exactOptional(v.array(v.string())),
  /** Why there are no tests. */
  reason: v.exactOptional(v.string()),
});
const Sections = v.array(v.strictObject({ section: v.string(), sentences: v.array(Sentence) }));
type Sections = v.InferOutput<typeof Sections>;

const Report = v.object({
  testResults: v.array(
    v.object({
      name: v.string(),
      assertionResults: v.array(
        v.object({ ancestorTitles: v.array(v.string()), title: v.string(), status: v.string() }),
      ),
    }),
  ),
});

/** Test ids with what became of them: `passed`, `failed`, `skipped` and so on. */
type Outcomes = ReadonlyMap<string, readonly string[]>;

interface SentencesOptions {
  readonly sections?: Sections;
  /** The tier that ran. Default: both. */
  readonly tier?: Tier;
}

/** The sentences that the repository holds itself to. */
export function readSentences(): Sections {
  return v.parse(Sections, JSON.parse(readFileSync(join(root, "test/contract/sentences.json"), "utf8")));
}

/**
 * One check, regardless of the number of sentences: each has a test that passed, or the reason why there is none.
 * `report` is what vitest's JSON reporter wrote of a whole run, or of the tests of one tier, which are then looked for alone.
 */
export function checkSentences(
  report: string,
  { sections = readSentences(), tier }: SentencesOptions = {},
): CheckResult {
  const started = performance.now();
  const sentences = sections.flatMap((section) => section.sentences);
  const outcomes = readOutcomes(report);
  const problems = [
    ...sentences.flatMap((sentence) =>
      findProblems(sentence, outcomes, tier).map((problem) => `${sentence.id}: ${problem}`),
    ),
    ...repeated(sentences.map(({ id }) => id)).map((id) => `${id}: is there twice`),
    ...(sentences.length === 0 ? ["there are no sentences"] : []),
  ];
  const seconds = (performance.now() - started) / 1000;
  return { name: "contract", ok: problems.length === 0, output: problems.join("\n"), seconds };
}

function findProblems(
  { tests, reason }: v.InferOutput<typeof Sentence>,
  outcomes: Outcomes,
  tier: Tier | undefined,
): string[] {
  if (tests === undefined && reason === undefined) return ["has neither tests nor a reason"];
  if (tests !== undefined && reason !== undefined) return ["has both tests and a reason"];
  if (tests === undefined) return (reason ?? "").trim().length < LEAST_REASON ? ["its reason says nothing"] : [];
  if (tests.length === 0) return ["has an empty list of tests"];
  const wanted = tests.filter((test) => tier === undefined || tierOf(test.split(" > ")[0] ?? "") === tier);
  return wanted.flatMap((test) => problemsOfTest(test, outcomes));
}

function problemsOfTest(test: string, outcomes: Outcomes): string[] {
  const found = test.includes("*")
    ? [...outcomes].filter(([id]) => matches(test, id)).flatMap(([, statuses]) => statuses)
    : (outcomes.get(test) ?? []);
  if (found.length === 0) return [`no test that ran is called ${test}`];
  const others = found.filter((status) => status !== "passed");
  return others.length === 0 ? [] : [`${[...new Set(others)].join(", ")}: ${test}`];
}

function matches(pattern: string, id: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  if (!id.startsWith(first)) return false;
  const last = rest.pop() ?? "";
  let at = first.length;
  for (const part of rest) {
    const found = id.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return id.length - last.length >= at && id.endsWith(last);
}

/** Names may repeat within a file; then all of that name count. */
function readOutcomes(report: string): Outcomes {
  const outcomes = new Map<string, string[]>();
  for (const { name, assertionResults } of v.parse(Report, JSON.parse(report)).testResults) {
    for (const { ancestorTitles, title, status } of assertionResults) {
      const id = [relative(root, name), ...ancestorTitles, title].join(" > ");
      outcomes.set(id, [...(outcomes.get(id) ?? []), status]);
    }
  }
  return outcomes;
}

const repeated = (ids: readonly string[]): string[] => [
  ...new Set(ids.filter((id, index) => ids.indexOf(id) !== index)),
];

if (import.meta.main) {
  const [file] = process.argv.slice(2);
  if (file === undefined) throw new Error("usage: node scripts/sentences.ts FILE, a report of vitest's JSON reporter");
  const result = checkSentences(readFileSync(file, "utf8"));
  console.log(describeCheck(result));
  process.exitCode = result.ok ? 0 : 1;
}
