import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { clientOf } from "../support/client.ts";
import { createRun, deliver, workingRun } from "../support/execution.ts";
import { makeWorld, type World } from "../support/world.ts";

const shared = { config: { session_sharing: { public_access: "VIEWER" } } };

/** As somebody without a key. */
const anybody = (world: World) => ({
  get: (target: string) => clientOf(world).get(target, { key: undefined }),
});

describe("GET /agent/sessions/{sessionId}/redirect", () => {
  it("leads everybody to the conversation of a shared session, and says nothing else", async () => {
    const world = await makeWorld();
    const id = await createRun(world, { prompt: "a", ...shared });
    const answer = await anybody(world).get(`/agent/sessions/${id}/redirect`);
    expect(answer).toMatchObject({ status: 200, headers: { "cache-control": "no-store" } });
    expect(answer.body).toEqual({ conversation_id: id });
  });

  it("answers 404 for one that is not shared as for one that is not there, also to its creator", async () => {
    const world = await makeWorld();
    const id = await createRun(world);
    const details = [];
    for (const session of [id, randomUUID(), "none"]) {
      const answer = await anybody(world).get(`/agent/sessions/${session}/redirect`);
      expect(answer).toMatchObject({ status: 404, body: { error_code: "resource_not_found" } });
      details.push(answer.body.detail);
    }
    expect(new Set(details).size).toBe(1);
    expect((await clientOf(world).get(`/agent/sessions/${id}/redirect`)).status).toBe(404);
  });
});

describe("GET /agent/conversations/{conversationId}/redirect", () => {
  it("leads everybody to the latest session that is shared", async () => {
    const world = await makeWorld();
    const first = await workingRun(world, { prompt: "a", ...shared });
    await first.finish();
    await deliver(world);
    const path = `/agent/conversations/${first.run_id}/redirect`;
    expect((await anybody(world).get(path)).body).toEqual({ session_id: first.run_id });
    const hidden = await workingRun(world, { prompt: "b", conversation_id: first.run_id });
    await hidden.finish();
    await deliver(world);
    expect((await anybody(world).get(path)).body, "the later one is not shared").toEqual({ session_id: first.run_id });
    world.clock.now += 1000;
    const last = await createRun(world, { prompt: "c", conversation_id: first.run_id, ...shared });
    expect((await anybody(world).get(path)).body).toEqual({ session_id: last });
    const session = await anybody(world).get(`/agent/sessions/${last}/redirect`);
    expect(session.body).toEqual({ conversation_id: first.run_id });
    expect((await anybody(world).get(`/agent/conversations/${last}/redirect`)).status, "a run's id is none").toBe(404);
  });

  it("answers 404 for one that is not shared as for one that is not there", async () => {
    const world = await makeWorld();
    const id = await createRun(world);
    const details = [];
    for (const conversation of [id, randomUUID(), "none"]) {
      const answer = await anybody(world).get(`/agent/conversations/${conversation}/redirect`);
      expect(answer).toMatchObject({ status: 404, body: { error_code: "resource_not_found" } });
      details.push(answer.body.detail);
    }
    expect(new Set(details).size).toBe(1);
  });
});

describe("GET /agent/runs/{runId}/handoff/attachments", () => {
  it("answers an empty list, since executions leave no snapshots", async () => {
    const world = await makeWorld();
    const id = await createRun(world);
    const answer = await clientOf(world).get(`/agent/runs/${id}/handoff/attachments`);
    expect(answer).toMatchObject({ status: 200, body: { attachments: [] } });
  });

  it("answers 404 for a run that is not there or another team's", async () => {
    const world = await makeWorld();
    const id = await createRun(world);
    const path = (run: string) => `/agent/runs/${run}/handoff/attachments`;
    expect((await clientOf(world).get(path(randomUUID()))).status).toBe(404);
    expect((await clientOf(world, world.otherKey).get(path(id))).status).toBe(404);
  });
});
