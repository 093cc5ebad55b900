/**
 * `npm run lab -- sentences [ID…]`: makes the code break sentences of the API's contract, one at a time, as sentences.json says, and
 * expects that a test with the tag of the sentence fails. Exits 1 where none does. IDs select sentences by their beginnings.
 */
import { randomUUID } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { root } from "../scripts/run-command.ts";
import { readAllTags } from "../scripts/sentences.ts";
import { copyRepository, plant } from "./planted/planted.ts";
import { runTests } from "./planted/tests.ts";
import { findChangeProblem, readSentenceChanges, type SentenceChange } from "./sentence-changes.ts";

const SECONDS = 300;

const changes = readSentenceChanges();
const beginnings = process.argv.slice(2);
const chosen = changes.filter(({ id }) => beginnings.length === 0 || beginnings.some((one) => id.startsWith(one)));
const { tags } = readAllTags();

const folder = join(root, ".runyard/mutation", `sentences-${randomUUID()}`);
let survivors = 0;
try {
  const copy = join(folder, "copy");
  await copyRepository(copy);
  for (const [index, change] of chosen.entries()) {
    const outcome = await tryChange(copy, change);
    if (outcome.startsWith("SURVIVED")) survivors++;
    console.log(`${index + 1}/${chosen.length}  ${change.id}: ${outcome}`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${chosen.length - survivors} of ${chosen.length} broken sentences noticed`);
process.exitCode = survivors === 0 ? 0 : 1;

async function tryChange(copy: string, change: SentenceChange): Promise<string> {
  const { id, file, text, replacement } = change;
  const code = readFileSync(join(copy, file), "utf8");
  const problem = findChangeProblem(change, code);
  if (problem !== undefined) return `SURVIVED: ${problem}`;
  const start = code.indexOf(text);
  const tests = tags.filter((tag) => tag.id === id).map(({ test }) => readTest(test));
  if (tests.length === 0) return "SURVIVED: no test has its tag";
  const files = [...new Set(tests.map((test) => test.file))];
  const restore = plant(copy, { file, start, end: start + text.length, replacement });
  const { results, late } = await runTests(copy, { files, workers: 1, seconds: SECONDS, isolate: true, bail: false });
  restore();
  if (late) return "noticed by a test that does not end";
  const failed = results.flatMap((result) => result.failures.map((title) => ({ file: result.file, title })));
  const caught = failed.find((one) => tests.some((test) => test.file === one.file && test.title.test(one.title)));
  return caught === undefined ? `SURVIVED ${files.join(", ")}` : `noticed by ${caught.file}: ${caught.title}`;
}

/** The file of a tagged test, and the title that it has in a report: of one test, of a group, or of one for each of several cases. */
function readTest(place: string): { file: string; title: RegExp } {
  const [file = "", line = "1"] = place.split(":");
  const code = readFileSync(join(root, file), "utf8")
    .split("\n")
    .slice(Number(line) - 1)
    .join("\n");
  const opening = /^\s*\w+\.each\b/.test(code) ? /\)\s*\(\s*(["`])(.*?)\1/s : /\(\s*(["`])(.*?)\1/s;
  const [, , title = ""] = opening.exec(code) ?? [];
  const parts = title.split(/%[a-z]|\$\{?[\w.]+\}?/).map((part) => RegExp.escape(part));
  return { file, title: new RegExp(parts.join(".*")) };
}
