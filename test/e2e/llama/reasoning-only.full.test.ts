import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import * as v from "valibot";
import { expect, it } from "vitest";
import { client } from "../../support/api-client.ts";
import { startService } from "../../support/service.ts";
import { startLlamaServer } from "./llama-server.ts";

const SECONDS = 10 * 60;
const Events = v.object({ events: v.array(v.looseObject({ type: v.string() })) });
const Block = v.looseObject({ type: v.string(), text: v.optional(v.string()) });
const Conversation = v.object({
  steps: v.array(v.object({ messages: v.array(v.object({ content: v.array(Block) })) })),
});

it("a run whose model only reasons is asked again once, and then fails with the reason", {
  timeout: SECONDS * 1_000,
}, async () => {
  await using llama = await startLlamaServer("reasoning-only");
  const asked = await fetch(`${llama.url}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ messages: [{ role: "user", content: "Say hello." }] }),
  });
  expect(await asked.json(), "the server sends reasoning only").toMatchObject({
    choices: [{ message: { content: "", reasoning_content: expect.stringContaining("I think about it.") } }],
  });
  const directory = await mkdtemp(path.join(tmpdir(), "runyard-llama-"));
  const provider = { name: "box", kind: "compatible", base_url: llama.url, models: [{ name: "smollm2", tools: true }] };
  await writeFile(path.join(directory, "runyard.json"), JSON.stringify({ providers: [provider] }));
  await using service = await startService({ directory });
  const api = client(service);
  const run = await api.create("Say hello.", { config: { model_id: "box/smollm2", max_steps: 10 } });
  expect(await api.ended(run, SECONDS)).toMatchObject({
    state: "FAILED",
    status_message: { message: "The model returned an empty response twice: neither text nor a tool call." },
  });
  const { body } = await api.call("GET", `/agent/runs/${run}/events`);
  expect(v.parse(Events, body).events.filter(({ type }) => type === "model_called")).toHaveLength(2);
  const conversation = await api.call("GET", `/agent/runs/${run}/conversation`);
  const blocks = v
    .parse(Conversation, conversation.body)
    .steps.flatMap(({ messages }) => messages.flatMap(({ content }) => content));
  const texts = blocks.filter(({ type }) => type === "text").map(({ text }) => text);
  expect(JSON.stringify(texts)).not.toContain("I think about it.");
  await rm(directory, { recursive: true, force: true, maxRetries: 3 });
});
