import {
  type BaseModelConfig,
  ContextWindowOverflowError,
  Model,
  type Message as ModelMessage,
  type ModelStreamEvent,
  type StreamOptions,
} from "@strands-agents/sdk";
import fc from "fast-check";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { createAgentEngine, type EngineWork } from "#harness/agent/agent.ts";
import { collectFacts } from "#harness/agent/compaction-plan.ts";
import { buildHistory } from "#harness/agent/history.ts";
import { summarize } from "#harness/agent/summarize.ts";
import type { TurnOutcome } from "#harness/engine/engine.ts";
import { defineTool } from "#harness/engine/tool.ts";
import { createRedactor } from "#harness/redaction/redactor.ts";
import { SliceEnd } from "#harness/support/time-slice.ts";
import { createTools } from "#harness/tools/agent-tools.ts";
import { truncateMessages } from "#shared/conversations/truncate.ts";
import { CONVERSATION_COMPACTED, findCompaction } from "#shared/wire/compaction.ts";
import type { Message } from "#shared/wire/conversation.ts";
import { NO_BACKGROUND } from "../support/no-background.ts";

const WINDOW = 32_000;

interface Request {
  readonly messages: readonly ModelMessage[];
  readonly isSummary: boolean;
  readonly tokens: number;
}

type Reply = { readonly text: string; readonly isCut?: true } | { readonly tool: string; readonly input: object };

/** A model with a small context window, which a function scripts. */
class ScriptedModel extends Model {
  readonly requests: Request[] = [];
  readonly #reply: (request: Request) => Reply;
  readonly window: number;

  constructor(reply: (request: Request) => Reply, window = WINDOW) {
    super();
    this.#reply = reply;
    this.window = window;
  }

  updateConfig(): void {}

  getConfig(): BaseModelConfig {
    return { modelId: "scripted", contextWindowLimit: WINDOW };
  }

  async *stream(messages: ModelMessage[], options?: StreamOptions): AsyncIterable<ModelStreamEvent> {
    const isSummary = String(options?.systemPrompt).includes("Write a summary");
    const request = { messages: [...messages], isSummary, tokens: JSON.stringify(messages).length / 4 };
    this.requests.push(request);
    if (request.tokens > this.window) throw new ContextWindowOverflowError("prompt is too long");
    const reply = this.#reply(request);
    yield { type: "modelMessageStartEvent", role: "assistant" };
    if ("text" in reply) {
      yield { type: "modelContentBlockStartEvent" };
      yield { type: "modelContentBlockDeltaEvent", delta: { type: "textDelta", text: reply.text } };
    } else {
      const toolUseId = `use-${this.requests.length}-${Math.random()}`;
      yield { type: "modelContentBlockStartEvent", start: { type: "toolUseStart", name: reply.tool, toolUseId } };
      const input = JSON.stringify(reply.input);
      yield { type: "modelContentBlockDeltaEvent", delta: { type: "toolUseInputDelta", input } };
    }
    yield { type: "modelContentBlockStopEvent" };
    yield { type: "modelMessageStopEvent", stopReason: findStopReason(reply) };
  }
}

const findStopReason = (reply: Reply) => ("tool" in reply ? "toolUse" : reply.isCut === true ? "maxTokens" : "endTurn");

const tools = (bytes: number) => [
  defineTool({
    name: "run_command",
    description: "Runs a command.",
    category: "command",
    readsOnly: false,
    input: v.object({ command: v.string() }),
    run: async ({ command }) => ({ output: { exit_code: 0, stdout: `${command} ${"x".repeat(bytes)}` } }),
  }),
  defineTool({
    name: "edit_files",
    description: "Edits files.",
    category: "files",
    readsOnly: false,
    input: v.object({ edits: v.array(v.object({ path: v.string() })) }),
    run: async () => ({ output: { files: [] } }),
  }),
];

interface Run {
  readonly record: Message[];
  readonly model: ScriptedModel;
  readonly outputBytes: number;
  /** Set from the first follow-up on. */
  instruction?: string;
}

/** Redaction has tests of its own, and takes most of the time of such a run. */
const REDACTOR = { ...createRedactor([]), json: <T>(value: T) => value };

const OPENING = "Run all commands, and remember the word heliotrope.";

