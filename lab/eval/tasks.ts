import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { Problem } from "../../server/host/terminal.ts";

/** The folders of tasks: `task.md` is the prompt, `check.sh` the checker, `files` the repository, `task.json` the rest. */
const TASKS = join(import.meta.dirname, "tasks");

const Edit = v.strictObject({
  path: v.string(),
  /** Replaced where it occurs; without it, `new_text` is the whole file. */
  old_text: v.exactOptional(v.string()),
  new_text: v.string(),
});

const Call = v.strictObject({
  tool: v.string(),
  input: v.unknown(),
  /** The state of the result. @default completed */
  state: v.exactOptional(v.picklist(["completed", "failed"]), "completed"),
  /** Texts that the result must contain, as JSON. */
  contains: v.exactOptional(v.array(v.string()), []),
});

const Definition = v.strictObject({
  language: v.picklist(["python", "typescript", "javascript", "go", "shell"]),
  kind: v.picklist(["bug fix", "feature", "refactoring", "docs", "ci repair"]),
  /** Programs that the task needs in addition to git and bash. */
  programs: v.array(v.string()),
  /** What a scripted model does: each step is one response with its calls. */
  steps: v.pipe(v.array(v.pipe(v.array(Call), v.minLength(1))), v.minLength(1)),
  /** The final response of the scripted model. */
  report: v.string(),
  /** Plausible changes that the checker must refuse. */
  wrong: v.pipe(v.array(v.strictObject({ why: v.string(), edits: v.array(Edit) })), v.minLength(1)),
});

export type WrongEdit = v.InferOutput<typeof Edit>;

export interface Task extends v.InferOutput<typeof Definition> {
  readonly name: string;
  readonly prompt: string;
  /** The directory with the files of the repository. */
  readonly files: string;
  /** The path of the checker, which the agent never gets. */
  readonly checker: string;
}

/** Reads tasks by name, or all of them. @throws Problem that names an unknown task and lists the known ones */
export function readTasks(names: readonly string[] = []): Task[] {
  const known = readdirSync(TASKS).sort();
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new Problem(`--task names ${unknown.join(", ")}, which no folder of lab/eval/tasks has.`, [
      `Known tasks: ${known.join(", ")}`,
    ]);
  return known.filter((name) => names.length === 0 || names.includes(name)).map(readTask);
}

function readTask(name: string): Task {
  const folder = join(TASKS, name);
  const definition = v.safeParse(Definition, JSON.parse(readFileSync(join(folder, "task.json"), "utf8")));
  if (!definition.success) {
    const details = definition.issues.map((issue) => `${v.getDotPath(issue)}: ${issue.message}`);
    throw new Problem(`lab/eval/tasks/${name}/task.json is not a task.`, details);
  }
  const prompt = readFileSync(join(folder, "task.md"), "utf8").trim();
  return { ...definition.output, name, prompt, files: join(folder, "files"), checker: join(folder, "check.sh") };
}
