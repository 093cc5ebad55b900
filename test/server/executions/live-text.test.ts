import { afterEach, beforeEach, expect, it } from "vitest";
import { type LiveFrame, Runyard } from "../../../clients/typescript/src/index.ts";
import { ModelStandIn } from "../../support/model-stand-in.ts";
import { useServers } from "../support/served.ts";

const SECRET = "s3cr3t-of-the-streamed-text";
/** The stand-in sends a text in two halves, which cut the secret. */
const TEXT = `I looked into everything. ${SECRET} opens the gate, as was to be shown.`;

const servers = useServers();
let models: ModelStandIn;
beforeEach(async () => {
  models = await ModelStandIn.start();
});
afterEach(() => models[Symbol.asyncDispose]());

it("shows the text of the model while it is written, redacted, before the message that replaces it", async () => {
  const settings = { RUNYARD_COMPATIBLE_BASE_URL: models.openaiUrl, RUNYARD_COMPATIBLE_MODELS: "test" };
  const served = await servers.start(servers.directory(), { environment: settings });
  const shown = Promise.withResolvers<void>();
  models.turns.push({ text: TEXT, textHeldUntil: shown.promise });
  await served.call("POST", "/agent/secrets", { name: "GATE", value: SECRET });
  const environment = await served.call("POST", "/agent/environments", { name: "gate", secrets: [{ name: "GATE" }] });
  const client = new Runyard({ baseURL: served.state.base_url, apiKey: served.state.api_key });
  const config = { model_id: "compatible/test", environment_id: environment.body.uid };
  const { run_id } = await client.runs.create({ prompt: "Look into it.", config });

  const frames: LiveFrame[] = [];
  const order: string[] = [];
  let block: object = {};
  for await (const item of client.runs.stream(run_id)) {
    if (item.kind === "live") {
      frames.push(item.frame);
      order.push(item.frame.stream);
      if (item.frame.text.includes("to be shown.")) shown.resolve();
    } else if (item.event.type === "messages" && JSON.stringify(item.event.data).includes("I looked")) {
      order.push("message");
      block = JSON.parse(JSON.stringify(item.event.data)).messages[0].content[0];
    }
  }

  const text = "I looked into everything. *** opens the gate, as was to be shown.";
  expect(frames.map((frame) => frame.text).join("")).toBe(text);
  expect(block).toMatchObject({ type: "text", text, message_id: frames[0]?.message_id });
  expect(order.at(-1), "the message comes last").toBe("message");
  expect(new Set(order.slice(0, -1))).toEqual(new Set(["text"]));
  const { body } = await served.call("GET", `/agent/runs/${run_id}/events?after=0&live=true`);
  expect(body).toMatchObject({ ended: true, live: [] });
  expect(JSON.stringify(body)).not.toContain(SECRET);
}, 120_000);

it("reports the first failed call of an unreachable model while the run goes on", async () => {
  const environment = { RUNYARD_COMPATIBLE_BASE_URL: models.openaiUrl, RUNYARD_COMPATIBLE_MODELS: "test" };
  await models[Symbol.asyncDispose]();
  const served = await servers.start(servers.directory(), { environment });
  const client = new Runyard({ baseURL: served.state.base_url, apiKey: served.state.api_key });
  const config = { model_id: "compatible/test" };
  const { run_id } = await client.runs.create({ prompt: "Look into it.", config });
  let state: string | undefined;
  for await (const item of client.runs.stream(run_id)) {
    if (item.kind !== "event" || item.event.type !== "model_retry") continue;
    expect(item.event.data).toMatchObject({ attempt: 1, of: expect.any(Number), reason: expect.any(String) });
    state ??= (await client.runs.retrieve(run_id)).state;
    await client.runs.cancel(run_id, { force: true });
  }
  expect(state).toBe("INPROGRESS");
}, 120_000);
