import { beforeEach, describe, expect, it } from "vitest";
import { keys } from "#shared/table/keys.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createHarness, createRun, workingRun } from "../../support/execution.ts";

let plane: TestControlPlane;
let user: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
});

const read = async (id: string) => (await user.get(`/agent/runs/${id}`)).body;

describe("a new run", () => {
  it("derives its title from its prompt if the given title is blank", async () => {
    const id = await createRun(plane, { prompt: "# Tidy the cellar\nand the attic", title: " \t" });
    expect((await read(id)).title).toBe("Tidy the cellar");
  });

  it("is listed with the first 1,000 characters of a prompt that is stored as a file", async () => {
    const prompt = "😀".repeat(10_000);
    const id = await createRun(plane, { prompt });
    expect((await read(id)).prompt).toBe(prompt);
    expect((await user.get("/agent/runs")).body.runs[0].prompt).toBe("😀".repeat(1_000));
  });

  it("stores its ancestors from the root down, and is counted at its parent and its root", async () => {
    const ids = [await createRun(plane)];
    for (const prompt of ["b", "c", "d"]) ids.push(await createRun(plane, { prompt, parent_run_id: ids.at(-1) }));
    const [root, second, third, last] = ids.map((id) => ({ id, head: keys.head(id), body: keys.body(id) }));
    if (!root || !second || !third || !last) throw new Error("four runs were created");
    expect(await plane.table.get(last.body)).toMatchObject({ ancestors: [root.id, second.id, third.id] });
    expect(await plane.table.get(last.head)).toMatchObject({ root: root.id, depth: 3 });
    expect(await plane.table.get(root.head)).toMatchObject({ children: 1, descendants: 3 });
    for (const { head } of [second, third]) {
      const item = await plane.table.get(head);
      expect(item).toMatchObject({ children: 1 });
      expect(item).not.toHaveProperty("descendants");
    }
  });

  it("is at capacity if its team's slots are taken, unless it is a child, which uses a slot of its tree", async () => {
    const settings = { concurrency_limit: 1 };
    expect((await user.put(`/agent/teams/${plane.team}`, { settings })).status).toBe(200);
    const { run_id } = await workingRun(plane);
    const create = async (body: object) => (await user.post("/agent/runs", { prompt: "a", ...body })).body;
    expect(await create({})).toMatchObject({ at_capacity: true });
    expect(await create({ parent_run_id: run_id })).not.toHaveProperty("at_capacity");
    expect(await create({ execution_location: "LOCAL" })).not.toHaveProperty("at_capacity");
  });

  it.each([true, false])("is stored with interactive: %j", async (interactive) => {
    const id = await createRun(plane, { prompt: "a", interactive });
    expect(await plane.table.get(keys.body(id))).toMatchObject({ interactive });
  });

  it("is refused with a default of its team that is no longer valid", async () => {
    const set = { default_model_id: "gpt-0" };
    await plane.table.write({ kind: "update", key: keys.team(plane.team), set });
    expect(await user.post("/agent/runs", { prompt: "a" })).toMatchObject({
      status: 400,
      body: { errors: [{ path: "config.model_id" }] },
    });
    const config = { model_id: "local/runbook" };
    expect((await user.post("/agent/runs", { prompt: "a", config })).status).toBe(200);
  });
});

describe("the conversation that a new run continues", () => {
  const continueConversation = (conversation_id: string, key = plane.key) =>
    createClient(plane, key).post("/agent/runs", { prompt: "go on", conversation_id });

  it("has the id of its first run, and is refused like a missing one to callers who cannot see it", async () => {
    const first = await workingRun(plane);
    await first.finish();
    const second = createHarness(plane, await plane.dispatch((await continueConversation(first.run_id)).body.run_id));
    await second.resolve();
    await second.finish();
    const personal = await createRun(plane, { prompt: "p", team: false });
    await user.post(`/agent/runs/${personal}/cancel`);
    const { key } = await plane.person("Mia");
    const missing = "0199e0b2-0000-7000-8000-000000000000";
    for (const [id, by] of [
      [second.run_id, plane.key],
      [first.run_id, plane.otherKey],
      [personal, key],
      [missing, plane.key],
      ["none", plane.key],
    ] as const) {
      expect(await continueConversation(id, by), `${id} by ${by}`).toMatchObject({
        status: 400,
        body: { errors: [{ path: "conversation_id", message: "there is no such conversation" }] },
      });
    }
    expect((await continueConversation(first.run_id, key)).status).toBe(200);
  });

  it("is refused while its first run was continued by a follow-up", async () => {
    const first = await workingRun(plane);
    await first.finish();
    const second = createHarness(plane, await plane.dispatch((await continueConversation(first.run_id)).body.run_id));
    await second.resolve();
    await second.finish();
    await user.post(`/agent/runs/${first.run_id}/followups`, { message: "and this" });
    expect(await continueConversation(first.run_id)).toMatchObject({
      status: 409,
      body: { retryable: false, detail: expect.stringContaining(first.run_id) },
    });
  });

  it.each(["PENDING", "INPROGRESS"])("is refused while its latest run is %s", async (state) => {
    const first = await workingRun(plane);
    await first.finish();
    const second = createHarness(plane, await plane.dispatch((await continueConversation(first.run_id)).body.run_id));
    if (state === "INPROGRESS") await second.resolve();
    expect(await continueConversation(first.run_id)).toMatchObject({
      status: 409,
      body: { retryable: false, detail: expect.stringContaining(second.run_id) },
    });
  });
});

describe("the environment of a new run", () => {
  const environment = async (name: string, body: object) => {
    const made = await user.post("/agent/environments", { name, ...body });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    return made.body.uid;
  };

  it("is refused for a personal run if it has a worker, unless the caller executes the run", async () => {
    const environment_id = await environment("own", { team: false, worker_host: "rack-7" });
    const run = { prompt: "a", team: false, config: { environment_id } };
    expect(await user.post("/agent/runs", run)).toMatchObject({
      status: 400,
      body: { errors: [{ path: "config.worker_host" }] },
    });
    expect((await user.post("/agent/runs", { ...run, execution_location: "LOCAL" })).status).toBe(200);
    expect((await user.post("/agent/runs", { ...run, team: true })).status).toBe(200);
  });

  it("is refused with an image if the service has no containers to execute the run", async () => {
    plane.offered.push("fargate");
    const environment_id = await environment("image", { docker_image: "python:3.13" });
    const onWorker = await environment("worker", { docker_image: "python:3.13", worker_host: "rack-7" });
    const run = { prompt: "a", config: { environment_id } };
    expect((await user.post("/agent/runs", run)).status).toBe(200);
    plane.offered.pop();
    expect(await user.post("/agent/runs", run)).toMatchObject({
      status: 422,
      body: { error_code: "operation_not_supported", detail: expect.stringMatching(/^config\.environment_id: /) },
    });
    for (const body of [
      { ...run, execution_location: "LOCAL" },
      { prompt: "a", config: { environment_id: onWorker } },
      { prompt: "a", config: { environment_id, worker_host: "rack-7" } },
    ]) {
      expect((await user.post("/agent/runs", body)).status, JSON.stringify(body)).toBe(200);
    }
  });
});
