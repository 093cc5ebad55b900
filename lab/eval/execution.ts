import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { RunItem, Runyard, Step } from "../../clients/typescript/src/index.ts";
import type { Task } from "./tasks.ts";

export interface ExecuteOptions {
  readonly client: Runyard;
  readonly task: Task;
  /** An id of the models list. */
  readonly model: string;
  /** The path of the task's repository. */
  readonly repository: string;
  readonly maxSteps: number;
  readonly timeoutMinutes: number;
  /** The directory that keeps the conversation, the transcript and the patch. */
  readonly folder: string;
}

export type Block = Step["messages"][number]["content"][number];

/** What an agent did and left, as the service returns it. */
export interface Execution {
  readonly run: RunItem;
  readonly blocks: readonly Block[];
  readonly response: string;
  /** What changed in the repository; empty if nothing did. */
  readonly patch: string;
  readonly seconds: number;
}

/** Executes a task as a run of the service, and keeps everything that it left. */
export async function executeTask(options: ExecuteOptions): Promise<Execution> {
  const { client, task, model, repository, maxSteps, timeoutMinutes, folder } = options;
  const began = performance.now();
  const run = await client.runs.createAndWait({
    prompt: task.prompt,
    title: task.name,
    config: {
      model_id: model,
      repositories: [{ url: `file://${repository}` }],
      max_steps: maxSteps,
      timeout_minutes: timeoutMinutes,
    },
  });
  const seconds = (performance.now() - began) / 1000;
  const steps: Step[] = [];
  for await (const step of client.runs.conversation(run.run_id)) steps.push(step);
  const patch = await downloadPatch(client, run);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "run.json"), `${JSON.stringify(run, null, 2)}\n`);
  await writeFile(join(folder, "conversation.json"), `${JSON.stringify(steps, null, 2)}\n`);
  await writeFile(join(folder, "changes.diff"), patch);
  await writeFile(join(folder, "transcript.jsonl"), await (await client.runs.downloadTranscript(run.run_id)).text());
  const blocks = listBlocks(steps);
  return { run, blocks, response: findResponse(steps), patch, seconds };
}

const listBlocks = (steps: readonly Step[]): Block[] =>
  steps.flatMap(({ messages, steps: nested }) => [
    ...messages.flatMap(({ content }) => content),
    ...listBlocks(nested),
  ]);

/** The text of the last message of the agent. */
function findResponse(steps: readonly Step[]): string {
  const messages = steps.flatMap((step) => step.messages).filter(({ role }) => role === "assistant");
  const texts = messages.at(-1)?.content.flatMap((block) => (block.type === "text" ? [block.text] : [])) ?? [];
  return texts.join("\n");
}

async function downloadPatch(client: Runyard, run: RunItem): Promise<string> {
  for (const { artifact_type, data } of run.artifacts ?? []) {
    if (artifact_type !== "FILE" || !data.filepath.startsWith("changes/")) continue;
    return await (await client.artifacts.download(data.artifact_uid)).text();
  }
  return "";
}
