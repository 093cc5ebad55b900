import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createAgentEngine, type EngineWork } from "#harness/agent/agent.ts";
import { createCallOrder, LoopDetector } from "#harness/agent/loop-detection.ts";
import type { AgentTools } from "#harness/engine/engine.ts";
import type { Tool } from "#harness/engine/tool.ts";
import { addNestedInstructions } from "#harness/instructions/nested-instructions.ts";
import { ModelStandIn } from "../../support/model-stand-in.ts";
import { agentRun, use } from "../support/agent-run.ts";
import { Repository } from "../support/repository.ts";

let models: ModelStandIn;
beforeEach(async () => {
  models = await ModelStandIn.start();
});
afterEach(async () => {
  await models[Symbol.asyncDispose]();
});

/** Takes a turn whose first response has these calls, and notes when each begins and ends. */
async function takeTurn(names: readonly string[], stopAt?: string) {
  const notes: string[] = [];
  let running = 0;
  let most = 0;
  const waiting: (() => void)[] = [];
  /** Lets the calls that run end, the last one first. */
  const release = () => {
    for (const end of waiting.splice(0).reverse()) end();
  };
  const toolOf = (name: string): Tool => ({
    ...{ name, description: `Does ${name}.`, inputSchema: { type: "object" }, category: "search", readsOnly: true },
    parallel: name !== "change",
    run: () => Promise.reject(new Error("the engine does not run tools itself")),
  });
  const tools: AgentTools = {
    all: ["read", "find", "change"].map(toolOf),
    runCommand: () => Promise.reject(new Error("not used")),
    startCommand: () => Promise.reject(new Error("not used")),
    async use(tool, { id, said }) {
      notes.push(`begin ${tool.name}${said === undefined ? "" : `: ${said}`}`);
      most = Math.max(most, ++running);
      setTimeout(release, 20);
      await new Promise<void>((end) => waiting.push(end));
      running--;
      notes.push(`end ${tool.name}`);
      return { output: { id }, ...(tool.name === stopAt ? { ends: { success: true, summary: "ended" } } : {}) };
    },
  };
  models.turns.push({ text: "I look.", tools: names.map((name) => ({ name, input: {} })) }, { text: "Done." });
  const work: EngineWork = {
    envelope: { model_url: models.anthropicUrl, key: "ryr_key" },
    context: { mode: "normal", messages: [] },
    opening: ["Go."],
    outbox: { event: () => {}, message: () => {}, flush: async () => {} },
    live: { text: () => {} },
    slice: {
      ...{ deadlineAt: Number.POSITIVE_INFINITY, stepsEndAt: Number.POSITIVE_INFINITY },
      ...{ cutAt: Number.POSITIVE_INFINITY, beforeStep: () => {}, afterStep: () => {} },
    },
    signal: new AbortController().signal,
    turn: () => new AbortController().signal,
  };
  const outcome = await createAgentEngine("anthropic/some", "Be brief.", work).takeTurn(
    { instructions: ["Go."], conversation: [] },
    tools,
  );
  const results = models.seen[1]?.body.messages.at(-1).content;
  const asked = models.seen[1]?.body.messages.at(-2).content;
  const idsOf = (blocks: object[] | undefined, member: string) =>
    blocks?.flatMap((block) => (member in block ? [Object.entries(block).find(([name]) => name === member)?.[1]] : []));
  return { notes, most, outcome, results: idsOf(results, "tool_use_id"), asked: idsOf(asked, "id") };
}

