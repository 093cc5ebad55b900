import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { routes } from "#infra/routes.ts";
import { sha256 } from "#shared/ids.ts";
import { signedUrlSeconds } from "#shared/settings.ts";
import { createClient, request } from "../../support/client.ts";
import { createTestControlPlane } from "../../support/control-plane.ts";
import { createRun } from "../../support/execution.ts";
import { makeStage } from "../../support/principals.ts";
import { bodies, prepare, toTarget } from "../../support/valid-requests.ts";

describe("the document of the API", () => {
  // @contract general.format.names: Members of bodies and query parameters have names in snake_case.
  it("writes every member and parameter in snake_case", () => {
    const document: unknown = JSON.parse(readFileSync(join(import.meta.dirname, "../../../docs/openapi.json"), "utf8"));
    const names = new Set<string>();
    collectNames(document, names);
    expect(names.size).toBeGreaterThan(200);
    const others = [...names].filter((name) => !/^[a-z0-9]+(_[a-z0-9]+)*(\[key\])?$/.test(name));
    expect(others).toEqual([]);
  });
});

describe("the order of checks", () => {
  // @contract general.order.path: An unknown path is 404 before any other check.
  // @contract general.order.method: An unsupported method is 405 before the credential is checked.
  it("returns 404 and 405 before it requires a key", async () => {
    const plane = await createTestControlPlane();
    for (const [method, target, status] of [
      ["GET", "/agent/nothing", 404],
      ["POST", "/agent/runs/", 404],
      ["PATCH", "/agent/runs", 405],
      ["HEAD", "/agent/models", 405],
    ] as const) {
      const response = await request(plane, method, target, { key: undefined });
      expect(response).toMatchObject({ status, headers: { "content-type": "application/problem+json" } });
    }
  });

  // @contract general.order.credential-first
  // @contract general.order.size: 413 comes before 415, and 415 before 400.
  it("returns 401 before 413, 413 before 415, 415 before 400", async () => {
    const plane = await createTestControlPlane();
    const tooLarge = "x".repeat(4 * 1024 * 1024 + 1);
    const send = async (body: string, type: string, key: string | undefined = plane.key) =>
      (await request(plane, "POST", "/agent/runs", { key, body, headers: { "content-type": type } })).status;
    expect(await send(tooLarge, "text/plain", "none")).toBe(401);
    expect(await send("{", "text/plain", "none")).toBe(401);
    expect(await send(tooLarge, "text/plain")).toBe(413);
    expect(await send(tooLarge, "application/json")).toBe(413);
    expect(await send("{", "text/plain")).toBe(415);
    expect(await send("{", "application/json")).toBe(400);
  });

  // @contract general.order.state: 403 and 404 come before 409 and 422.
  it("returns 403 and 404 before 409 and 422", async () => {
    const plane = await createTestControlPlane();
    const bo = createClient(plane, plane.otherKey);
    const mia = createClient(plane, (await plane.person("Mia")).key);
    const local = await createRun(plane, { prompt: "hello", execution_location: "LOCAL" });
    expect((await createClient(plane).post(`/agent/runs/${local}/cancel`)).status).toBe(422);
    expect((await bo.post(`/agent/runs/${local}/cancel`)).status).toBe(404);
    const lastAdmin = `/agent/teams/${plane.team}/members/${plane.user}`;
    expect((await createClient(plane).delete(lastAdmin)).status).toBe(409);
    expect((await mia.delete(lastAdmin)).status).toBe(403);
    await createClient(plane).post("/agent/environments", { name: "Taken" });
    const { body } = await createClient(plane).post("/agent/environments", { name: "Shop" });
    expect((await bo.put(`/agent/environments/${body.uid}`, { name: "Taken" })).status).toBe(404);
  });
});

describe("a request without a body", () => {
  // @contract general.clients.empty-json: Cancel and DELETE take a JSON content type with an empty body, and no content type at all.
  it("is accepted by cancel and delete with a content type", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    for (const headers of [{ "content-type": "application/json" }, {}]) {
      const id = await createRun(plane);
      expect((await user.post(`/agent/runs/${id}/cancel`, undefined, { headers })).status).toBe(200);
      const { body } = await user.post("/agent/environments", { name: `Shop ${id}` });
      expect((await user.delete(`/agent/environments/${body.uid}`, { headers })).status).toBe(204);
    }
    const id = await createRun(plane);
    expect((await user.post(`/agent/runs/${id}/cancel`, {})).status, "an empty object is accepted too").toBe(200);
  });
});

