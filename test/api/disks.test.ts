import { afterEach, describe, expect, it, vi } from "vitest";
import { createClient } from "../support/client.ts";
import { createTestControlPlane } from "../support/control-plane.ts";

afterEach(() => vi.unstubAllEnvs());

describe("a repository on a local disk", () => {
  const repositories = [{ url: "https://example.com/a/b" }, { url: "file:///srv/git/repository" }];

  it("is rejected on AWS, for a run and for an environment, with a 400 that names it", async () => {
    vi.stubEnv("STAGE", "aws");
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
    expect(plane.table.all()).toEqual(before);
  });

  it("is accepted on a single machine", async () => {
    vi.stubEnv("STAGE", "local");
    const user = createClient(await createTestControlPlane());
    expect((await user.post("/agent/runs", { prompt: "a", config: { repositories } })).status).toBe(200);
    expect((await user.post("/agent/environments", { name: "a", repositories })).status).toBe(201);
  });
});
