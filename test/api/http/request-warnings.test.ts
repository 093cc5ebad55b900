import { beforeEach, describe, expect, it } from "vitest";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createRun, workingRun } from "../../support/execution.ts";

let plane: TestControlPlane;
let user: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
});

const warning = (path: string, words: string) => ({
  code: "unknown_member",
  path,
  message: expect.stringContaining(words),
});

describe("the warnings of a response", () => {
  // @contract requests.warnings: A response to a request with an unknown member has warnings that name the nearest known member.
  it("name the unknown members of the request, and the most similar ones", async () => {
    const { status, body } = await user.post("/agent/runs", {
      prompt: "hello",
      promt: "hello",
      config: { modelId: "m", unheard_of: 1 },
    });
    expect([status, body.warnings]).toEqual([
      200,
      [
        warning("promt", "did you mean prompt?"),
        warning("config.modelId", "did you mean model_id?"),
        warning("config.unheard_of", "leave it out"),
      ],
    ]);
    expect((await user.get(`/agent/runs/${body.run_id}`)).body).not.toHaveProperty("warnings");
  });

  it("are in every response that is an object, at most 20", async () => {
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`unknown_${index}`, 1]));
    const made = await user.post("/agent/identities", { name: "bot", ...many });
    expect([made.status, made.body.warnings.length]).toEqual([201, 20]);
    const changed = await user.put(`/agent/identities/${made.body.uid}`, { descripton: "x" });
    expect(changed.body.warnings).toEqual([warning("descripton", "did you mean description?")]);
  });

  it("are absent without unknown members, in responses that are no objects, and in those to executions", async () => {
    expect((await user.post("/agent/runs", { prompt: "hello" })).body).not.toHaveProperty("warnings");
    const run = await createRun(plane);
    expect((await user.post(`/agent/runs/${run}/cancel`, { unknown: 1 })).body).toBe(run);
    const harness = await workingRun(plane);
    const beat = { execution_id: harness.execution_id, followups_stored: 0, unknown: 1 };
    expect((await harness.support("heartbeat", beat)).body).not.toHaveProperty("warnings");
  });
});
