import { type Checkpoint, isLive, loadCheckpoint } from "#shared/records/checkpoint.ts";
import type { RunBody } from "#shared/records/run-body.ts";
import type { RunHead } from "#shared/records/run-head.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { type Message, OPENING, type Step } from "#shared/wire/conversation.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import { addDelegatedSteps } from "./delegated-steps.ts";
import { readBatch } from "./messages.ts";

type Reading = Pick<RunPorts, "runs" | "files" | "table">;

/** Reads the full prompt of a run. */
export async function readPrompt(body: RunBody, { files }: Pick<RunPorts, "files">): Promise<string> {
  if (body.prompt_file === undefined) return body.prompt;
  const text = await files.get(body.prompt_file);
  if (text === undefined) throw new Error("the prompt of a run is missing");
  return Buffer.from(text).toString();
}

/**
 * Reads the messages of a run's executions so far, in order, without the prompt, and without those after the checkpoint from which
 * a later execution continued.
 */
export async function readMessages(runId: string, checkpoint: Checkpoint, ports: Reading): Promise<Message[]> {
  const { items } = await ports.runs.messageItems(runId);
  const batches = await Promise.all(items.map((item) => readBatch(item, ports.files)));
  return batches.flatMap(({ first, messages }) => messages.filter((_, index) => isLive(checkpoint, first + index)));
}

/** Reads the steps of a run. A step is a turn, which begins with a message of the user. */
export async function readSteps(head: RunHead, body: RunBody, ports: Reading): Promise<Step[]> {
  const prompt = await readPrompt(body, ports);
  const opening: Message = {
    role: "user",
    content: [{ type: "text", text: prompt }],
    message_ids: [OPENING],
    timestamp: toTimestamp(head.created_at),
  };
  const messages = [
    ...(prompt === "" ? [] : [opening]),
    ...(await readMessages(head.run_id, await loadCheckpoint(head, ports), ports)),
  ];
  const steps: Step[] = [];
  for (const message of messages) {
    const current = steps.at(-1);
    if (current === undefined || message.role === "user") {
      steps.push(newStep(`${head.run_id}:${steps.length + 1}`, message));
    } else {
      current.messages.push(message);
      addDelegatedSteps(current, message);
      if (message.timestamp !== undefined) current.completed_at = message.timestamp;
    }
  }
  return steps;
}

function newStep(id: string, message: Message): Step {
  const { timestamp } = message;
  return { id, ...(timestamp === undefined ? {} : { started_at: timestamp }), messages: [message], steps: [] };
}

/** Reads the final message of a run's agent; empty if there is none. */
export const readFinalMessage = async (head: RunHead, ports: Reading): Promise<string> =>
  findFinalMessage(await readMessages(head.run_id, await loadCheckpoint(head, ports), ports));

/** Finds the final message of the agent; empty if there is none. */
export function findFinalMessage(messages: readonly Message[]): string {
  const spoken = messages
    .filter(({ role }) => role === "assistant")
    .map(({ content }) => content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n"));
  return spoken.findLast((text) => text !== "") ?? "";
}
