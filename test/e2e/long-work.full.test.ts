import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { client, type Reply } from "../support/api-client.ts";
import { findHarness } from "../support/execution-processes.ts";
import { ModelStandIn, type SeenCall } from "../support/model-stand-in.ts";
import { startService, type TestService } from "../support/service.ts";

/** The window that the models state, and the characters of a request above which they refuse it: their tokens are smaller than stated. */
const WINDOW_TOKENS = 16_000;
const MAX_CHARACTERS = 44_000;
const COMMANDS = 16;

let directory = "";
let standIn: ModelStandIn;
let service: TestService;
beforeAll(async () => {
  directory = mkdtempSync(path.join(tmpdir(), "runyard-long-work-"));
  standIn = await ModelStandIn.start();
  const models = [{ name: "some", context_tokens: WINDOW_TOKENS }];
  const providers = [
    { name: "chat", kind: "compatible", base_url: standIn.openaiUrl, models },
    { name: "messages", kind: "anthropic", base_url: standIn.anthropicUrl, models, key: "a-key" },
    { name: "responses", kind: "openai", base_url: standIn.openaiUrl, models, key: "a-key" },
  ];
  writeFileSync(path.join(directory, "runyard.json"), JSON.stringify({ providers }), { mode: 0o600 });
  service = await startService({ directory });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await standIn[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
});

const OVERFLOW: Readonly<Record<string, object>> = {
  "/v1/messages": {
    type: "error",
    error: { type: "invalid_request_error", message: "prompt is too long: 20000 tokens > 16000 maximum" },
  },
  other: {
    error: { code: "context_length_exceeded", type: "invalid_request_error", message: "too long", param: null },
  },
};

/** Runs commands with much output until there are enough, summarizes on request, and refuses what is too long. */
function createScript() {
  const state = { commands: 0, goal: COMMANDS, summaries: 0, refusals: 0 };
  const respond = ({ path: called, body }: SeenCall) => {
    const text = JSON.stringify(body);
    if (text.length > MAX_CHARACTERS) {
      state.refusals++;
      return { status: 400, raw: JSON.stringify(OVERFLOW[called] ?? OVERFLOW["other"]) };
    }
    if (text.includes("Write a summary")) {
      state.summaries++;
      return { text: "Some commands ran. The word is heliotrope." };
    }
    if (state.commands >= state.goal) return { text: `Ran ${state.goal}.` };
    state.commands++;
    // Each kill has to meet a command that runs.
    const pause = state.commands % 6 === 0 ? "sleep 4; " : "";
    const command = `${pause}echo number ${state.commands}; head -c 6000 /dev/zero | tr '\\0' x`;
    return { tools: [{ name: "run_command", input: { command }, id: `use_${state.commands}` }] };
  };
  return { state, respond };
}

describe("a run that outgrows the model's context window", () => {
  it.each(["chat", "messages", "responses"])(
    "continues after its harness and the service are killed, and at follow-ups, by the API %s",
    async (name) => {
      const { state, respond } = createScript();
      standIn.otherwise = respond;
      const api = () => client(service);
      const run = await api().create("Run the commands, and remember the word heliotrope.", {
        config: { model_id: `${name}/some` },
      });
      await expect.poll(() => state.commands).toBeGreaterThanOrEqual(6);
      const executionId = (await api().timeline(run)).findLast(({ execution_id }) => execution_id)?.execution_id;
      await expect.poll(() => findHarness(executionId)).toBeGreaterThan(0);
      process.kill((await findHarness(executionId)) ?? 0, "SIGKILL");
      await expect.poll(() => state.commands).toBeGreaterThanOrEqual(12);
      await service.kill();
      service = await startService({ directory });
      const first = await api().ended(run, 240);
      expect(first.status_message?.message ?? first.state).toBe("SUCCEEDED");
      for (const round of [1, 2]) {
        state.goal += 4;
        await api().call("POST", `/agent/runs/${run}/followups`, { message: `Four more, number ${round}.` });
        await api().until(run, ({ state: now }) => now !== "SUCCEEDED");
        expect((await api().ended(run, 240)).state).toBe("SUCCEEDED");
        expect((await api().call("GET", `/agent/runs/${run}/response`)).body.text).toBe(`Ran ${state.goal}.`);
      }
      const { body } = await api().call("GET", `/agent/runs/${run}/conversation`);
      const blocks = body.steps
        .flatMap((step: Reply["body"]) => step.messages)
        .flatMap(({ content }: Reply["body"]) => content);
      const compactions = blocks.filter(({ name: event }: Reply["body"]) => event === "conversation_compacted");
      expect(compactions.length).toBeGreaterThan(1);
      // A kill may lose one summary that was not stored yet; no other is paid twice.
      expect(state.summaries).toBeLessThanOrEqual(compactions.length + 2);
      expect(compactions.every(({ data }: Reply["body"]) => data.summary.includes("heliotrope"))).toBe(true);
      expect(JSON.stringify(standIn.seen.at(-1)?.body)).toContain("Four more, number 1.");
      expect(state.refusals).toBeLessThan(12);
    },
    600_000,
  );
});
