import { beforeEach, describe, expect, it } from "vitest";
import { FakeControlPlane } from "../../lab/fake-control-plane.ts";
import { runHarness } from "../harness/support/run-harness.ts";
import { type Client, createClient } from "../support/client.ts";
import { createTestControlPlane, type ResponseBody, type TestControlPlane } from "../support/control-plane.ts";
import { nextExecution, workingRun } from "../support/execution.ts";

let controlPlane: TestControlPlane;
let user: Client;
beforeEach(async () => {
  controlPlane = await createTestControlPlane();
  user = createClient(controlPlane);
});

/** Expects that a request returns 422, and stores and starts nothing. */
async function refused(work: () => Promise<ResponseBody>, field: string, remedy: RegExp): Promise<void> {
  const before = structuredClone(controlPlane.table.all());
  const sent = controlPlane.sent.length;
  const response = await work();
  expect(response).toMatchObject({
    status: 422,
    headers: { "x-should-retry": "false" },
    body: { error_code: "operation_not_supported", retryable: false },
  });
  expect(response.body.detail).toMatch(new RegExp(`^${field}: `));
  expect(response.body.detail).toMatch(remedy);
  expect(controlPlane.table.all()).toEqual(before);
  expect(controlPlane.sent).toHaveLength(sent);
}

// @contract runs.docker-image: A run whose environment has a docker_image that no sandbox of the deployment supports is refused with 422.
describe("an environment with a docker_image that the deployment cannot run", () => {
  const environment = async () =>
    (await user.post("/agent/environments", { name: "py", docker_image: "python:3.13" })).body.uid;
  const remedy = /docker_image.*clear it.*fargate/;

  it("is accepted, but its runs are refused", async () => {
    const environment_id = await environment();
    const run = { prompt: "hello", config: { environment_id } };
    await refused(() => user.post("/agent/runs", run), "config.environment_id", remedy);
    expect((await user.put(`/agent/environments/${environment_id}`, { docker_image: "" })).status).toBe(200);
    expect((await user.post("/agent/runs", run)).status).toBe(200);
  });

  it("causes a refusal of runs that get it from their team or identity", async () => {
    const environment_id = await environment();
    const identity = (await user.post("/agent/identities", { name: "builder", environment_id })).body.uid;
    const as = { prompt: "hello", agent_identity_uid: identity };
    await refused(() => user.post("/agent/runs", as), "config.environment_id", remedy);
    await user.put(`/agent/teams/${controlPlane.team}`, { settings: { default_environment_id: environment_id } });
    await refused(() => user.post("/agent/runs", { prompt: "hello" }), "config.environment_id", remedy);
  });

  it("causes a refusal of a schedule's run", async () => {
    const agent_config = { environment_id: await environment() };
    const schedule = { name: "nightly", cron_schedule: "0 3 * * *", prompt: "hello", agent_config };
    const { id } = (await user.post("/agent/schedules", schedule)).body;
    await refused(() => user.post(`/agent/schedules/${id}/run`), "agent_config.environment_id", remedy);
  });

  it("is accepted if the deployment has containers, or if the caller executes the run", async () => {
    const run = { prompt: "hello", config: { environment_id: await environment() } };
    expect((await user.post("/agent/runs", { ...run, execution_location: "LOCAL" })).status).toBe(200);
    controlPlane.offered.push("fargate");
    expect((await user.post("/agent/runs", run)).status).toBe(200);
  });
});

describe("the mode of a follow-up", () => {
  // @contract runs.followups.mode
  it("applies to the execution that the follow-up starts, and to later ones", async () => {
    const first = await workingRun(controlPlane, { prompt: "p" });
    await first.finish();
    await user.post(`/agent/runs/${first.run_id}/followups`, { message: "plan it", mode: "plan" });
    const second = await nextExecution(controlPlane);
    expect((await second.resolve()).body.context.mode).toBe("plan");
    await second.beat(1);
    await second.finish();
    await user.post(`/agent/runs/${first.run_id}/followups`, { message: "and now?" });
    const third = await nextExecution(controlPlane);
    expect((await third.resolve()).body.context.mode, "it applies until another mode is named").toBe("plan");
  });
});

describe("the model of the default harness", () => {
  it("is the run's model, as with other harnesses, and returns 400 if it does not exist", async () => {
    for (const type of ["default", "oz"]) {
      const config = { harness: { type, model_id: "local/runbook" } };
      const { status, body } = await user.post("/agent/runs", { prompt: "p", config });
      expect(status).toBe(200);
      expect((await user.get(`/agent/runs/${body.run_id}`)).body.agent_config.model_id).toBe("local/runbook");
      const wrong = { harness: { type, model_id: "nobody/knows" } };
      const response = await user.post("/agent/runs", { prompt: "p", config: wrong });
      expect(response).toMatchObject({ status: 400, body: { errors: [{ path: "config.harness.model_id" }] } });
    }
  });
});

describe("the mode plan with local/runbook", () => {
  it("runs no command, and lists those that it would run", async () => {
    await using plane = await FakeControlPlane.start({
      prompt: "```sh\necho changed > file\n```",
      context: { mode: "plan" },
    });
    await runHarness(plane);
    expect(plane.outputs).toEqual([]);
    expect(plane.outcome).toMatchObject({ success: true, summary: expect.stringContaining("echo changed > file") });
  });
});
