import { describe, expect, it } from "vitest";
import { routes } from "#infra/routes.ts";
import { createClient, request } from "../support/client.ts";
import { createTestControlPlane } from "../support/control-plane.ts";
import { makeStage } from "../support/principals.ts";
import { toTarget } from "../support/valid-requests.ts";

const reserved = routes.filter(({ method, who }) => method === "POST" && who.length === 1 && who[0] === "run");

const invalidBodies = [
  ["an invalid member", "[1]", "application/json"],
  ["a body that is not JSON", "{", "application/json"],
  ["an unsupported content type", "{}", "text/plain"],
  ["a body above the size limit", "x".repeat(4 * 1024 * 1024 + 1), "application/json"],
] as const;

describe("a route reserved for a run's key", () => {
  it("is every POST of harness support, and the client events", () => {
    const paths = routes.filter(({ method, path }) => method === "POST" && path.startsWith("/harness-support/"));
    expect(reserved.map(({ path }) => path).toSorted()).toEqual(
      [...paths.map(({ path }) => path), "/agent/runs/{runId}/client-events"].toSorted(),
    );
  });

  // @contract general.order.reserved: A caller other than a run is 403 on a route reserved for runs, before the body is read.
  it.each(reserved.map(({ path }) => path))(
    "returns 403 to people and agents before it reads the body: POST %s",
    async (path) => {
      const stage = await makeStage();
      const target = toTarget(`POST ${path}`, stage);
      for (const principal of ["creator", "agent of the team", "another team's member"] as const) {
        for (const [what, body, type] of invalidBodies) {
          const options = { key: stage.key(principal), body, headers: { "content-type": type } };
          const { status, body: problem } = await request(stage.plane, "POST", target, options);
          expect(status, `${principal} with ${what}`).toBe(403);
          expect(problem).not.toHaveProperty("errors");
        }
      }
      const own = { key: stage.key("the run itself"), body: "{", headers: { "content-type": "application/json" } };
      expect((await request(stage.plane, "POST", target, own)).status, "the run itself").toBe(400);
      const none = { key: "none", body: "{", headers: { "content-type": "application/json" } };
      expect((await request(stage.plane, "POST", target, none)).status, "without a valid key").toBe(401);
    },
  );
});

describe("any other route", () => {
  it("returns 413, 415 and 400 before 403", async () => {
    const plane = await createTestControlPlane();
    const { key } = await plane.agent();
    const statuses: number[] = [];
    for (const [, body, type] of invalidBodies) {
      const options = { body, headers: { "content-type": type } };
      statuses.push((await createClient(plane, key).post("/agent/environments", undefined, options)).status);
    }
    expect(statuses).toEqual([400, 400, 415, 413]);
    expect((await createClient(plane, key).post("/agent/environments", { name: "Shop" })).status).toBe(403);
  });
});
