import { readdirSync } from "node:fs";
import { extname } from "node:path";
import type { Execution } from "./execution.ts";
import { check } from "./repository.ts";
import type { Task, WrongEdit } from "./tasks.ts";

/**
 * Tests the checker of a task without an agent: it refuses the repository as it is, with modules that end the process as soon as they are
 * loaded, and with each plausible mistake.
 */
export async function testChecker(task: Task): Promise<string[]> {
  const failures: string[] = [];
  if ((await check(task)).passed) failures.push("the checker passes before the run");
  if ((await check(task, { edits: endProcess(task) })).passed)
    failures.push("the checker passes with modules that end the process");
  for (const { why, edits } of task.wrong) {
    const { passed, output } = await check(task, { edits });
    if (passed) failures.push(`the checker passes with a mistake: ${why}`);
    if (output.includes("A wrong change of the task names")) failures.push(`${why}: ${output}`);
  }
  return failures;
}

const ENDS: Readonly<Record<string, string>> = {
  ".py": "import os\nos._exit(0)\n",
  ".js": "process.exit(0);\n",
  ".ts": "process.exit(0);\n",
};
const GO_END = { path: "end.go", new_text: 'package task\n\nimport "os"\n\nfunc init() { os.Exit(0) }\n' };

/** A plausible mistake of the task, after which each module ends the process with the status 0 where it begins. */
function endProcess({ files, language, wrong }: Task): WrongEdit[] {
  const mistake = wrong[0]?.edits ?? [];
  if (language === "go") return [...mistake, GO_END];
  const present = readdirSync(files, { recursive: true, encoding: "utf8" });
  const ends = [...new Set([...present, ...mistake.map(({ path }) => path)])].flatMap((path) => {
    const end = /(^|[/_.])tests?[/_.]/.test(path) ? undefined : ENDS[extname(path)];
    return end === undefined ? [] : [{ path, old_text: "", new_text: end }];
  });
  return [...mistake, ...ends];
}

/** Compares what the service recorded of a scripted execution with its script. Returns a sentence for each difference. */
export function compareWithScript(task: Task, { run, blocks, response }: Execution): string[] {
  const failures: string[] = [];
  if (run.state !== "SUCCEEDED") failures.push(`the run is ${run.state}: ${run.status_message?.message ?? ""}`);
  const actions = blocks.flatMap((block) => (block.type === "action" ? [block] : []));
  const results = new Map(
    blocks.flatMap((block) => (block.type === "action_result" ? [[block.action_id, block]] : [])),
  );
  const calls = task.steps.flat();
  const names = actions.map(({ name }) => name);
  const expected = calls.map(({ tool }) => tool);
  // Calls of one response that run at the same time may start in any order of the same names.
  if (names.join() !== expected.join()) failures.push(`the conversation has the actions ${names}, not ${expected}`);
  for (const [index, call] of calls.entries()) {
    const action = actions[index];
    const result = action === undefined ? undefined : results.get(action.id);
    const place = `call ${index + 1} (${call.tool})`;
    if (result === undefined) {
      failures.push(`${place} has no result`);
      continue;
    }
    const text = JSON.stringify(result);
    if (result.state !== call.state)
      failures.push(`${place} is ${result.state}, not ${call.state}: ${text.slice(0, 600)}`);
    for (const part of call.contains)
      if (!text.includes(JSON.stringify(part).slice(1, -1)))
        failures.push(`${place} does not contain ${JSON.stringify(part)}: ${text.slice(0, 600)}`);
  }
  if (response !== task.report) failures.push(`the final response is ${JSON.stringify(response)}`);
  return failures;
}
