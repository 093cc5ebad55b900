import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { root } from "../scripts/run-command.ts";
import { readAllTags } from "../scripts/sentences.ts";

const SentenceChange = v.strictObject({
  /** The id of the sentence that the change breaks. */
  id: v.string(),
  file: v.string(),
  /** Code that the file has once, and what replaces it. */
  text: v.string(),
  replacement: v.string(),
});
export type SentenceChange = v.InferOutput<typeof SentenceChange>;

/** The changes by which the code breaks a sentence of the API's contract. */
export const readSentenceChanges = (): SentenceChange[] =>
  v.parse(v.array(SentenceChange), JSON.parse(readFileSync(join(root, "lab/sentences.json"), "utf8")));

/** Why a change cannot be tried; undefined if it can. */
export function findChangeProblem({ text, replacement, file }: SentenceChange, code: string): string | undefined {
  if (text === replacement) return "changes nothing";
  const start = code.indexOf(text);
  return start < 0 || code.includes(text, start + 1) ? `${file} does not have its code once` : undefined;
}

/** A line for each change that cannot be tried, or whose sentence no test states. */
export function findChangeProblems(
  changes: readonly SentenceChange[] = readSentenceChanges(),
  ids: ReadonlySet<string> = new Set(readAllTags().tags.map(({ id }) => id)),
  read: (file: string) => string = (file) => readFileSync(join(root, file), "utf8"),
): string[] {
  return changes.flatMap((change) => {
    const problem = ids.has(change.id) ? findChangeProblem(change, read(change.file)) : "no test has its tag";
    return problem === undefined ? [] : [`${change.id}: ${problem}`];
  });
}
