import { describe, expect, it } from "vitest";
import { createModelResponse, type Shape, type Turn } from "../../support/model-shapes.ts";
import type { SeenCall } from "../../support/model-stand-in.ts";
import { agentRun, use } from "../support/agent-run.ts";
import { Repository } from "../support/repository.ts";

const FILES = {
  "add.mjs": "export const add = (a, b) => a - b;\n",
  "add.test.mjs": `import assert from "node:assert";
import { test } from "node:test";
import { add } from "./add.mjs";
test("adds", () => assert.equal(add(1, 2), 3));
`,
};
const REPORT = "The sum is repaired: add() subtracted.";

const read = use("read_files", { files: [{ path: "add.mjs" }] });
const test = use("run_command", { command: "node --test" });
const edit = use("edit_files", {
  edits: [{ path: "add.mjs", action: "replace", old_text: "a - b", new_text: "a + b" }],
});

/** The response of a server that does not stream. */
const unstreamed =
  (shape: Shape, turn: Turn) =>
  ({ body }: SeenCall): Turn => ({ raw: JSON.stringify(createModelResponse(shape, body, turn)) });

/** The responses of a model that repairs a sum, with all errors on the way. */
const workOver = (shape: Shape) => [
  { status: 429, headers: { "retry-after": "1" } },
  { text: "I look at the test first.", tools: [read] },
  { text: "Half a word", cutAfter: 3 },
  { tools: [{ ...test, sent: '{"command": "node --te' }] },
  { status: 529 },
  { tools: [use("repair_everything", { now: true })] },
  { dead: true },
  unstreamed(shape, { text: "I test it.", tools: [test] }),
  { tools: [edit, test] },
  unstreamed(shape, { text: REPORT }),
];

describe("an agent with a language model", () => {
  it.each([
    ["anthropic/claude-sonnet-5-5", "messages", "/anthropic/v1/messages"],
    ["openai/gpt-5.4", "responses", "/openai/v1/responses"],
    ["compatible/llama", "chat", "/openai/v1/chat/completions"],
  ] as const)(
    "repairs a repository with %s, despite errors of the model and its server",
    async (model, shape, path) => {
      using repository = new Repository("sums", FILES);
      await using it = await agentRun({
        prompt: "The test fails. Repair it.",
        model,
        turns: workOver(shape),
        context: { agent_config: { repositories: [{ url: repository.url }] } },
      });
      const { code, log } = await it.run({ RUNYARD_SANDBOX: "bubblewrap" });
      expect([code, it.plane.outcome]).toEqual([0, { success: true, summary: REPORT }]);
      expect(it.standIn.seen.map((call) => call.path)).toEqual(it.standIn.seen.map(() => path));
      expect(it.standIn.seen).toHaveLength(10);
      const uses = it.plane.messages.flatMap(({ content }) => content).filter(({ type }) => type === "action_result");
      expect(uses).toMatchObject([
        {
          name: "read_files",
          category: "files",
          state: "completed",
          output: { files: [{ content: FILES["add.mjs"] }] },
        },
        { name: "run_command", state: "failed", output: { error: expect.stringContaining("not a JSON object") } },
        { name: "repair_everything", state: "failed", output: { error: expect.stringContaining("there is no tool") } },
        { name: "run_command", category: "command", state: "failed", output: { exit_code: 1 } },
        {
          name: "edit_files",
          state: "completed",
          title: "Edit add.mjs",
          summary: "+1 −1",
          diff: "--- a/add.mjs\n+++ b/add.mjs\n@@ -1,1 +1,1 @@\n-export const add = (a, b) => a - b;\n+export const add = (a, b) => a + b;\n",
          output: { files: [{ path: "add.mjs", done: "changed" }] },
        },
        { name: "run_command", title: "node --test", state: "completed", output: { exit_code: 0 } },
      ]);
      expect(JSON.stringify(it.standIn.seen)).not.toContain("+++ b/add.mjs");
      const retries = it.plane.events.filter(({ event_name }) => event_name === "model_retry");
      expect(retries.map(({ payload }) => payload)).toMatchObject([
        { attempt: 1, of: 10, reason: expect.stringContaining("returns 429"), next_in_ms: expect.any(Number) },
        { attempt: 1, reason: expect.any(String) },
        { attempt: 1, reason: expect.stringContaining("returns 529") },
        { attempt: 1, reason: expect.any(String) },
      ]);
      // A text that comes with a tool use is stored before it; an incomplete response leaves nothing.
      expect(it.plane.texts).toEqual(["I look at the test first.", "I test it.", REPORT]);
      expect(it.plane.messages[0]?.content.map(({ type }) => type)).toEqual(["text", "action"]);
      expect(log).not.toContain("undefined");
    },
  );

  it("calls its model with the run's key and nothing of the host's environment", async () => {
    await using it = await agentRun({ prompt: "Say hello.", turns: [{ text: "Hello." }] });
    const { log } = await it.run({
      ANTHROPIC_API_KEY: "key-of-the-host",
      ANTHROPIC_AUTH_TOKEN: "token-of-the-host",
      ANTHROPIC_BASE_URL: "http://127.0.0.1:1",
      ANTHROPIC_CUSTOM_HEADERS: "x-of-the-host: yes",
      ANTHROPIC_LOG: "debug",
      HTTP_PROXY: "http://127.0.0.1:1",
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1",
    });
    expect(it.plane.outcome).toEqual({ success: true, summary: "Hello." });
    const [call] = it.standIn.seen;
    expect(call?.headers.authorization).toBe(`Bearer ${it.plane.key}`);
    expect(JSON.stringify([call, log])).not.toMatch(/of-the-host|x-stainless/);
    expect(log.trim().split("\n")).toHaveLength(2);
  });

  it.each(["openai/gpt-5.4", "compatible/llama"])("does the same with %s", async (model) => {
    await using it = await agentRun({ prompt: "Say hello.", model, turns: [{ text: "Hello." }] });
    const { log } = await it.run({
      OPENAI_API_KEY: "key-of-the-host",
      OPENAI_BASE_URL: "http://127.0.0.1:1",
      OPENAI_ORG_ID: "org-of-the-host",
      OPENAI_CUSTOM_HEADERS: "x-of-the-host: yes",
      OPENAI_LOG: "debug",
    });
    expect(it.plane.outcome).toEqual({ success: true, summary: "Hello." });
    const [call] = it.standIn.seen;
    expect(call?.headers.authorization).toBe(`Bearer ${it.plane.key}`);
    expect(JSON.stringify([call, log])).not.toMatch(/of-the-host|x-stainless/);
  });

  it("redacts the injected secrets in what the model gets and in what is recorded", async () => {
    const secrets = [{ name: "TOKEN", value: "s3cr3t-of-the-team-0001" }];
    await using it = await agentRun({
      prompt: "Look.",
      context: { secrets },
      turns: [
        { tools: [use("run_command", { command: 'printf %s "$TOKEN" > t.txt; cat t.txt' })] },
        { tools: [use("read_files", { files: [{ path: "t.txt" }] })] },
        { text: "Seen." },
      ],
    });
    await it.run();
    expect(it.plane.results).toMatchObject([{ stdout: "***" }, { files: [{ content: "***" }] }]);
    expect(JSON.stringify(it.standIn.seen) + it.plane.everything).not.toContain(secrets[0]?.value);
  });
});
