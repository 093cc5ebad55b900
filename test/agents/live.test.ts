import { expect, it } from "vitest";
import { client } from "../support/api-client.ts";
import { ModelStandIn } from "../support/model-stand-in.ts";
import { startService } from "../support/service.ts";

it("executes runs with codex and gemini from `npm start` with a compatible model, and continues their sessions", {
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
    standIn.turns.push({ text: "First." }, { text: "Second." });
    const made = await call("POST", "/agent/runs", { prompt: "Say something.", config: { harness: { type } } });
    const runId = made.body.run_id;
    expect(await ended(runId, 200)).toMatchObject({
      state: "SUCCEEDED",
      agent_config: { harness: { type, model_id: "compatible/test" } },
      request_usage: { total_tokens: 120 },
    });
    await call("POST", `/agent/runs/${runId}/followups`, { message: "And again." });
    expect(await ended(runId, 200)).toMatchObject({ state: "SUCCEEDED" });
    expect(new Set(standIn.seen.map((seen) => seen.path))).toEqual(new Set([path]));
    const last = JSON.stringify(standIn.seen.at(-1)?.body);
    for (const said of ["Say something.", "First.", "And again."]) expect(last).toContain(said);
    const { headers } = await call("GET", `/agent/runs/${runId}/transcript`);
    const raw = await (await fetch(headers.get("location") ?? "")).text();
    expect(raw).toContain("Second.");
  }
});
