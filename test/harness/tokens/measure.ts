import * as v from "valibot";
import { formatResult } from "#harness/agent/result-text.ts";
import { calculateCost, priceForInput } from "#shared/model-gateway/usage.ts";
import { CATALOGUE } from "#shared/models/catalogue.ts";
import { agentRun } from "../support/agent-run.ts";
import { Repository } from "../support/repository.ts";
import type { RecordedTask } from "./tasks.ts";

/** How results of tools are written for the model. */
type ResultForm = "json" | "text";
type CountTokens = (text: string) => Promise<number>;

/** What all calls of a task have in one form. */
export interface TaskTokens {
  readonly results: number;
  readonly input: number;
  /** The part of the input that the call before it had too, which providers can read from their caches. */
  readonly cached: number;
  readonly output: number;
  readonly usd: number;
}

const Block = v.variant("type", [
  v.object({ type: v.literal("text"), text: v.string() }),
  v.object({ type: v.literal("tool_use"), id: v.string(), name: v.string(), input: v.unknown() }),
  v.object({ type: v.literal("tool_result"), tool_use_id: v.string(), content: v.string() }),
]);
const Request = v.object({
  system: v.unknown(),
  tools: v.unknown(),
  messages: v.array(v.object({ role: v.string(), content: v.array(Block) })),
});

/** A part of a request that is sent as it is. */
interface Piece {
  readonly text: string;
  readonly isResult: boolean;
}

/** Carries out a task with its recorded responses, and counts the tokens of its requests with each form of the results. */
export async function measureTask(task: RecordedTask, count: CountTokens): Promise<Record<ResultForm, TaskTokens>> {
  using repository = new Repository("measured", task.files);
  await using agent = await agentRun({
    prompt: task.prompt,
    turns: task.turns,
    context: { agent_config: { repositories: [{ url: repository.url }] } },
  });
  await agent.run();
  if (agent.plane.outcome?.success !== true) throw new Error(`${task.name}: ${JSON.stringify(agent.plane.outcome)}`);
  const requests = agent.standIn.seen.map(({ body }) => v.parse(Request, body));
  if (requests.length !== task.turns.length) throw new Error(`${task.name}: ${requests.length} calls`);
  const blocks = agent.plane.messages.flatMap(({ content }) => content);
  const outputs = new Map(
    blocks.flatMap((block) => (block.type === "action_result" ? [[block.action_id, block.output] as const] : [])),
  );
  const measure = async (form: ResultForm) => {
    const prompts = requests.map((request) => toPieces(request, outputs, form));
    return sumUp(prompts, task, count);
  };
  return { json: await measure("json"), text: await measure("text") };
}

function toPieces(
  { system, tools, messages }: v.InferOutput<typeof Request>,
  outputs: ReadonlyMap<string, unknown>,
  form: ResultForm,
): Piece[] {
  const conversation = messages.flatMap(({ content }) =>
    content.map((block): Piece => {
      if (block.type === "text") return { text: block.text, isResult: false };
      if (block.type === "tool_use") return { text: `${block.name}${JSON.stringify(block.input)}`, isResult: false };
      const output = outputs.get(block.tool_use_id);
      const { content: text } = block;
      // Otherwise the two forms would not be those of the same result.
      if (formatResult(output) !== text) throw new Error(`another result was sent than recorded: ${text}`);
      return { text: form === "text" ? text : JSON.stringify(output), isResult: true };
    }),
  );
  const fixed = [withoutMarkers(tools), withoutMarkers(system)].map((text) => ({ text, isResult: false }));
  return [...fixed, ...conversation];
}

const withoutMarkers = (value: unknown): string =>
  JSON.stringify(value, (name, member: unknown) => (name === "cache_control" ? undefined : member));

async function sumUp(prompts: readonly (readonly Piece[])[], task: RecordedTask, count: CountTokens) {
  const sum = async (pieces: readonly Piece[]) => {
    let tokens = 0;
    for (const { text } of pieces) tokens += await count(text);
    return tokens;
  };
  const model = CATALOGUE.anthropic.find(({ id }) => id === "anthropic/claude-sonnet-5-5");
  if (model?.cost === undefined) throw new Error("the model has no price");
  const price = priceForInput({ id: model.id, providerKind: "anthropic" }, model.cost, 1);
  let [input, cached, cost] = [0, 0, 0];
  for (const [index, pieces] of prompts.entries()) {
    const before = prompts[index - 1] ?? [];
    const differs = pieces.findIndex(({ text }, at) => text !== before[at]?.text);
    const known = await sum(pieces.slice(0, differs < 0 ? pieces.length : differs));
    const all = await sum(pieces);
    [input, cached] = [input + all, cached + known];
    cost += calculateCost({ input: 0, output: 0, cacheRead: known, cacheWrite: all - known, cacheWriteLong: 0 }, price);
  }
  const output = await count(task.turns.map(({ text = "", tools = [] }) => text + JSON.stringify(tools)).join("\n"));
  cost += calculateCost({ input: 0, output, cacheRead: 0, cacheWrite: 0, cacheWriteLong: 0 }, price);
  const results = await sum((prompts.at(-1) ?? []).filter(({ isResult }) => isResult));
  return { results, input, cached, output, usd: cost / 1e9 } satisfies TaskTokens;
}
