import { beforeEach, describe, expect, it } from "vitest";
import { keys } from "#shared/table/keys.ts";
import { type Client, createClient } from "../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { createRun } from "../support/execution.ts";

let plane: TestControlPlane;
let ada: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  ada = createClient(plane);
});

const read = async (id: string) => (await ada.get(`/agent/runs/${id}`)).body;

describe("a new run", () => {
  it("has a title of its prompt where the given one is blank", async () => {
    const id = await createRun(plane, { prompt: "# Tidy the cellar\nand the attic", title: " \t" });
    expect((await read(id)).title).toBe("Tidy the cellar");
  });

  it("is listed with 1,000 whole characters of a prompt that is stored as a file", async () => {
    const prompt = "😀".repeat(10_000);
    const id = await createRun(plane, { prompt });
    expect((await read(id)).prompt).toBe(prompt);
    expect((await ada.get("/agent/runs")).body.runs[0].prompt).toBe("😀".repeat(1_000));
  });

  it("has its ancestors from the root down", async () => {
    const root = await createRun(plane);
    const parent = await createRun(plane, { prompt: "b", parent_run_id: root });
    const id = await createRun(plane, { prompt: "c", parent_run_id: parent });
    expect(await plane.table.get(keys.body(id))).toMatchObject({ ancestors: [root, parent] });
    expect(await plane.table.get(keys.head(id))).toMatchObject({ root, depth: 2 });
    expect(await plane.table.get(keys.head(root))).toMatchObject({ children: 1, descendants: 2 });
    expect(await plane.table.get(keys.head(parent))).toMatchObject({ children: 1 });
  });

  it.each([true, false])("is stored with interactive: %j", async (interactive) => {
    const id = await createRun(plane, { prompt: "a", interactive });
    expect(await plane.table.get(keys.body(id))).toMatchObject({ interactive });
  });

  it("is refused with a default of its team that is not valid any more", async () => {
    const set = { default_model_id: "gpt-0" };
    await plane.table.write({ kind: "update", key: keys.team(plane.team), set });
    expect(await ada.post("/agent/runs", { prompt: "a" })).toMatchObject({
      status: 400,
      body: { errors: [{ path: "config.model_id" }] },
    });
    const config = { model_id: "local/runbook" };
    expect((await ada.post("/agent/runs", { prompt: "a", config })).status).toBe(200);
  });
});

describe("the environment of a new run", () => {
  const environment = async (body: object) => (await ada.post("/agent/environments", { name: "e", ...body })).body.uid;

  it("with a worker is refused to a personal run, unless its caller executes it", async () => {
    const environment_id = await environment({ team: false, worker_host: "rack-7" });
    const run = { prompt: "a", team: false, config: { environment_id } };
    expect(await ada.post("/agent/runs", run)).toMatchObject({
      status: 400,
      body: { errors: [{ path: "config.worker_host" }] },
    });
    expect((await ada.post("/agent/runs", { ...run, execution_location: "LOCAL" })).status).toBe(200);
    expect((await ada.post("/agent/runs", { ...run, team: true })).status).toBe(200);
  });

  it("with an image is refused where the service has no containers to execute the run in", async () => {
    plane.offered.push("fargate");
    const environment_id = await environment({ docker_image: "python:3.13" });
    const onWorker = await environment({ docker_image: "python:3.13", worker_host: "rack-7" });
    const run = { prompt: "a", config: { environment_id } };
    expect((await ada.post("/agent/runs", run)).status).toBe(200);
    plane.offered.pop();
    expect(await ada.post("/agent/runs", run)).toMatchObject({
      status: 422,
      body: { error_code: "operation_not_supported", detail: expect.stringMatching(/^config\.environment_id: /) },
    });
    for (const body of [
      { ...run, execution_location: "LOCAL" },
      { prompt: "a", config: { environment_id: onWorker } },
      { prompt: "a", config: { environment_id, worker_host: "rack-7" } },
    ]) {
      expect((await ada.post("/agent/runs", body)).status, JSON.stringify(body)).toBe(200);
    }
  });
});
