import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ModelStandIn } from "../../support/model-stand-in.ts";
import { eventually } from "../support/eventually.ts";
import { useServers } from "../support/served.ts";

const servers = useServers();
let models: ModelStandIn;
beforeEach(async () => {
  models = await ModelStandIn.start();
});
afterEach(() => models[Symbol.asyncDispose]());

it("runs models of the file's providers, each by the API, the key and the headers of its provider", async () => {
  const directory = servers.directory();
  const providers = [
    {
      ...{ name: "box", kind: "compatible", base_url: models.openaiUrl, models: ["tiny"] },
      ...{ key: { env: "BOX_KEY" }, headers: { "x-title": "runyard" } },
    },
    {
      ...{ name: "proxy", kind: "anthropic", base_url: models.anthropicUrl, models: ["deep"], key: "proxy-key" },
      timeouts: { first_byte_seconds: 600, idle_seconds: 60 },
    },
    { name: "azure", kind: "openai", base_url: models.openaiUrl, models: ["gpt"], key: { env: "NO_SUCH_KEY" } },
  ];
  writeFileSync(path.join(directory, "runyard.json"), JSON.stringify({ providers }), { mode: 0o600 });
  const served = await servers.start(directory, { environment: { BOX_KEY: "box-key" } });
  expect(served.output()).toContain("The key of the model provider azure is missing: set the variable NO_SUCH_KEY.");
  const listed = await served.call("GET", "/agent/models");
  expect(listed.body).toMatchObject({ default_model_id: "box/tiny" });
  expect(JSON.stringify(listed.body)).not.toMatch(/box-key|proxy-key|127\.0\.0\.1/);

  async function finish(model_id: string) {
    const { body } = await served.call("POST", "/agent/runs", { prompt: "Say hello.", config: { model_id } });
    return eventually(async () => {
      const run = await served.call("GET", `/agent/runs/${body.run_id}`);
      expect(["SUCCEEDED", "FAILED"], JSON.stringify([run.body, models.seen.length])).toContain(run.body.state);
      return run.body;
    });
  }
  expect(await finish("box/tiny")).toMatchObject({ state: "SUCCEEDED" });
  expect(models.seen.at(-1)).toMatchObject({
    path: "/v1/chat/completions",
    headers: { authorization: "Bearer box-key", "x-title": "runyard" },
    body: { model: "tiny" },
  });
  expect(await finish("proxy/deep")).toMatchObject({ state: "SUCCEEDED" });
  expect(models.seen.at(-1)).toMatchObject({
    path: "/v1/messages",
    headers: { "x-api-key": "proxy-key" },
    body: { model: "deep" },
  });
  const failed = await finish("azure/gpt");
  expect(failed).toMatchObject({ state: "FAILED" });
  expect(JSON.stringify(failed.status_message)).toMatch(
    /the key of [a-z0-9-]+ is not at the place that the settings name/,
  );
}, 120_000);

it("does not start with a file that is not valid, and names the member", async () => {
  const directory = servers.directory();
  writeFileSync(path.join(directory, "runyard.json"), '{"providers": [{"name": "box", "kind": "ollama"}]}');
  const { code, output } = await servers.run(directory, { args: ["--no-sample"] });
  expect(code).toBe(1);
  expect(output).toContain("providers[0].kind: must be");
});