describe("a personal run", () => {
  // @contract general.visibility.personal: A personal run is visible to its creator only, not to admins.
  it("is visible only to its creator, not to an admin", async () => {
    const plane = await createTestControlPlane();
    const mia = await plane.person("Mia");
    const id = await createRun(plane, { prompt: "mine", team: false }, mia.key);
    expect((await createClient(plane, mia.key).get(`/agent/runs/${id}`)).status).toBe(200);
    expect((await createClient(plane).get("/agent/me")).body.teams).toMatchObject([{ role: "admin" }]);
    const agent = await plane.agent();
    for (const key of [plane.key, agent.key, plane.otherKey]) {
      const client = createClient(plane, key);
      for (const response of [
        await client.get(`/agent/runs/${id}`),
        await client.get(`/agent/runs/${id}/timeline`),
        await client.get(`/agent/conversations/${id}`),
        await client.post(`/agent/runs/${id}/followups`, { message: "m" }),
        await client.post(`/agent/runs/${id}/cancel`),
      ]) {
        expect(response.status).toBe(404);
      }
      expect((await client.get("/agent/runs")).body).toMatchObject({ runs: [] });
    }
  });
});

/** Routes that create or start something, except those of harnesses, which have their own numbers and UUIDs. */
const posts = routes
  .filter(({ method, who }) => method === "POST" && who.includes("personal"))
  // Each sign-in link is a new one-time token that is not stored, so a repeated request creates another.
  .filter(({ path }) => path !== "/session/link")
  // Each claim has a state of its own, which is not stored as such, so a repeated request starts another.
  .filter(({ path }) => path !== "/agent/github/claims")
  // URLs to download files are made for each request, and stored nowhere.
  .filter(({ path }) => path !== "/agent/runs/{runId}/attachments/download")
  // The MCP server says in the result of a tool that a call is repeated (mcp-server.test.ts).
  .filter(({ path }) => path !== "/mcp")
  // A test of a trigger creates nothing.
  .filter(({ path }) => path !== "/agent/triggers/{triggerUid}/test");

/** The names under which requests are stored. A changed name would repeat requests from before an update. */
const OPERATIONS: Readonly<Record<string, string>> = {
  "POST /agent/attachments": "create-attachment",
  "POST /agent/environments": "create-environment",
  "POST /agent/environments/{environmentUid}/share": "share-environment:{environmentUid}",
  "POST /agent/environments/{environmentUid}/try": "create-run",
  "POST /agent/github/installations": "claim-installation:{teamUid}",
  "POST /agent/identities": "create-identity",
  "POST /agent/identities/{identityUid}/keys": "create-key:{identityUid}",
  "POST /agent/identities/{identityUid}/trust-rules": "create-trust-rule:{identityUid}",
  "POST /agent/keys": "create-key",
  "POST /agent/run": "create-run",
  "POST /agent/runs": "create-run",
  "POST /agent/runs/archive": "archive-runs",
  "POST /agent/runs/cancel": "cancel-runs",
  "POST /agent/runs/delete": "delete-runs",
  "POST /agent/runs/unarchive": "unarchive-runs",
  "POST /agent/runs/{runId}/archive": "archive-run:{runId}",
  "POST /agent/runs/{runId}/cancel": "cancel:{runId}",
  "POST /agent/runs/{runId}/followups": "followup:{runId}",
  "POST /agent/runs/{runId}/followups/{followupId}/promote": "promote-followup:{runId}",
  "POST /agent/conversations/{conversationId}/followups": "conversation-followup:{conversationId}",
  "POST /agent/runs/{runId}/interrupt": "interrupt:{runId}",
  "POST /agent/runs/{runId}/share": "share-run:{runId}",
  "POST /agent/runs/{runId}/unarchive": "unarchive-run:{runId}",
  "POST /agent/conversations/{conversationId}/interrupt": "conversation-interrupt:{conversationId}",
  "POST /agent/runs/{runId}/attachments/prepare": "prepare-attachments:{runId}",
  "POST /agent/conversations/{conversationId}/attachments/prepare": "prepare-conversation-attachments:{conversationId}",
  "POST /agent/schedules": "create-schedule",
  "POST /agent/schedules/{scheduleId}/pause": "pause-schedule:{scheduleId}",
  "POST /agent/schedules/{scheduleId}/resume": "resume-schedule:{scheduleId}",
  "POST /agent/schedules/{scheduleId}/run": "run-schedule:{scheduleId}",
  "POST /agent/secrets": "create-secret:{teamUid}",
  "POST /agent/triggers": "create-trigger:{teamUid}",
  "POST /agent/triggers/{triggerUid}/deliveries/{deliveryId}/redeliver": "redeliver-event:{triggerUid}",
  "POST /agent/triggers/{triggerUid}/pause": "pause-trigger:{triggerUid}",
  "POST /agent/triggers/{triggerUid}/resume": "resume-trigger:{triggerUid}",
  "POST /agent/triggers/{triggerUid}/rotate-secret": "rotate-trigger-secret:{triggerUid}",
  "POST /agent/webhooks": "create-webhook:{teamUid}",
  "POST /agent/webhooks/{webhookUid}/rotate-secret": "rotate-secret:{webhookUid}",
  "POST /agent/webhooks/{webhookUid}/redeliver": "redeliver:{webhookUid}",
  "POST /agent/teams": "create-team",
  "POST /agent/teams/{teamUid}/invitations": "create-invitation:{teamUid}",
};