describe("the calls of one response", () => {
  it("run at the same time if they only read, and the model gets the results in the order of the calls", async () => {
    const { most, notes, results, asked } = await takeTurn(["read", "find", "read"]);
    expect(most).toBe(3);
    expect(notes.slice(0, 3)).toEqual(["begin read: I look.", "begin find", "begin read"]);
    expect(asked).toHaveLength(3);
    expect(results).toEqual(asked);
  });

  it("run in order around a call that changes something", async () => {
    const { notes, results, asked } = await takeTurn(["read", "find", "change", "change", "read"]);
    expect(notes.map((note) => note.replace(/:.*/, ""))).toEqual([
      ...["begin read", "begin find", "end find", "end read"],
      ...["begin change", "end change", "begin change", "end change", "begin read", "end read"],
    ]);
    expect(results).toEqual(asked);
  });

  it("are at most eight at a time", async () => {
    expect((await takeTurn(Array.from({ length: 20 }, () => "read"))).most).toBe(8);
  });

  it("do not begin after one that has ended the turn", async () => {
    const { notes, outcome } = await takeTurn(["change", "read", "find"], "change");
    expect(notes).toEqual(["begin change: I look.", "end change"]);
    expect(outcome).toEqual({ success: true, summary: "ended" });
  });
});

describe.each(["bubblewrap", "none"])("a run whose agent reads in parallel (%s)", (sandbox) => {
  it("records each call with its own result", async () => {
    using repository = new Repository("many", { "a.txt": "first\n", "b.txt": "second\n", "c.txt": "third\n" });
    await using it = await agentRun({
      prompt: "Read them.",
      context: { agent_config: { repositories: [{ url: repository.url }] } },
      turns: [
        {
          tools: [
            use("read_files", { files: [{ path: "a.txt" }] }),
            use("search_files", { pattern: "second" }),
            use("glob", { pattern: "c.*" }),
          ],
        },
        { text: "Read." },
      ],
    });
    const { code } = await it.run({ RUNYARD_SANDBOX: sandbox });
    expect([code, it.plane.outcome]).toEqual([0, { success: true, summary: "Read." }]);
    const blocks = it.plane.messages.flatMap(({ content }) => content);
    const results = new Map(
      blocks.flatMap((block) => (block.type === "action_result" ? [[block.action_id, block.output]] : [])),
    );
    const outputs = blocks.flatMap((block) => (block.type === "action" ? [JSON.stringify(results.get(block.id))] : []));
    expect(outputs).toEqual([
      expect.stringContaining("first"),
      expect.stringContaining("b.txt:1:second"),
      expect.stringContaining("c.txt"),
    ]);
  });
});

describe("createCallOrder", () => {
  it("passes uses on in the order in which they began, so that loops are noticed whichever ends first", () => {
    const loops = new LoopDetector();
    const found: unknown[] = [];
    const order = createCallOrder((used) => found.push(loops.observe(used)?.what));
    for (let round = 0; round < 4; round++) {
      for (const name of ["a", "b"]) order.begin(name);
      for (const name of round % 2 === 0 ? ["b", "a"] : ["a", "b"]) order.end(name, { name, input: {}, output: {} });
    }
    expect(found.filter((what) => what !== undefined)).toEqual([expect.stringContaining("alternated 4 times")]);
  });
});

describe("the instructions of a folder", () => {
  it("are added to one of the results of calls that enter it at the same time, and again to a later one", async () => {
    const folder = mkdtempSync(join(tmpdir(), "nested-"));
    mkdirSync(join(folder, "shop/api"), { recursive: true });
    writeFileSync(join(folder, "shop/api/AGENTS.md"), "Use tabs.\n");
    const tool: Tool = {
      ...{ name: "read_files", description: "", inputSchema: {}, category: "files", readsOnly: true },
      run: async () => ({ output: {} }),
    };
    const [wrapped = tool] = addNestedInstructions([tool], {
      ...{ initial: [], clones: [{ path: "shop" }], conversation: [] },
      ...{ workspace: { host: folder, seen: folder }, shell: { here: folder } },
    });
    const read = async () => {
      const { output } = await wrapped.run(
        { path: "shop/api/x.ts" },
        { id: "1", signal: new AbortController().signal },
      );
      return "instructions" in output;
    };
    expect((await Promise.all([read(), read(), read()])).filter(Boolean)).toEqual([true]);
    expect(await read(), "the conversation does not have the result").toBe(true);
    rmSync(folder, { recursive: true });
  });
});
