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

const share = (runId: string, public_access: unknown = "VIEWER", client = user, headers = {}) =>
  client.post(`/agent/runs/${runId}/share`, { public_access }, { headers });
/** The status of the public view, without a key. */
const view = async (runId: string): Promise<number> =>
  (await createClient(plane).get(`/public/runs/${runId}`, { key: undefined })).status;
const access = async (runId: string): Promise<unknown> =>
  (await user.get(`/agent/runs/${runId}`)).body.agent_config.session_sharing?.public_access;
const shared = { config: { session_sharing: { public_access: "VIEWER" } } };
const setSharingAllowed = (sharing_allowed: unknown) =>
  user.put(`/agent/teams/${plane.team}`, { settings: { sharing_allowed } });

describe("POST /agent/runs/{runId}/share", () => {
  // @contract share.link: POST …/share shares an existing run, and revokes that with null.
  it("makes an existing run public, returns its link, and takes that back", async () => {
    const runId = await createRun(plane);
    expect([await view(runId), await access(runId)]).toEqual([404, undefined]);
    const { status, body } = await share(runId);
    expect({ status, body }).toEqual({
      status: 200,
      body: { session_link: `${plane.ports.webUrl}/shared/${runId}` },
    });
    expect([await view(runId), await access(runId)]).toEqual([200, "VIEWER"]);
    const redirect = await createClient(plane).get(`/agent/sessions/${runId}/redirect`, { key: undefined });
    expect(redirect.body).toEqual({ conversation_id: runId });
    expect(await share(runId)).toMatchObject({ status: 200, body });
    expect(await share(runId, null)).toMatchObject({ status: 200, body: {} });
    expect((await share(runId, null)).body).toEqual({});
    expect([await view(runId), await access(runId)]).toEqual([404, undefined]);
  });

  it("takes back what the run's creation has shared, also from runs that are created below it later", async () => {
    const root = await workingRun(plane, { prompt: "a", ...shared });
    await share(root.run_id, null);
    expect([await view(root.run_id), await access(root.run_id)]).toEqual([404, undefined]);
    const child = await root.client.post("/agent/runs", { prompt: "b", ...shared });
    expect(child).toMatchObject({ status: 403, body: { error_code: "not_authorized" } });
  });

  // @contract share.only: Only that run is shared, not its descendants or pending follow-ups.
  it("shares that run only, and neither the runs below it nor its pending follow-ups", async () => {
    const root = await workingRun(plane, { prompt: "root" });
    const before = await createRun(plane, { prompt: "before", parent_run_id: root.run_id });
    await share(root.run_id);
    const after = (await root.client.post("/agent/runs", { prompt: "after" })).body.run_id;
    for (const child of [before, after]) expect([await view(child), await access(child)]).toEqual([404, undefined]);
    const ownChild = await root.client.post("/agent/runs", { prompt: "shared", ...shared });
    expect(ownChild.status).toBe(403);
    await user.post(`/agent/runs/${root.run_id}/followups`, { message: "a pending secret" });
    const { body } = await createClient(plane).get(`/public/runs/${root.run_id}`, { key: undefined });
    expect(JSON.stringify(body)).toContain("root");
    expect(JSON.stringify(body)).not.toContain("a pending secret");
  });

  it("returns 400 for another access, 404 for an unknown or another team's run, and 403 to a run's key", async () => {
    const root = await workingRun(plane, { prompt: "root" });
    const child = await createRun(plane, { prompt: "child", parent_run_id: root.run_id });
    for (const wrong of ["EDITOR", "", true, []]) expect((await share(root.run_id, wrong)).status).toBe(400);
    expect((await user.post(`/agent/runs/${root.run_id}/share`, {})).status).toBe(400);
    expect((await share("0199a3c4-0000-7000-8000-000000000001")).status).toBe(404);
    expect((await share(root.run_id, "VIEWER", createClient(plane, plane.otherKey))).status).toBe(404);
    for (const run of [root.run_id, child]) expect((await share(run, "VIEWER", root.client)).status).toBe(403);
    expect([await view(root.run_id), await view(child)]).toEqual([404, 404]);
  });

  it("answers repeats as the first request, and 409 to a key with another body", async () => {
    const runId = await createRun(plane);
    const repeated = { "x-stainless-retry-count": "1" };
    await share(runId);
    await share(runId, null);
    await share(runId, null, user, repeated);
    expect(await view(runId)).toBe(404);
    const keyed = { "idempotency-key": "share-it" };
    await share(runId, "VIEWER", user, keyed);
    expect((await share(runId, "VIEWER", user, keyed)).headers).toMatchObject({ "idempotent-replay": "true" });
    expect((await share(runId, null, user, keyed)).status).toBe(409);
  });

  it("shows nothing of a run that is deleted at the same time", async () => {
    const runId = await createRun(plane);
    await user.post(`/agent/runs/${runId}/cancel`);
    const { transact } = plane.ports.table;
    let isFirst = true;
    plane.ports.table.transact = async (writes) => {
      if (isFirst) {
        isFirst = false;
        expect((await user.delete(`/agent/runs/${runId}`)).status).toBe(204);
      }
      return transact(writes);
    };
    expect((await share(runId)).status).toBe(404);
    expect(plane.table.all().filter(({ pk, sk }) => pk.includes(runId) && sk === "BODY")).toEqual([]);
  });
});

