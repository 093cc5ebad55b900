import { afterEach, describe, expect, it, vi } from "vitest";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane } from "../../support/control-plane.ts";
import { workingRun } from "../../support/execution.ts";

afterEach(() => vi.unstubAllEnvs());

describe("a repository on a local disk", () => {
  const repositories = [{ url: "https://example.com/a/b" }, { url: "file:///srv/git/repository" }];

  // @contract runs.config.repository-file-aws: On AWS a repository on a disk is refused.
  it.each([
    ["on AWS", "aws"],
    ["by a server for other machines", "shared"],
  ])("is rejected %s, for a run, an environment and a list of skills, with a 400 that names it", async (_, stage) => {
    vi.stubEnv("STAGE", stage);
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const before = structuredClone(plane.table.all());
    expect(await user.post("/agent/runs", { prompt: "a", config: { repositories } })).toMatchObject({
      status: 400,
      body: { errors: [{ path: "config.repositories[1].url" }] },
    });
    expect(await user.post("/agent/environments", { name: "a", repositories })).toMatchObject({
      status: 400,
      body: { errors: [{ path: "repositories[1].url" }] },
    });
    expect(await user.get("/agent?repo=file:///srv/git/repository")).toMatchObject({
      status: 400,
      body: { errors: [{ path: "repo" }] },
    });
    expect(plane.table.all()).toEqual(before);
  });

  it("is accepted on a single machine", async () => {
    vi.stubEnv("STAGE", "local");
    const user = createClient(await createTestControlPlane());
    expect((await user.post("/agent/runs", { prompt: "a", config: { repositories } })).status).toBe(200);
    expect((await user.post("/agent/environments", { name: "a", repositories })).status).toBe(201);
  });
});

describe("a repository on a local disk that was stored before", () => {
  const repositories = [{ url: "file:///srv/git/repository" }];

  it("is not cloned for a follow-up to an ended run by a server that other machines can use now", async () => {
    vi.stubEnv("STAGE", "local");
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const run = await workingRun(plane, { prompt: "a", config: { repositories } });
    vi.stubEnv("STAGE", "shared");
    expect((await user.post(`/agent/runs/${run.run_id}/followups`, { message: "b" })).status).toBe(200);
    await run.beat(1);
    await run.finish();
    expect(await user.post(`/agent/runs/${run.run_id}/followups`, { message: "c" })).toMatchObject({
      status: 400,
      body: { errors: [{ path: "config.repositories[0].url" }] },
    });
  });

  it("is neither cloned nor scanned by a server that other machines can use now", async () => {
    vi.stubEnv("STAGE", "local");
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const { body } = await user.post("/agent/environments", { name: "a", repositories });
    vi.stubEnv("STAGE", "shared");
    expect(await user.post("/agent/runs", { prompt: "a", config: { environment_id: body.uid } })).toMatchObject({
      status: 400,
    });
    expect((await user.get("/agent")).body).toMatchObject({
      agents: [],
      unavailable: [{ error: expect.stringContaining("is on a disk") }],
    });
  });
});
