import { beforeEach, describe, expect, it } from "vitest";
import { type Client, createClient, request } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";

const SECRET = "a-secret-of-the-ci";
const TRIGGER = {
  name: "failed builds",
  kind: "webhook",
  verification: { scheme: "bearer" },
  secret: SECRET,
  prompt: "Look into build {{ event.payload.build }} of {{ event.payload.branch }}.",
};
const DAY_MS = 24 * 3_600_000;

let plane: TestControlPlane;
let user: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
});

const create = async (body: object = {}) => (await user.post("/agent/triggers", { ...TRIGGER, ...body })).body;
const send = async (uid: string, secret: string, build: number) => {
  const headers = { authorization: `Bearer ${secret}` };
  return (await request(plane, "POST", `/hooks/${uid}`, { key: undefined, body: { build }, headers })).status;
};
const runs = async () => (await user.get("/agent/runs")).body.runs;
const storedSecrets = () => [...plane.webhooks.secrets.values.values()];

describe("POST /agent/triggers/{triggerUid}/pause and /resume", () => {
  it("start no run while the trigger is paused, and one afterwards", async () => {
    const { uid } = await create();
    const paused = await user.post(`/agent/triggers/${uid}/pause`);
    expect(paused).toMatchObject({ status: 200, body: { uid, enabled: false } });
    expect(await send(uid, SECRET, 1)).toBe(200);
    expect(await runs()).toEqual([]);
    const resumed = await user.post(`/agent/triggers/${uid}/resume`);
    expect(resumed).toMatchObject({ status: 200, body: { uid, enabled: true } });
    expect(await send(uid, SECRET, 1)).toBe(200);
    expect(await runs()).toHaveLength(1);
  });

  it("change nothing where the trigger is in this state already", async () => {
    const { uid, updated_at } = await create();
    plane.clock.now += 1000;
    expect((await user.post(`/agent/triggers/${uid}/resume`)).body).toMatchObject({ enabled: true, updated_at });
  });

  it("reverse each other without an Idempotency-Key, also when an automatic retry comes between", async () => {
    const { uid } = await create();
    const retry = { headers: { "x-stainless-retry-count": "1" } };
    await user.post(`/agent/triggers/${uid}/pause`, {}, retry);
    await user.post(`/agent/triggers/${uid}/resume`);
    expect((await user.post(`/agent/triggers/${uid}/pause`, {}, retry)).body.enabled).toBe(false);
  });
});

describe("POST /agent/triggers/{triggerUid}/rotate-secret", () => {
  const rotate = (uid: string, body: object = {}, headers = {}) =>
    user.post(`/agent/triggers/${uid}/rotate-secret`, body, { headers });

  it("returns a new secret once, and accepts requests by both for 24 hours", async () => {
    const { uid, secret: _, ...shown } = await create();
    plane.clock.now += 1000;
    const { status, body } = await rotate(uid);
    const { secret, previous_secret_expires_at: until, ...item } = body;
    expect(status).toBe(200);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(until).toBe("2026-05-19T19:00:01.000Z");
    expect(item).toEqual({ ...shown, uid, updated_at: "2026-05-18T19:00:01.000Z" });
    expect((await user.get(`/agent/triggers/${uid}`)).body).toEqual({
      ...item,
      recent_runs: [],
      counts_24h: expect.any(Object),
    });
    expect(JSON.stringify(plane.table.all())).not.toContain(secret.slice(6));
    plane.clock.now += DAY_MS - 1;
    expect([await send(uid, SECRET, 1), await send(uid, secret, 2)]).toEqual([200, 200]);
    plane.clock.now += 1;
    expect([await send(uid, SECRET, 3), await send(uid, secret, 4)]).toEqual([401, 200]);
  });

  it("takes a secret of the sender, and ends the older of two at once", async () => {
    const { uid } = await create();
    const [second, third] = ["the-second-secret", "the-third-secret"];
    expect((await rotate(uid, { secret: second })).body.secret).toBe(second);
    expect((await rotate(uid, { secret: third })).body.secret).toBe(third);
    expect(storedSecrets()).toEqual([second, third]);
    expect([await send(uid, SECRET, 1), await send(uid, second, 2), await send(uid, third, 3)]).toEqual([
      401, 200, 200,
    ]);
    await user.delete(`/agent/triggers/${uid}`);
    expect(storedSecrets()).toEqual([]);
  });

  it("returns 400 for a secret that Standard Webhooks cannot decode, and stores nothing", async () => {
    const { uid } = await create({ verification: { scheme: "standard" }, secret: undefined });
    const { status, body } = await rotate(uid, { secret: "not in base64 at all!" });
    expect(status).toBe(400);
    expect(body.errors).toEqual([{ path: "secret", message: expect.stringContaining("base64") }]);
    expect(storedSecrets()).toHaveLength(1);
  });

  it("shows a secret to a repeated Idempotency-Key until another one replaces it", async () => {
    const key = { "idempotency-key": "key-1" };
    const created = await user.post("/agent/triggers", TRIGGER, { headers: key });
    const { uid } = created.body;
    const first = await rotate(uid, {}, key);
    expect(await rotate(uid, {}, key)).toMatchObject({ status: 200, body: first.body });
    expect(storedSecrets()).toHaveLength(2);
    const repeated = await user.post("/agent/triggers", TRIGGER, { headers: key });
    expect(repeated).toMatchObject({ status: 409, body: { retryable: false } });
    await rotate(uid);
    expect(await rotate(uid, {}, key)).toMatchObject({ status: 409, body: { retryable: false } });
  });
});