describe("GET /public/runs/{sessionId}/artifacts/{artifactUid}", () => {
  // @contract sharing.artifacts: Artifacts of a public run are public through its session only.
  it("downloads artifacts of a public run through its own session only, as long as it is public", async () => {
    const [run, other] = [await workingRun(plane), await workingRun(plane)];
    for (const data of [
      { artifact_type: "PLAN", data: { title: "A plan", content: "Do it." } },
      { artifact_type: "EXTERNAL_REFERENCE", data: { reference_type: "ISSUE", url: "https://example.com/1" } },
    ]) {
      expect((await run.support("report-artifact", data)).status).toBe(200);
    }
    await share(run.run_id);
    await share(other.run_id);
    const anonymous = (path: string) => createClient(plane).get(path, { key: undefined });
    const { artifacts } = (await anonymous(`/public/runs/${run.run_id}`)).body;
    const plan = artifacts.find(({ artifact_type }: { artifact_type: string }) => artifact_type === "PLAN");
    const address = `/public/runs/${run.run_id}/artifacts/${plan.artifact_uid}`;
    const found = await anonymous(address);
    expect([found.status, found.headers["location"]]).toEqual([302, expect.stringContaining("/plans/")]);
    const wrong = [`/public/runs/${other.run_id}/artifacts/${plan.artifact_uid}`, `${address.slice(0, -1)}x`];
    for (const path of wrong) expect((await anonymous(path)).status, path).toBe(404);
    await share(run.run_id, null);
    expect((await anonymous(address)).status).toBe(404);
  });
});

describe("a team's setting sharing_allowed", () => {
  // @contract share.team: A team's setting can forbid sharing.
  it("is true by default, and hides and refuses public runs of the team while it is false", async () => {
    expect((await user.get(`/agent/teams/${plane.team}`)).body.settings.sharing_allowed).toBe(true);
    const runId = await createRun(plane, { prompt: "a", team: true, ...shared });
    const personal = await createRun(plane, { prompt: "b", team: false });
    expect((await setSharingAllowed(false)).body.settings.sharing_allowed).toBe(false);
    const forbidden = { status: 403, body: { error_code: "feature_not_available" } };
    expect(await share(runId)).toMatchObject(forbidden);
    expect(await user.post("/agent/runs", { prompt: "c", team: true, ...shared })).toMatchObject(forbidden);
    for (const path of [
      `/public/runs/${runId}`,
      `/agent/sessions/${runId}/redirect`,
      `/agent/conversations/${runId}/redirect`,
    ])
      expect((await createClient(plane).get(path, { key: undefined })).status, path).toBe(404);
    expect((await share(personal)).status).toBe(200);
    expect(await view(personal)).toBe(200);
    expect((await share(runId, null)).status).toBe(200);
    await setSharingAllowed(null);
    expect(await view(runId)).toBe(404);
    expect((await share(runId)).status).toBe(200);
    expect(await view(runId)).toBe(200);
  });

  it("returns 400 for another value", async () => {
    expect((await setSharingAllowed("no")).status).toBe(400);
  });
});
