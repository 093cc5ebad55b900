import { createHash } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { MAX_DESCENDANTS, RUN_CAPS } from "#shared/records/run.ts";
import { createClient } from "../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { createRun, type Harness, localRun, workingRun } from "../support/execution.ts";

let plane: TestControlPlane;
let run: Harness;
beforeEach(async () => {
  plane = await createTestControlPlane();
  run = await workingRun(plane);
});

// @contract harness.run-key.local: A run's key creates no LOCAL runs.
describe("a LOCAL run created with a run's key", () => {
  const local = { prompt: "mine", execution_location: "LOCAL" };

  it.each([
    ["of itself", {}],
    ["that names itself as the parent", { self: true }],
    ["of its child", { child: true }],
  ])(
    "is refused with 403 for a child %s, and nothing is stored",
    async (_, { self, child }: Record<string, boolean>) => {
      const parent = child ? await createRun(plane, { prompt: "child" }, run.key) : run.run_id;
      const before = structuredClone(plane.table.all());
      const response = await run.client.post("/agent/runs", {
        ...local,
        ...(self || child ? { parent_run_id: parent } : {}),
      });
      expect(response).toMatchObject({ status: 403, body: { error_code: "not_authorized" } });
      expect(response.body.detail).toContain("execution_location");
      expect(response.body).not.toHaveProperty("run_key");
      expect(plane.table.all()).toEqual(before);
    },
  );

  it("is refused even if the run itself is LOCAL", async () => {
    const parent = await localRun(plane);
    await parent.resolve();
    expect((await parent.client.post("/agent/runs", local)).status).toBe(403);
    expect((await parent.client.post("/agent/runs", { prompt: "child" })).status).toBe(200);
  });

  it("is created for a person who names the run as the parent", async () => {
    const response = await createClient(plane).post("/agent/runs", { ...local, parent_run_id: run.run_id });
    expect(response).toMatchObject({ status: 200, body: { run_key: expect.stringMatching(/^ryr_/) } });
  });
});

describe("a run tree", () => {
  const post = (parent_run_id: string, key = run.key) =>
    createClient(plane, key).post("/agent/runs", { prompt: "child", parent_run_id });

  // @contract harness.run-key.descendants: A run tree has at most 500 descendants in all.
  it(`has at most ${MAX_DESCENDANTS} runs below its root, at any depth and with any key`, async () => {
    const branches: string[] = [];
    for (let made = 0; made < 5; made++) branches.push(await createRun(plane, { prompt: "branch" }, run.key));
    let made = branches.length;
    const levels = branches.slice();
    while (made < MAX_DESCENDANTS) {
      const parent = levels[made % levels.length] ?? "";
      const response = await post(parent);
      expect(response.status, `run ${made + 1}`).toBe(200);
      // Deeper descendants count at the same root.
      if (made % 50 === 0 && levels.length < 9) levels.push(response.body.run_id);
      made++;
    }
    const before = structuredClone(plane.table.all());
    for (const parent of [run.run_id, ...levels]) {
      for (const key of [run.key, plane.key]) {
        const response = await post(parent, key);
        expect(response).toMatchObject({
          status: 429,
          headers: { "x-should-retry": "false" },
          body: { error_code: "resource_unavailable" },
        });
      }
    }
    expect(plane.table.all()).toEqual(before);
    const another = await workingRun(plane);
    expect((await post(another.run_id, another.key)).status, "another tree has its own count").toBe(200);
    expect((await run.finish()).status, "the root continues").toBe(200);
  });

  it("counts each of several children that are created concurrently", async () => {
    const responses = await Promise.all(Array.from({ length: 20 }, () => post(run.run_id)));
    const made = responses.filter(({ status }) => status === 200).length;
    const root = plane.table.all().find(({ pk, sk }) => pk === `RUN#${run.run_id}` && sk === "HEAD");
    expect(root).toMatchObject({ children: made, descendants: made });
  });
});

describe("uploads prepared with a run's key", () => {
  const prepare = (size_bytes: number, name = "a.bin", key = run.key, headers: Record<string, string> = {}) =>
    createClient(plane, key).post(
      "/agent/attachments",
      {
        file_name: name,
        mime_type: "application/octet-stream",
        size_bytes,
        sha256: createHash("sha256").update(name).digest("hex"),
      },
      { headers },
    );
  const refused = {
    status: 429,
    headers: { "x-should-retry": "false" },
    body: { error_code: "resource_unavailable" },
  };

  it(`are at most ${RUN_CAPS.uploads}`, async () => {
    for (let made = 0; made < RUN_CAPS.uploads; made++) expect((await prepare(1, `${made}`)).status).toBe(200);
    const before = structuredClone(plane.table.all());
    expect(await prepare(1, "one more")).toMatchObject(refused);
    expect(plane.table.all()).toEqual(before);
    const another = await workingRun(plane);
    expect((await prepare(1, "of another run", another.key)).status).toBe(200);
  });

  it("are at most 1 GiB in total", async () => {
    const piece = 100 * 1024 * 1024;
    for (let made = 0; made < 10; made++) expect((await prepare(piece, `${made}`)).status).toBe(200);
    expect(await prepare(piece, "too much")).toMatchObject(refused);
    const left = RUN_CAPS.uploadBytes - 10 * piece;
    expect(await prepare(left + 1, "one byte too much")).toMatchObject(refused);
    expect((await prepare(left, "the rest")).status).toBe(200);
    expect(await prepare(1, "nothing is left")).toMatchObject(refused);
  });

  it("count once if the request is repeated", async () => {
    const headers = { "idempotency-key": "k" };
    for (let time = 0; time < 5; time++) expect((await prepare(1, "same", run.key, headers)).status).toBe(200);
    const head = plane.table.all().find(({ pk, sk }) => pk === `RUN#${run.run_id}` && sk === "HEAD");
    expect(head).toMatchObject({ uploads: 1, upload_bytes: 1 });
  });

  it("do not limit a person or an agent", async () => {
    for (let made = 0; made < RUN_CAPS.uploads; made++) await prepare(1, `${made}`);
    const agent = await plane.agent();
    for (const key of [plane.key, agent.key]) expect((await prepare(1, "mine", key)).status).toBe(200);
  });
});
