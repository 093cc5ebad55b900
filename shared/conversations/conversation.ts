import * as v from "valibot";
import { type Checkpoint, checkpointOf, isLive } from "#shared/records/checkpoint.ts";
import type { RunBody } from "#shared/records/run-body.ts";
import type { RunHead } from "#shared/records/run-head.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import { conversationPk } from "#shared/table/keys.ts";
import { type Message, OPENING, type Step } from "#shared/wire/conversation.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import { noteDelegated } from "./delegated-steps.ts";
import { readBatch } from "./messages.ts";

type Reading = Pick<RunPorts, "runs" | "files" | "table">;

/** The prompt of a run, whole. */
export async function fullPrompt(body: RunBody, { files }: Pick<RunPorts, "files">): Promise<string> {
  if (body.prompt_file === undefined) return body.prompt;
  const text = await files.get(body.prompt_file);
  if (text === undefined) throw new Error("the prompt of a run is missing");
  return Buffer.from(text).toString();
}

/**
 * What the executions of a run have said so far, in order, without the prompt, and without what came after the checkpoint
 * from which a later execution went on.
 */
export async function messagesOf(runId: string, checkpoint: Checkpoint, ports: Reading): Promise<Message[]> {
  const { items } = await ports.runs.messageItems(runId);
  const batches = await Promise.all(items.map((item) => readBatch(item, ports.files)));
  return batches.flatMap(({ first, messages }) => messages.filter((_, index) => isLive(checkpoint, first + index)));
}

/** The runs of a conversation, oldest first: the one it is named after, and those that continued it. */
export async function runsOfConversation(id: string, ports: Reading): Promise<string[]> {
  const { items } = await ports.runs.query({ pk: conversationPk(id), prefix: "RUN#" });
  return [id, ...items.map((item) => v.parse(v.string(), item["run_id"]))];
}

/** The steps of one run: a step is a turn, which begins with what the user says. */
export async function stepsOf(head: RunHead, body: RunBody, ports: Reading): Promise<Step[]> {
  const prompt = await fullPrompt(body, ports);
  const opening: Message = {
    role: "user",
    content: [{ type: "text", text: prompt }],
    message_ids: [OPENING],
    timestamp: toTimestamp(head.created_at),
  };
  const messages = [
    ...(prompt === "" ? [] : [opening]),
    ...(await messagesOf(head.run_id, await checkpointOf(head, ports), ports)),
  ];
  const steps: Step[] = [];
  for (const message of messages) {
    const current = steps.at(-1);
    if (current === undefined || message.role === "user") {
      steps.push(newStep(`${head.run_id}:${steps.length + 1}`, message));
    } else {
      current.messages.push(message);
      noteDelegated(current, message);
      if (message.timestamp !== undefined) current.completed_at = message.timestamp;
    }
  }
  return steps;
}

function newStep(id: string, message: Message): Step {
  const { timestamp } = message;
  return { id, ...(timestamp === undefined ? {} : { started_at: timestamp }), messages: [message], steps: [] };
}

/** The last text of the agent; empty where it has said nothing. */
export function lastWords(messages: readonly Message[]): string {
  const spoken = messages
    .filter(({ role }) => role === "assistant")
    .map(({ content }) => content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n"));
  return spoken.findLast((text) => text !== "") ?? "";
}
