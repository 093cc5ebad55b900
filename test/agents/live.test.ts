import { expect, it, vi } from "vitest";
import { type LiveFrame, Runyard } from "../../clients/typescript/src/index.ts";
import { client } from "../support/api-client.ts";
import { createClient } from "../support/client.ts";
import { ModelStandIn } from "../support/model-stand-in.ts";
import { startService } from "../support/service.ts";
import { Stage } from "./support/play.ts";

it("executes runs with codex and gemini from `npm start`, shows their text live, and continues their sessions", {
  timeout: 400_000,
}, async () => {
  await using standIn = await ModelStandIn.start();
  await using service = await startService({
    environment: { RUNYARD_COMPATIBLE_BASE_URL: standIn.openaiUrl, RUNYARD_COMPATIBLE_MODELS: "test" },
  });
  const { call, ended } = client(service);
  for (const [type, path] of [
    ["codex", "/v1/responses"],
    ["gemini", "/v1/chat/completions"],
  ] as const) {
    standIn.seen.length = 0;
    const shown = Promise.withResolvers<void>();
    standIn.turns.push({ text: "First.", textHeldUntil: shown.promise }, { text: "Second." });
    const made = await call("POST", "/agent/runs", { prompt: "Say something.", config: { harness: { type } } });
    const runId = made.body.run_id;
    const followed = followText(new Runyard({ baseURL: service.baseUrl, apiKey: service.apiKey }), runId, (text) => {
      if (text === "First.") shown.resolve();
    });
    expect(await ended(runId, 200)).toMatchObject({
      state: "SUCCEEDED",
      agent_config: { harness: { type, model_id: "compatible/test" } },
      request_usage: { total_tokens: 120 },
    });
    const { frames, blocks } = await followed;
    expect(blocks).toContainEqual(expect.objectContaining({ text: "First.", message_id: frames[0]?.message_id }));
    expect(new Set(frames.map(({ stream }) => stream))).toEqual(new Set(["text"]));
    await call("POST", `/agent/runs/${runId}/followups`, { message: "And again." });
    expect(await ended(runId, 200)).toMatchObject({ state: "SUCCEEDED" });
    expect(new Set(standIn.seen.map((seen) => seen.path))).toEqual(new Set([path]));
    const last = JSON.stringify(standIn.seen.at(-1)?.body);
    for (const text of ["Say something.", "First.", "And again."]) expect(last).toContain(text);
    const { headers } = await call("GET", `/agent/runs/${runId}/transcript`);
    const raw = await (await fetch(headers.get("location") ?? "")).text();
    expect(raw).toContain("Second.");
  }
});

const COMMAND = `echo "it's" 'line 1'; tail -f /dev/null`;

it.each([
  ["claude", { name: "Bash", input: { command: COMMAND, description: "waits", timeout: 600_000 } }, "bubblewrap"],
  ["gemini", { name: "run_shell_command", input: { command: COMMAND, description: "waits" } }, "bubblewrap"],
])("shows the output of a command of %s while it runs", async (type, tool, isolation) => {
  await using stage = await Stage.make();
  const runId = await stage.create({ prompt: "Work.", config: { harness: { type } } });
  const executing = stage.execute([{ tools: [tool] }], { environment: { RUNYARD_SANDBOX: isolation } });
  const caller = createClient(stage.plane);
  const readFrames = async (): Promise<LiveFrame[]> =>
    (await caller.get(`/agent/runs/${runId}/events?live=true`)).body.live;
  const waiting = { timeout: 90_000, interval: 100 };
  const [frame] = await vi.waitFor(async () => {
    const frames = (await readFrames()).filter(({ stream }) => stream === "stdout");
    expect(frames.map(({ text }) => text).join(""), stage.log).toBe("it's line 1\n");
    return frames;
  }, waiting);
  const action = (await stage.blocks(runId)).find((block) => block["type"] === "action");
  expect(frame?.action_id).toBe(action?.["id"]);
  await caller.post(`/agent/runs/${runId}/cancel`);
  await executing;
});

/** Follows a run to its end. Returns the live text, and the blocks of the messages that replaced it. */
async function followText(runyard: Runyard, runId: string, onText: (text: string) => void) {
  const frames: LiveFrame[] = [];
  const blocks: unknown[] = [];
  for await (const item of runyard.runs.stream(runId)) {
    if (item.kind === "live") {
      frames.push(item.frame);
      onText(frames.map(({ text }) => text).join(""));
    } else if (item.event.type === "messages") {
      const { messages } = JSON.parse(JSON.stringify(item.event.data));
      for (const { content } of messages) blocks.push(...content);
    }
  }
  return { frames, blocks };
}
