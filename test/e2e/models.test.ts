import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkModel } from "../../operate/smoke/checks.ts";
import { connect } from "../../operate/smoke/service.ts";
import { client } from "../support/api-client.ts";
import { ModelStandIn } from "../support/model-stand-in.ts";
import { startService, type TestService } from "../support/service.ts";

/** A service with a server that speaks OpenAI's API, and a run that its caller executes. */
describe("models of a single machine", () => {
  let standIn: ModelStandIn;
  let service: TestService;
  beforeAll(async () => {
    standIn = await ModelStandIn.start();
    service = await startService({
      environment: {
        RUNYARD_COMPATIBLE_BASE_URL: standIn.openaiUrl,
        RUNYARD_COMPATIBLE_MODELS: "test",
        RUNYARD_MODEL_PRICES: "compatible/test=2/10",
      },
    });
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await standIn[Symbol.asyncDispose]();
  });

  const complete = (key: string, stream: boolean) =>
    fetch(`${service.baseUrl}/model/openai/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "test", stream, messages: [{ role: "user", content: "hello" }] }),
    });

  it("are listed, and stream through the gateway until the run's budget is spent", async () => {
    const { call } = client(service);
    expect((await call("GET", "/agent/models")).body.default_model_id).toBe("compatible/test");
    const config = { budget_usd: 0.03 };
    const made = await call("POST", "/agent/runs", { prompt: "hello", execution_location: "LOCAL", config });
    const { run_id, run_key } = made.body;

    standIn.turns.push({ text: "hello there", pauseMs: 200 });
    const response = await complete(run_key, true);
    const reader = response.body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toContain("chat.completion.chunk");
    // The first words have arrived before the last ones are sent.
    expect(standIn.open).toBe(1);
    while (!(await reader?.read())?.done);

    standIn.turns.push({ usage: { input: 100, output: 2_000 } });
    expect((await complete(run_key, false)).status).toBe(200);
    const refused = await complete(run_key, false);
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({ error: { code: "budget_exceeded" } });
    await fetch(`${service.baseUrl}/harness-support/finish-task`, {
      method: "POST",
      headers: { authorization: `Bearer ${run_key}`, "content-type": "application/json" },
      body: JSON.stringify({ success: true, summary: "done" }),
    });
    expect((await call("GET", `/agent/runs/${run_id}`)).body).toMatchObject({
      state: "FAILED",
      request_usage: { inference_cost: 0.0206, total_tokens: 2_220 },
      status_message: { error_code: "budget_exceeded" },
    });
    expect((await complete(run_key, false)).status).toBe(401);
  });

  it("pass npm run aws -- smoke --model", async () => {
    const deployment = connect(service.baseUrl, service.apiKey);
    const { check } = checkModel("compatible/test");
    standIn.turns.push({ text: "ready" });
    await expect(check(deployment)).resolves.toBeUndefined();
  });

  it("execute a run as agents, with tools in its sandbox, until the task is done", async () => {
    const { create, ended, outputs, call } = client(service);
    const edit = { path: "sum.txt", action: "write", new_text: "2\n" };
    standIn.turns.push(
      { text: "I write it down.", tools: [{ name: "edit_files", input: { edits: [edit] } }] },
      { tools: [{ name: "run_command", input: { command: 'cat sum.txt; cp sum.txt "$RUNYARD_OUTPUT/"' } }] },
      { text: "The sum is 2." },
    );
    const run = await create("What is 1 + 1? Write it into sum.txt.");
    expect(await ended(run)).toMatchObject({
      state: "SUCCEEDED",
      agent_config: { model_id: "compatible/test" },
      artifacts: [{ artifact_type: "FILE", data: { filepath: "sum.txt" } }],
      request_usage: { total_tokens: 360 },
    });
    expect((await call("GET", `/agent/runs/${run}/response`)).body).toMatchObject({ text: "The sum is 2." });
    expect((await outputs(run)).at(-1)).toBe("2\n");
  });

  it("end a run in the middle when the budget of its team for the month is spent", async () => {
    const { create, ended, call } = client(service);
    const [{ uid }] = (await call("GET", "/agent/me")).body.teams;
    const setBudget = (budget_usd_month: number | null) =>
      call("PUT", `/agent/teams/${uid}`, { settings: { budget_usd_month } });
    const { spent_usd } = (await setBudget(null)).body.month;
    const limit = Math.ceil((spent_usd + 0.15) * 10_000) / 10_000;
    expect((await setBudget(limit)).status).toBe(200);
    // Its output limit is lowered to what the budget allows, and the response uses all of it.
    const usage = { input: 100, output: 16_384 };
    standIn.turns.push({ tools: [{ name: "run_command", input: { command: "echo half" } }], usage });
    const run = await create("Count to two.");
    const { state, status_message, request_usage } = await ended(run);
    expect({ state, ...status_message }).toMatchObject({ state: "FAILED", error_code: "budget_exceeded" });
    expect(status_message.message).toContain(`the team's monthly budget of ${limit} US dollars`);
    expect(status_message.message).toMatch(/; it renews on \d{4}-\d{2}-01 \(UTC\)$/);
    const { inference_cost } = request_usage;
    expect(inference_cost).toBeGreaterThan(0.1);
    expect(inference_cost).toBeLessThanOrEqual(0.15);
    const { month } = (await call("GET", `/agent/teams/${uid}`)).body;
    expect(month).toMatchObject({ budget_usd: limit, spent_usd: expect.closeTo(spent_usd + inference_cost, 6) });

    const runbook = await create("```sh\ndate\n```", { config: { model_id: "local/runbook" } });
    expect((await ended(runbook)).state).toBe("SUCCEEDED");
    await setBudget(null);
    standIn.turns.push({ text: "one, two" });
    await call("POST", `/agent/runs/${run}/followups`, { message: "go on" });
    expect(await ended(run)).toMatchObject({ state: "SUCCEEDED" });
  });
});
