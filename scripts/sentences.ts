/**
 * The sentences of the API's contract, each of which stands above a test that shows it:
 *
 *     // @contract runs.cancel.terminal: A run that has ended is 400 invalid_request, wherever it was executed.
 *     it("returns 400 …
 *
 * Further tests of a sentence have its id only: `// @contract runs.cancel.terminal`. `node scripts/sentences.ts [runs.cancel]` prints
 * them with their tests.
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./run-command.ts";

/** What a line with a tag is: the id, and what the contract says. */
const TAG = /^\s*\/\/ @contract ([a-z][\w-]*(?:\.[\w-]+)*)(?:: (\S.*))?$/;
/** A test, a group of tests, or a function of the tests that adds some. */
const TEST = /^\s*(?:it|test|describe|\w+Contract)\b/;

interface Tag {
  readonly id: string;
  readonly sentence: string | undefined;
  /** The file and line of the test. */
  readonly test: string;
}

/** The tags of a file, and a line for each that cannot be read or has no test below it. */
export function readTags(file: string, text: string): { tags: Tag[]; problems: string[] } {
  const lines = text.split("\n");
  const tagged = lines.flatMap((line, index) => (line.includes("// @contract") ? [{ line, index }] : []));
  const found = tagged.map(({ line, index }) => {
    const [, id, sentence] = TAG.exec(line) ?? [];
    if (id === undefined)
      return { problem: `${file}:${index + 1}: write "// @contract ID: sentence" or "// @contract ID"` };
    const below = lines.findIndex((other, at) => at > index && !other.includes("// @contract"));
    if (!TEST.test(lines[below] ?? "")) return { problem: `${file}:${index + 1}: ${id} has no test below it` };
    return { tag: { id, sentence, test: `${file}:${below + 1}` } };
  });
  return {
    tags: found.flatMap(({ tag }) => tag ?? []),
    problems: found.flatMap(({ problem }) => problem ?? []),
  };
}

/** Each id has one sentence. */
export function findProblems(tags: readonly Tag[]): string[] {
  return [...Map.groupBy(tags, ({ id }) => id)].flatMap(([id, same]) => {
    const stated = same.filter(({ sentence }) => sentence !== undefined);
    if (stated.length === 1) return [];
    const places = (stated.length === 0 ? same : stated).map(({ test }) => test).join(", ");
    return [
      stated.length === 0 ? `${id} has no sentence: ${places}` : `${id} has ${stated.length} sentences: ${places}`,
    ];
  });
}

/** The tags of all tests. */
export function readAllTags(): ReturnType<typeof readTags> {
  const files = globSync("test/**/*.ts", { cwd: root }).toSorted();
  const found = files.map((file) => readTags(file, readFileSync(join(root, file), "utf8")));
  return { tags: found.flatMap(({ tags }) => tags), problems: found.flatMap(({ problems }) => problems) };
}

/** A line for each mistake in the tags of the tests. */
export function findSentenceProblems(): string[] {
  const { tags, problems } = readAllTags();
  return [...problems, ...findProblems(tags), ...(tags.length === 0 ? ["no test has a sentence of the contract"] : [])];
}

if (import.meta.main) {
  const [prefix = ""] = process.argv.slice(2);
  const tags = readAllTags().tags.filter(({ id }) => id.startsWith(prefix));
  const sorted = [...Map.groupBy(tags, ({ id }) => id)].toSorted(([one], [other]) => one.localeCompare(other));
  for (const [id, same] of sorted) {
    console.log(`${id}: ${same.find(({ sentence }) => sentence !== undefined)?.sentence ?? ""}`);
    for (const { test } of same) console.log(`  ${test}`);
  }
}