describe("POST /agent/triggers/{triggerUid}/test", () => {
  const preview = (uid: string, body: object) => user.post(`/agent/triggers/${uid}/test`, body);

  it("tells which run an event would start, and creates nothing", async () => {
    const { uid } = await create({ metadata: { app: "shop" } });
    const before = structuredClone(plane.table.all());
    const payload = { action: "failed", build: "shop-42" };
    const { status, body } = await preview(uid, { headers: { "X-GitHub-Event": "build" }, payload });
    expect(status).toBe(200);
    expect(body).toEqual({
      outcome: "started",
      event: {
        type: "build",
        action: "failed",
        text: "",
        author: { id: "", name: "", kind: "application" },
        repository: "",
        thread: "",
        payload,
      },
      prompt: "Look into build shop-42 of .",
      missing_values: ["event.payload.branch"],
      run_request: { title: "failed builds", mode: "normal", metadata: { app: "shop" }, config: expect.any(Object) },
    });
    expect(plane.table.all()).toEqual(before);
    expect(plane.sent).toEqual([]);
  });

  it("tells why an event would start none", async () => {
    const { body: environment } = await user.post("/agent/environments", { name: "Shop" });
    const { uid } = await create({ events: ["build.failed"], agent_config: { environment_id: environment.uid } });
    const other = await preview(uid, { payload: { type: "deploy" } });
    expect(other.body).toMatchObject({ outcome: "ignored", reason: "event" });
    await user.delete(`/agent/environments/${environment.uid}`);
    const failed = await preview(uid, { payload: { type: "build.failed" } });
    expect(failed.body).toMatchObject({ outcome: "failed", detail: expect.stringContaining("environment_id") });
    await user.post(`/agent/triggers/${uid}/pause`);
    const paused = await preview(uid, { payload: { type: "build.failed" } });
    expect(paused.body).toMatchObject({ outcome: "ignored", reason: "paused" });
    expect(paused.body).not.toHaveProperty("run_request");
  });

  it("renders another template, and returns 400 with the position of its error", async () => {
    const { uid } = await create();
    const payload = { title: "a\n```sh\nmake\n```" };
    const { body } = await preview(uid, { payload, prompt: "See {{ event.payload.title }}" });
    expect(body.prompt).toContain("````text\na\n```sh\nmake\n```\n````");
    const broken = await preview(uid, { payload, prompt: "See\n  {{ event.secret }}" });
    expect(broken.status).toBe(400);
    expect(broken.body.errors).toEqual([{ path: "prompt", message: expect.stringContaining("line 2, column 3") }]);
    expect((await user.get(`/agent/triggers/${uid}`)).body.prompt).toBe(TRIGGER.prompt);
  });
});