/** Takes a turn in an execution of its own, which ends after this many steps. The run's record is all that it knows of the others. */
async function execute(run: Run, steps: number): Promise<TurnOutcome | "sliced"> {
  const messages = truncateMessages(run.record);
  const conversation = [...messages];
  const outbox = {
    event: () => {},
    message: (message: Message, onStored?: () => void) => {
      conversation.push(message);
      run.record.push(message);
      onStored?.();
    },
    flush: async () => {},
    takeUnsent: async () => undefined,
  };
  let done = 0;
  const slice = {
    ...{ deadlineAt: Infinity, stepsEndAt: Infinity, cutAt: Infinity },
    beforeStep() {
      if (done >= steps) throw new SliceEnd();
    },
    afterStep: () => void done++,
  };
  const signal = new AbortController().signal;
  const work: EngineWork = {
    envelope: { model_url: "http://127.0.0.1:9", key: "ryr_key" },
    context: { mode: "normal", messages, own_messages: run.record.length },
    opening: [OPENING],
    outbox,
    live: { text: () => {} },
    slice,
    signal,
    turn: () => signal,
  };
  const agentTools = createTools({
    ...{ outbox, slice, signal, redactor: REDACTOR, turn: () => signal },
    shell: Object.create(null),
    background: NO_BACKGROUND,
    live: { open: () => ({ push: () => {}, skip: () => {}, end: () => {} }) },
    tools: tools(run.outputBytes),
    onStep: async () => {},
  });
  const engine = createAgentEngine("anthropic/some", "Be brief.", work, () => run.model);
  const turn = { instructions: [run.instruction ?? OPENING], conversation };
  return await engine.takeTurn(turn, agentTools).catch((error: unknown) => {
    if (error instanceof SliceEnd) return "sliced" as const;
    throw error;
  });
}

function followUp(run: Run, outcome: TurnOutcome, instruction: string): void {
  run.record.push(
    { role: "assistant", content: [{ type: "text", text: outcome.summary }] },
    { role: "user", content: [{ type: "text", text: instruction }] },
  );
  run.instruction = instruction;
}

const listCompactions = (record: readonly Message[]) =>
  record
    .flatMap(({ content }) => content)
    .filter((block) => block.type === "event" && block.name === CONVERSATION_COMPACTED);

const textOf = (request: Request | undefined): string => JSON.stringify(request?.messages);

