import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import type { Turn } from "../../support/model-shapes.ts";
import { use } from "../support/agent-run.ts";

/** A task of the agent with the responses of a model, as they were recorded. Its tools and their results are real. */
export interface RecordedTask {
  readonly name: string;
  readonly prompt: string;
  readonly files: Readonly<Record<string, string>>;
  readonly turns: readonly Turn[];
}

const command = (text: string) => use("run_command", { command: text });
const read = (...files: readonly object[]) => use("read_files", { files });
const replace = (file: string, old_text: string, new_text: string) =>
  use("edit_files", { edits: [{ path: file, action: "replace", old_text, new_text }] });

const MEDIAN = `/** The middle value of a list of numbers; of an even number of them, the mean of the two in the middle. */
export function median(values) {
  const sorted = [...values].sort();
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
`;
const MEDIAN_TEST = `import assert from "node:assert/strict";
import { test } from "node:test";
import { median } from "./median.mjs";

test("of an odd number of values", () => assert.equal(median([3, 1, 2]), 2));
test("of an even number of values", () => assert.equal(median([4, 1, 3, 2]), 2.5));
test("of values with several digits", () => assert.equal(median([100, 9, 20]), 20));
`;

/** The parsers of the agent itself, as a repository of ordinary size. */
function readSources(): Record<string, string> {
  const folder = path.join(import.meta.dirname, "../../../harness/agent/dialects");
  return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(path.join(folder, name), "utf8")]));
}

export const TASKS: readonly RecordedTask[] = [
  {
    name: "repair a sum",
    prompt: "The test fails. Repair it.",
    files: {
      "add.mjs": "export const add = (a, b) => a - b;\n",
      "add.test.mjs": `import assert from "node:assert";
import { test } from "node:test";
import { add } from "./add.mjs";
test("adds", () => assert.equal(add(1, 2), 3));
`,
    },
    turns: [
      { text: "I look at the test first.", tools: [read({ path: "add.mjs" }, { path: "add.test.mjs" })] },
      { tools: [command("node --test")] },
      { tools: [replace("add.mjs", "a - b", "a + b"), command("node --test")] },
      { text: "The sum is repaired: add() subtracted." },
    ],
  },
  {
    name: "repair a median",
    prompt:
      "The test of this repository fails. Find out why, repair the code and not the test, and run the test again.",
    files: { "median.mjs": MEDIAN, "median.test.mjs": MEDIAN_TEST },
    turns: [
      { tools: [use("glob", { pattern: "*" })] },
      { tools: [read({ path: "median.mjs" }, { path: "median.test.mjs" })] },
      { tools: [command("node --test 2>&1 | tail -60")] },
      { text: "sort() compares texts.", tools: [replace("median.mjs", ".sort()", ".sort((a, b) => a - b)")] },
      { tools: [command("node --test && git diff")] },
      { text: "The values were sorted as texts, so 100 came before 9." },
    ],
  },
  {
    name: "explain code",
    prompt: "How does this code keep the ids of tool calls? Name the functions.",
    files: readSources(),
    turns: [
      { tools: [use("glob", { pattern: "**/*.ts" })] },
      { tools: [use("search_files", { pattern: "assignId|createIds", glob: "*.ts" })] },
      { tools: [read({ path: "call-ids.ts" }, { path: "chat-calls.ts" })] },
      { tools: [read({ path: "chat.ts", start_line: 85, end_line: 150 }), read({ path: "messages.ts" })] },
      { tools: [use("search_files", { pattern: "listCompletionIds|listMessageIds|listResponseIds" })] },
      {
        text: "createIds() assigns an id once, and keeps that of the provider unless the conversation has it already.",
      },
    ],
  },
  {
    name: "read the output of commands",
    prompt: "Count the lines of the files, and show the longest ones.",
    files: readSources(),
    turns: [
      { tools: [command("ls -l && git log --stat | head -40")] },
      { tools: [command("wc -l *.ts | sort -n")] },
      { tools: [command('awk \'length > 100 { print FILENAME ":" FNR ": " $0 }\' *.ts')] },
      { tools: [command("node missing.mjs")] },
      { text: "The longest file is chat.ts." },
    ],
  },
];
