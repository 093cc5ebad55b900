import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createRun, deliver, workingRun } from "../../support/execution.ts";

const shared = { config: { session_sharing: { public_access: "VIEWER" } } };

/** A client without a key. */
const createAnonymousClient = (plane: TestControlPlane) => ({
  get: (target: string) => createClient(plane).get(target, { key: undefined }),
});

describe("GET /agent/sessions/{sessionId}/redirect", () => {
  // @contract general.auth.public
  // @contract runs.item.session-id: session_id names the shareable session, which leads to a shared conversation.
  // @contract runs.redirect.session: A shared session redirects everybody to its conversation's id and nothing else.
  it("redirects all callers to the conversation of a shared session, and reveals nothing else", async () => {
    const plane = await createTestControlPlane();
    const id = await createRun(plane, { prompt: "a", ...shared });
    const response = await createAnonymousClient(plane).get(`/agent/sessions/${id}/redirect`);
    expect(response).toMatchObject({ status: 200, headers: { "cache-control": "no-store" } });
    expect(response.body).toEqual({ conversation_id: id });
  });

  // @contract runs.redirect.private: An unshared session is 404, like a missing one.
  it("returns the same 404 for an unshared and an unknown session, also to its creator", async () => {
    const plane = await createTestControlPlane();
    const id = await createRun(plane);
    const details = [];
    for (const session of [id, randomUUID(), "none"]) {
      const response = await createAnonymousClient(plane).get(`/agent/sessions/${session}/redirect`);
      expect(response).toMatchObject({ status: 404, body: { error_code: "resource_not_found" } });
      details.push(response.body.detail);
    }
    expect(new Set(details).size).toBe(1);
    expect((await createClient(plane).get(`/agent/sessions/${id}/redirect`)).status).toBe(404);
  });
});

describe("GET /agent/conversations/{conversationId}/redirect", () => {
  // @contract runs.redirect.conversation: A conversation redirects everybody to its latest shared session's id and nothing else.
  it("redirects all callers to the latest shared session", async () => {
    const plane = await createTestControlPlane();
    const first = await workingRun(plane, { prompt: "a", ...shared });
    await first.finish();
    await deliver(plane);
    const path = `/agent/conversations/${first.run_id}/redirect`;
    expect((await createAnonymousClient(plane).get(path)).body).toEqual({ session_id: first.run_id });
    const hidden = await workingRun(plane, { prompt: "b", conversation_id: first.run_id });
    await hidden.finish();
    await deliver(plane);
    expect((await createAnonymousClient(plane).get(path)).body, "the later one is not shared").toEqual({
      session_id: first.run_id,
    });
    plane.clock.now += 1000;
    const last = await createRun(plane, { prompt: "c", conversation_id: first.run_id, ...shared });
    expect((await createAnonymousClient(plane).get(path)).body).toEqual({ session_id: last });
    const session = await createAnonymousClient(plane).get(`/agent/sessions/${last}/redirect`);
    expect(session.body).toEqual({ conversation_id: first.run_id });
    expect(
      (await createAnonymousClient(plane).get(`/agent/conversations/${last}/redirect`)).status,
      "a run's id is not a conversation's id",
    ).toBe(404);
  });

  // @contract runs.redirect.private
  it("returns the same 404 for an unshared and an unknown conversation", async () => {
    const plane = await createTestControlPlane();
    const id = await createRun(plane);
    const details = [];
    for (const conversation of [id, randomUUID(), "none"]) {
      const response = await createAnonymousClient(plane).get(`/agent/conversations/${conversation}/redirect`);
      expect(response).toMatchObject({ status: 404, body: { error_code: "resource_not_found" } });
      details.push(response.body.detail);
    }
    expect(new Set(details).size).toBe(1);
  });
});

describe("GET /agent/runs/{runId}/handoff/attachments", () => {
  // @contract runs.handoff.response: Handoff attachments are a list, empty if the latest execution left no snapshot.
  it("returns an empty list, because executions leave no snapshots", async () => {
    const plane = await createTestControlPlane();
    const id = await createRun(plane);
    const response = await createClient(plane).get(`/agent/runs/${id}/handoff/attachments`);
    expect(response).toMatchObject({ status: 200, body: { attachments: [] } });
  });

  it("returns 404 for an unknown run and another team's", async () => {
    const plane = await createTestControlPlane();
    const id = await createRun(plane);
    const path = (run: string) => `/agent/runs/${run}/handoff/attachments`;
    expect((await createClient(plane).get(path(randomUUID()))).status).toBe(404);
    expect((await createClient(plane, plane.otherKey).get(path(id))).status).toBe(404);
  });
});