describe.each(posts.map(({ path }) => `POST ${path}`))("%s", (route) => {
  // @contract runs.idempotency.every-post: Every POST that creates something accepts a key.
  it("creates one resource for a request that is sent twice with one Idempotency-Key", async () => {
    const stage = await makeStage();
    await prepare(route, stage);
    const { plane } = stage;
    const body = bodies[route]?.(stage);
    const key = { "idempotency-key": "once" };
    const once = () =>
      request(plane, "POST", toTarget(route, stage), { headers: key, ...(body === undefined ? {} : { body }) });
    const first = await once();
    expect(first.status).toBeLessThan(300);
    expect(first.headers).not.toHaveProperty("idempotent-replay");
    const before = structuredClone(plane.table.all());
    const again = await once();
    // A response that shows a secret once is not repeated; the error says so.
    const shownOnce = again.status === 409 && again.body.retryable === false;
    if (!shownOnce) {
      expect(again).toMatchObject({
        status: first.status,
        headers: { "idempotent-replay": "true" },
        body: first.body,
      });
    }
    expect(plane.table.all()).toEqual(before);
    const token = stage.made.get("token");
    const operation =
      token === undefined ? toTarget(`POST ${OPERATIONS[route]}`, stage) : `accept-invitation:${sha256(token)}`;
    expect(before.filter(({ sk }) => sk === "IDEM").map(({ pk }) => pk)).toContain(
      `IDEM#user:${plane.user}##${operation}#key:${sha256("once")}`,
    );
  });
});

describe("signed URLs", () => {
  afterEach(() => vi.unstubAllEnvs());

  // @contract general.defaults.urls: Signed URLs are valid for 15 minutes by default, and for at least 5 seconds.
  it("are valid for 15 minutes, or for the configured time of at least 5 seconds", () => {
    expect(signedUrlSeconds()).toBe(900);
    vi.stubEnv("SIGNED_URL_SECONDS", "5");
    expect(signedUrlSeconds()).toBe(5);
    vi.stubEnv("SIGNED_URL_SECONDS", "4");
    expect(() => signedUrlSeconds()).toThrow();
  });
});

function collectNames(value: unknown, names: Set<string>): void {
  if (Array.isArray(value)) {
    for (const entry of value) collectNames(entry, names);
    return;
  }
  if (typeof value !== "object" || value === null) return;
  for (const [key, entry] of Object.entries(value)) {
    if (key === "properties" && typeof entry === "object" && entry !== null) {
      for (const name of Object.keys(entry)) names.add(name);
    }
    collectNames(entry, names);
  }
  if ("in" in value && value.in === "query" && "name" in value && typeof value.name === "string") names.add(value.name);
}