describe("the compaction of a conversation", () => {
  it("carries a run of 500 commands of 12 KB over ten slices and three follow-ups with a window of 32,000 tokens", async () => {
    let commands = 0;
    let goal = 500;
    const model = new ScriptedModel(({ isSummary }) => {
      if (isSummary) return { text: `Open problems: number ${commands} is odd.` };
      if (commands >= goal) return { text: `Ran ${commands}.` };
      commands++;
      return commands === 7
        ? { tool: "edit_files", input: { edits: [{ path: "src/early.ts" }] } }
        : { tool: "run_command", input: { command: `echo ${commands}` } };
    });
    const run: Run = { record: [], model, outputBytes: 12 * 1024 };
    let slices = 1;
    let outcome = await execute(run, 60);
    for (; outcome === "sliced" && slices < 20; slices++) outcome = await execute(run, 60);
    expect(outcome).toEqual({ success: true, summary: "Ran 500." });
    expect(slices).toBeGreaterThanOrEqual(10);
    for (const number of [1, 2, 3]) {
      if (outcome === "sliced") throw new Error("the turn did not end");
      followUp(run, outcome, `Five more, number ${number}.`);
      goal += 5;
      outcome = await execute(run, Infinity);
      expect(outcome).toEqual({ success: true, summary: `Ran ${goal}.` });
    }
    const { requests } = model;
    expect(Math.max(...requests.map(({ tokens }) => tokens))).toBeLessThan(WINDOW);
    // Each summary is paid once.
    expect(requests.filter(({ isSummary }) => isSummary)).toHaveLength(listCompactions(run.record).length);
    const work = requests.filter(({ isSummary }) => !isSummary);
    expect(work).toHaveLength(515 + 4);
    expect(work.every((request) => textOf(request).includes("heliotrope"))).toBe(true);
    expect(textOf(work.at(-1))).toMatch(/number 514 is odd|Open problems/);
    for (const part of ["src/early.ts", "Five more, number 1.", "Five more, number 3.", "echo 515"])
      expect(textOf(work.at(-1))).toContain(part);
  });

  it("makes progress in each slice or ends with a reason, whatever requests the provider refuses as too long", async () => {
    const refusals = fc.array(fc.boolean(), { minLength: 1, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(
        refusals,
        fc.integer({ min: 1, max: 9 }),
        fc.constantFrom(200, 9_000),
        async (refused, steps, bytes) => {
          let asked = 0;
          let commands = 0;
          const model = new ScriptedModel(({ isSummary }) => {
            if (refused[asked++ % refused.length]) throw new ContextWindowOverflowError("too long");
            if (isSummary) return { text: "So far." };
            return ++commands > 25
              ? { text: "Done." }
              : { tool: "run_command", input: { command: `echo ${commands}` } };
          });
          const run: Run = { record: [], model, outputBytes: bytes };
          for (let slices = 0; ; slices++) {
            expect(slices).toBeLessThan(500);
            const before = run.record.length;
            const outcome = await execute(run, steps);
            if (outcome !== "sliced") {
              expect(outcome.success ? "Done." : outcome.summary).toMatch(
                /^Done\.$|exceeds the model's context window/,
              );
              return;
            }
            expect(run.record.length).toBeGreaterThan(before);
          }
        },
      ),
      { numRuns: 25 },
    );
  });

  it("learns the real window from refusals, and keeps it in the record", async () => {
    let commands = 0;
    const small = new ScriptedModel(({ isSummary }) => {
      if (isSummary) return { text: "So far." };
      return ++commands > 40 ? { text: "Done." } : { tool: "run_command", input: { command: `echo ${commands}` } };
    }, 12_000);
    const run: Run = { record: [], model: small, outputBytes: 4_000 };
    expect(await execute(run, Infinity)).toEqual({ success: true, summary: "Done." });
    const refused = small.requests.filter(({ tokens }) => tokens > small.window);
    expect(refused.length).toBeLessThan(8);
    expect(findCompaction(run.record)?.window_tokens).toBeLessThan(16_000);
  });

  it("keeps a summary that is cut at the token limit", async () => {
    let commands = 0;
    const model = new ScriptedModel(({ isSummary }) => {
      if (isSummary) return { text: "The first half", isCut: true };
      return ++commands > 40 ? { text: "Done." } : { tool: "run_command", input: { command: `echo ${commands}` } };
    });
    const run: Run = { record: [], model, outputBytes: 4_000 };
    expect(await execute(run, Infinity)).toEqual({ success: true, summary: "Done." });
    expect(findCompaction(run.record)?.summary).toBe("The first half");
  });

  it("summarizes a conversation that no single request can hold part by part, after it left out old results", async () => {
    const model = new ScriptedModel(({ isSummary }) => ({ text: isSummary ? "Part." : "Done." }));
    const step = (id: string): Message[] => {
      const action = { category: "command" as const, name: "run_command" };
      const text = { type: "text" as const, text: "t".repeat(9_000) };
      return [
        { role: "assistant", content: [text, { type: "action", id, ...action, input: { command: "echo" } }] },
        {
          role: "tool",
          content: [
            {
              type: "action_result",
              action_id: id,
              ...action,
              state: "completed",
              output: { stdout: "y".repeat(9_000) },
            },
          ],
        },
      ];
    };
    const record = Array.from({ length: 30 }, (_, index) => step(`s${index}`)).flat();
    const run: Run = { record, model, outputBytes: 0 };
    expect(await execute(run, Infinity)).toEqual({ success: true, summary: "Done." });
    const summaries = model.requests.filter(({ isSummary }) => isSummary);
    expect(summaries.length).toBeGreaterThan(2);
    expect(textOf(summaries[0])).toContain("result left out");
    expect(textOf(summaries[1])).toContain("## Summary of what came before\\nPart.");
    expect(listCompactions(record)).toHaveLength(summaries.length);
  });

  it("shortens the latest results if they alone are too long, and continues", async () => {
    let commands = 0;
    const model = new ScriptedModel(
      () => (++commands > 1 ? { text: "Done." } : { tool: "run_command", input: { command: "echo 1" } }),
      6_000,
    );
    const run: Run = { record: [], model, outputBytes: 40_000 };
    expect(await execute(run, Infinity)).toEqual({ success: true, summary: "Done." });
    expect(findCompaction(run.record)?.tool_bytes).toBe(8_192);
  });

  it("ends the turn with the reason if the request alone is too long", async () => {
    const model = new ScriptedModel(() => ({ text: "Unreached." }), 10);
    const run: Run = { record: [], model, outputBytes: 0 };
    expect(await execute(run, Infinity)).toEqual({
      success: false,
      summary: expect.stringContaining("The conversation exceeds the model's context window"),
    });
  });
});

describe("a request for a summary", () => {
  const kind = { category: "command" as const, name: "run_command" };
  const messages = Array.from({ length: 10 }, (_, index): Message[] => [
    { role: "assistant", content: [{ type: "action", id: `s${index}`, ...kind, input: { command: `echo ${index}` } }] },
    {
      role: "tool",
      content: [
        {
          type: "action_result",
          action_id: `s${index}`,
          ...kind,
          state: "completed",
          output: { stdout: `result-${index} ${"y".repeat(1_000)}` },
        },
      ],
    },
  ]).flat();

  it.each([
    [20_000, 0],
    [10_500, 2],
    [8_000, 5],
    [3_000, 10],
  ])("of at most %i characters leaves out the oldest results first: %i of 10", async (characters, left) => {
    const model = new ScriptedModel(() => ({ text: "So far." }));
    const plan = { previous: "", messages, until: messages.length };
    const options = { model, characters, call: <T>(attempt: () => Promise<T>) => attempt(), isOverflow: () => false };
    expect(await summarize(plan, options)).toEqual({ plan, text: "So far." });
    const text = textOf(model.requests[0]);
    const shown = Array.from({ length: 10 }, (_, index) => text.includes(`result-${index} `));
    expect(shown).toEqual(shown.map((_, index) => index >= left));
    expect(text).toContain("echo 0");
  });
});

describe("the facts of a summary", () => {
  it("keep the files and the to-do list of earlier summaries", () => {
    const data = { summary: "So far.", kept_messages: 0, files: ["a.ts"], todo: "- [ ] test" };
    const conversation: Message[] = [
      { role: "system", content: [{ type: "event", name: CONVERSATION_COMPACTED, data }] },
      { role: "assistant", content: [{ type: "text", text: "On." }] },
    ];
    const plan = { previous: "So far.", messages: conversation.slice(1), until: 2 };
    expect(collectFacts(conversation, plan)).toEqual({ files: ["a.ts"], todo: "- [ ] test" });
  });

  it("name the skills that the agent read, also those of earlier summaries, once", () => {
    const kind = { category: "skill" as const, name: "load_skill" };
    const load = (id: string, state: "completed" | "failed"): Message[] => [
      { role: "assistant", content: [{ type: "action", id: `call-${id}`, ...kind, input: { id } }] },
      { role: "tool", content: [{ type: "action_result", action_id: `call-${id}`, ...kind, state, output: {} }] },
    ];
    const data = { summary: "So far.", kept_messages: 0, files: [], skills: ["deploy"] };
    const conversation: Message[] = [
      { role: "system", content: [{ type: "event", name: CONVERSATION_COMPACTED, data }] },
      ...load("review", "completed"),
      ...load("deploy", "completed"),
      ...load("missing", "failed"),
    ];
    const plan = { previous: "So far.", messages: conversation.slice(1), until: conversation.length };
    expect(collectFacts(conversation, plan)).toEqual({ files: [], skills: ["deploy", "review"] });
  });
});

describe("the history after a compaction", () => {
  it("has the user's messages, the summary with the changed files and the to-do list, and the latest messages", () => {
    const text = (role: Message["role"], said: string): Message => ({ role, content: [{ type: "text", text: said }] });
    const data = { summary: "So far.", kept_messages: 1, files: ["a.ts"], todo: "- [ ] test", skills: ["a/deploy"] };
    const conversation: Message[] = [
      text("user", "Earlier request."),
      text("assistant", "Covered."),
      text("assistant", "Kept."),
      { role: "system", content: [{ type: "event", name: CONVERSATION_COMPACTED, data }] },
      text("user", "Now."),
    ];
    const context = { messages: conversation, own_messages: conversation.length };
    const history = buildHistory({ instructions: ["Now."], conversation }, { opening: ["Go."], context });
    const shown = history.map(({ content }) =>
      content.map((block) => (block.type === "textBlock" ? block.text : "")).join(),
    );
    expect(shown).toEqual([
      "Go.",
      "Earlier request.",
      "[What you did before is summarized here. The requests of the user are kept.]\n\nSo far.\n\n" +
        "Your to-do list:\n- [ ] test\n\nFiles that you changed:\n- a.ts\n\n" +
        "Skills that you read, whose text is gone. Read one again before you go on with it:\n- a/deploy",
      "Kept.",
      "Now.",
    ]);
  });
});
