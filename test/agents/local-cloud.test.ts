import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { type CloudProcess, client, dropState, makeState, startCloud } from "../e2e/cloud.ts";
import { ModelStandIn } from "../support/model-stand-in.ts";

const variables = ["RUNYARD_COMPATIBLE_BASE_URL", "RUNYARD_COMPATIBLE_MODELS"] as const;

/** Waits until the run has ended. */
async function ended(cloud: CloudProcess, runId: string) {
  for (let look = 0; look < 600; look++) {
    const { body } = await client(cloud).call("GET", `/agent/runs/${runId}`);
    if (!["QUEUED", "PENDING", "INPROGRESS"].includes(body.state)) return body;
    await sleep(200);
  }
  throw new Error(`the run did not end: ${cloud.printed()}`);
}

it("runs codex and gemini from `npm run emulator` with a model of a server of one's own, and goes on with their sessions", {
  timeout: 400_000,
}, async () => {
  await using standIn = await ModelStandIn.start();
  for (const [index, name] of variables.entries()) process.env[name] = [standIn.openaiUrl, "test"][index];
  const state = await makeState();
  const cloud = await startCloud(state);
  try {
    const { call } = client(cloud);
    for (const [type, path] of [
      ["codex", "/v1/responses"],
      ["gemini", "/v1/chat/completions"],
    ] as const) {
      standIn.seen.length = 0;
      standIn.turns.push({ text: "First." }, { text: "Second." });
      const made = await call("POST", "/agent/runs", { prompt: "Say something.", config: { harness: { type } } });
      const runId = made.body.run_id;
      expect(await ended(cloud, runId)).toMatchObject({
        state: "SUCCEEDED",
        agent_config: { harness: { type, model_id: "compatible/test" } },
        request_usage: { total_tokens: 120 },
      });
      await call("POST", `/agent/runs/${runId}/followups`, { message: "And again." });
      expect(await ended(cloud, runId)).toMatchObject({ state: "SUCCEEDED" });
      expect(new Set(standIn.seen.map((seen) => seen.path))).toEqual(new Set([path]));
      const last = JSON.stringify(standIn.seen.at(-1)?.body);
      for (const said of ["Say something.", "First.", "And again."]) expect(last).toContain(said);
      const { headers } = await call("GET", `/agent/runs/${runId}/transcript`);
      const raw = await (await fetch(headers.get("location") ?? "")).text();
      expect(raw).toContain("Second.");
    }
  } finally {
    for (const name of variables) delete process.env[name];
    await cloud.stop();
    await dropState(state);
  }
});
