import { createHmac } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { keys } from "#shared/table/keys.ts";
import { type Client, createClient, request } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { Faults } from "../../support/faults.ts";
import { createHooks } from "../../support/hooks.ts";

const SECRET = "a-secret-of-the-ci";
const TRIGGER = {
  name: "failed builds",
  kind: "webhook",
  verification: { scheme: "bearer" },
  secret: SECRET,
  prompt: "Look into build {{ event.payload.build }} of {{ event.payload.branch }}.",
};

let plane: TestControlPlane;
let user: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
});

const create = (body: object = {}, options = {}) => user.post("/agent/triggers", { ...TRIGGER, ...body }, options);
const send = (uid: string, body: unknown, headers: Record<string, string> = { authorization: `Bearer ${SECRET}` }) =>
  request(plane, "POST", `/hooks/${uid}`, { key: undefined, body, headers });
const deliveries = async (uid: string, query = "") =>
  (await user.get(`/agent/triggers/${uid}/deliveries${query}`)).body.deliveries;
const runs = async () => (await user.get("/agent/runs")).body.runs;

describe("POST /agent/triggers", () => {
  it("returns a secret that neither an item of the table nor a later response contains", async () => {
    const { status, body } = await create({ verification: undefined, secret: undefined, metadata: { app: "shop" } });
    const { secret, ...shown } = body;
    expect(status).toBe(201);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(shown).toEqual({
      uid: expect.any(String),
      name: "failed builds",
      kind: "webhook",
      enabled: true,
      ingress_url: expect.stringMatching(/\/api\/v1\/hooks\/[0-9a-f-]{36}$/),
      verification: { scheme: "standard" },
      prompt: TRIGGER.prompt,
      mode: "normal",
      metadata: { app: "shop" },
      scope: { type: "Team", uid: plane.team },
      created_by: expect.objectContaining({ uid: plane.user }),
      created_at: "2026-05-18T19:00:00.000Z",
      updated_at: "2026-05-18T19:00:00.000Z",
    });
    expect((await user.get(`/agent/triggers/${shown.uid}`)).body).toEqual({
      ...shown,
      recent_runs: [],
      counts_24h: expect.any(Object),
    });
    expect((await user.get("/agent/triggers")).body).toEqual({ triggers: [shown] });
    expect(JSON.stringify(plane.table.all())).not.toContain(secret.slice(6));
  });

  it("returns the same secret to a repeated Idempotency-Key, and stores one trigger", async () => {
    const headers = { "idempotency-key": "key-1" };
    const first = await create({}, { headers });
    expect(await create({}, { headers })).toMatchObject({ status: 201, body: first.body });
    expect((await user.get("/agent/triggers")).body.triggers).toHaveLength(1);
  });

  it.each([
    ["kind", { kind: "bitbucket" }],
    ["prompt", { prompt: "\n{{ event.constructor }}" }, "line 2, column 1"],
    ["prompt", { prompt: "```sh\necho {{ event.payload.title }}\n```" }, "line 2, column 6"],
    ["prompt", { prompt: "build {{ event.type" }, "line 1, column 7"],
    ["verification.header", { verification: { scheme: "hmac" } }],
    ["verification.header", { verification: { scheme: "bearer", header: "X-Signature" } }],
    ["secret", { verification: { scheme: "standard" }, secret: "not in base64 at all!" }],
    ["agent_uid", { agent_uid: "0199a3c4-0000-7000-8000-000000000001" }],
  ])("returns 400 and names %s of %j", async (path, body, place = "") => {
    const { status, body: problem } = await create(body);
    expect(status).toBe(400);
    expect(problem.errors).toEqual([{ path, message: expect.stringContaining(place) }]);
    expect((await user.get("/agent/triggers")).body).toEqual({ triggers: [] });
  });

  it("returns 409 above 50 triggers of a team", async () => {
    for (let count = 0; count < 50; count++) expect((await create({ name: `builds ${count}` })).status).toBe(201);
    expect((await create()).status).toBe(409);
  });
});

describe("PUT and DELETE /agent/triggers/{triggerUid}", () => {
  it("keep absent members, clear empty ones, and delete the trigger with its secret", async () => {
    const { body } = await create({ events: ["build.failed"], metadata: { app: "shop" } });
    const { secret: _, ...before } = body;
    const { events: _events, metadata: _metadata, ...rest } = before;
    const changed = await user.put(`/agent/triggers/${body.uid}`, { events: [], metadata: {}, enabled: false });
    expect(changed).toMatchObject({ status: 200, body: { ...rest, enabled: false, updated_at: expect.any(String) } });
    expect(changed.body).not.toHaveProperty("events");
    expect(changed.body).not.toHaveProperty("metadata");
    expect((await user.delete(`/agent/triggers/${body.uid}`)).status).toBe(204);
    expect((await user.get(`/agent/triggers/${body.uid}`)).status).toBe(404);
    expect(plane.webhooks.secrets.values.size).toBe(0);
    expect((await send(body.uid, { build: 1 })).status).toBe(401);
  });

  it("refuse another kind, preset, verification or owner, which stay, and accept the trigger as it was read or created", async () => {
    const verification = { scheme: "hmac", header: "X-Signature" };
    const { body } = await create({ verification });
    const path = `/agent/triggers/${body.uid}`;
    const { secret: _, ...read } = body;
    for (const sent of [read, { ...TRIGGER, verification, team: true }]) {
      const renamed = await user.put(path, { ...sent, name: "renamed" });
      expect(renamed).toMatchObject({ status: 200, body: { name: "renamed" } });
    }
    for (const [member, value, stays, purpose] of [
      ["kind", "github", "webhook", "system"],
      ["preset", "linear", "absent", "system"],
      ["verification", { scheme: "bearer" }, JSON.stringify(read.verification), "verification"],
      ["verification", { ...verification, encoding: "base64" }, JSON.stringify(read.verification), "verification"],
      ["team", false, "true", "owner"],
    ] as const) {
      const message = `leave it out: it stays ${stays}; create another trigger for another ${purpose}`;
      const refused = await user.put(path, { name: "other", [member]: value });
      expect(refused).toMatchObject({ status: 422, body: { errors: [{ path: member, message }] } });
    }
    expect((await user.get(path)).body).toMatchObject({ kind: "webhook", name: "renamed" });
  });

  it("accept a personal trigger as it was created, and refuse to give it to the team", async () => {
    const { body } = await create({ team: false });
    const path = `/agent/triggers/${body.uid}`;
    expect((await user.put(path, { ...TRIGGER, team: false })).status).toBe(200);
    expect(await user.put(path, { team: true })).toMatchObject({ status: 422, body: { errors: [{ path: "team" }] } });
  });

  it("answer a repeated deletion as the first one, and that of what another request has deleted with 404", async () => {
    const { body } = await create();
    const path = `/agent/triggers/${body.uid}`;
    const repeat = { headers: { "x-stainless-retry-count": "1" } };
    expect((await user.delete(path)).status).toBe(204);
    const repeated = await user.delete(path, repeat);
    expect(repeated).toMatchObject({ status: 204, headers: { "idempotent-replay": "true" } });
    expect((await user.delete(path)).status).toBe(404);
    expect((await createClient(plane, plane.otherKey).delete(path, repeat)).status).toBe(404);
  });

  it("go with the team", async () => {
    const { body: team } = await user.post("/agent/teams", { name: "Short" });
    const headers = { "x-team-uid": team.uid };
    const { body } = await create({}, { headers });
    expect(body.scope.uid).toBe(team.uid);
    expect((await user.delete(`/agent/teams/${team.uid}`)).status).toBe(204);
    expect(await plane.table.get(keys.trigger(body.uid))).toBeUndefined();
    expect((await send(body.uid, { build: 1 })).status).toBe(401);
  });
});

describe("POST /hooks/{triggerUid}", () => {
  it("starts a run with the prompt of the template, and records the delivery", async () => {
    const { body: trigger } = await create({ metadata: { app: "shop" } });
    const { status, body } = await send(trigger.uid, { type: "build", action: "failed", build: "shop-42" });
    expect(status).toBe(200);
    const [run] = await runs();
    expect(run).toMatchObject({
      title: "failed builds",
      prompt: "Look into build shop-42 of .",
      source: "CUSTOM_WEBHOOK",
      state: "QUEUED",
      metadata: { app: "shop" },
      creator: { uid: plane.user },
    });
    for (const name of ["trigger_id", "automation_id"]) {
      const found = await createClient(plane).get(`/agent/runs?${name}=${trigger.uid}`);
      expect(found.body.runs, name).toMatchObject([{ run_id: run.run_id }]);
    }
    expect(plane.sent).toEqual([{ queue: "runs", runId: run.run_id }]);
    expect(await deliveries(trigger.uid)).toEqual([
      {
        delivery_id: body.delivery_id,
        event_type: "build",
        action: "failed",
        received_at: "2026-05-18T19:00:00.000Z",
        attempts: 1,
        outcome: "started",
        run_id: run.run_id,
        missing_values: ["event.payload.branch"],
      },
    ]);
  });

  it("starts one run for an event that is delivered several times, also at once", async () => {
    const { body: trigger } = await create();
    const responses = await Promise.all([1, 2, 3].map(() => send(trigger.uid, { build: "shop-42" })));
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await runs()).toHaveLength(1);
    const all = await deliveries(trigger.uid);
    const first = all.find(({ outcome }: { outcome: string }) => outcome === "started").delivery_id;
    const others = all.filter(({ outcome }: { outcome: string }) => outcome !== "started");
    expect(others).toMatchObject([
      { outcome: "duplicate", of: first },
      { outcome: "duplicate", of: first },
    ]);
  });

  it.each(["before", "after", "unheard"] as const)(
    "starts one run where it dies %s any call, once the sender repeats the delivery",
    async (fault) => {
      for (let at = 0; ; at++) {
        const faults = new Faults();
        plane = await createTestControlPlane(undefined, faults.around);
        user = createClient(plane);
        const { body: trigger } = await create();
        faults.plan = { at, fault };
        const response = await faults.invoke("receive-event", () => send(trigger.uid, { build: "shop-42" }));
        if (response?.status !== 200) expect((await send(trigger.uid, { build: "shop-42" })).status).toBe(200);
        await createHooks(plane).passMinutes(2);
        expect(await runs(), `${fault} call ${at}`).toHaveLength(1);
        const outcomes = (await deliveries(trigger.uid)).map(({ outcome }: { outcome: string }) => outcome);
        expect(outcomes.filter((outcome: string) => outcome === "started")).toHaveLength(1);
        if (faults.calls.length <= at) return;
      }
    },
  );

  it("ignores events of other types, and starts the run of one that came while the trigger was disabled", async () => {
    const { body: trigger } = await create({ events: ["build.failed", "deploy"], enabled: false });
    const failed = { type: "build", action: "failed", build: 1 };
    await send(trigger.uid, failed);
    await user.put(`/agent/triggers/${trigger.uid}`, { enabled: true });
    for (const event of [failed, { type: "build", action: "passed" }, { type: "deploy" }]) {
      plane.clock.now += 1000;
      expect((await send(trigger.uid, event)).status).toBe(200);
    }
    expect(await runs()).toHaveLength(2);
    expect(
      (await deliveries(trigger.uid)).map(({ outcome, reason }: Record<string, string>) => [outcome, reason]),
    ).toEqual([
      ["started", undefined],
      ["ignored", "event"],
      ["started", undefined],
      ["ignored", "paused"],
    ]);
  });

  it("records why an event starts no run, and tries again when it is delivered again", async () => {
    const { body: environment } = await user.post("/agent/environments", { name: "Shop" });
    const { body: trigger } = await create({ agent_config: { environment_id: environment.uid } });
    await user.delete(`/agent/environments/${environment.uid}`);
    for (let count = 0; count < 2; count++) expect((await send(trigger.uid, { build: 1 })).status).toBe(200);
    expect(await runs()).toEqual([]);
    const failed = { outcome: "failed", detail: expect.stringContaining("environment_id") };
    expect(await deliveries(trigger.uid)).toMatchObject([failed, failed]);
    await user.put(`/agent/triggers/${trigger.uid}`, { agent_config: {} });
    await send(trigger.uid, { build: 1 });
    expect(await runs()).toHaveLength(1);
  });

  it("returns the same 401 to an unknown trigger and to a wrong secret, before it reads the body", async () => {
    const { body: trigger } = await create();
    const unknown = "0199a3c4-0000-7000-8000-000000000001";
    for (const uid of [trigger.uid, unknown, "nothing"]) {
      const { status, body } = await send(uid, "{", { authorization: "Bearer another" });
      expect(status).toBe(401);
      expect(body.detail).toBe("the request has no valid signature for this trigger");
    }
    expect(await deliveries(trigger.uid)).toEqual([]);
  });

  it.each([["{"], ["[]"], ['"text"'], [""]])("returns 400 to the verified body %j and stores nothing", async (body) => {
    const { body: trigger } = await create();
    expect(await send(trigger.uid, body)).toMatchObject({ status: 400, body: { errors: [{ path: "body" }] } });
    expect(await deliveries(trigger.uid)).toEqual([]);
  });

  it("shows deliveries in pages", async () => {
    const { body: trigger } = await create({ events: ["none"] });
    for (let build = 0; build < 3; build++) {
      plane.clock.now += 1000;
      await send(trigger.uid, { build });
    }
    const { body: first } = await user.get(`/agent/triggers/${trigger.uid}/deliveries?limit=2`);
    const cursor = encodeURIComponent(first.page_info.next_cursor);
    const { body: last } = await user.get(`/agent/triggers/${trigger.uid}/deliveries?limit=2&cursor=${cursor}`);
    expect([...first.deliveries, ...last.deliveries]).toEqual(await deliveries(trigger.uid));
    expect(last.page_info).toEqual({ has_next_page: false });
  });
});

describe("the verification of a trigger", () => {
  const now = () => Math.floor(plane.clock.now / 1000);
  const hmac = (secret: string | Buffer, text: string, encoding: "hex" | "base64" = "hex") =>
    createHmac("sha256", secret).update(text).digest(encoding);
  const body = JSON.stringify({ build: "shop-42" });

  it("takes Standard Webhooks, one of several signatures, and the id as the event's", async () => {
    const { body: trigger } = await create({ verification: undefined, secret: undefined });
    const sign = (id: string, time: number, text = body) => {
      const key = Buffer.from(trigger.secret.slice("whsec_".length), "base64");
      const signature = `v1,${hmac(key, `${id}.${time}.${text}`, "base64")}`;
      return {
        "webhook-id": id,
        "webhook-timestamp": String(time),
        "webhook-signature": `v1,${"A".repeat(43)}= ${signature}`,
      };
    };
    expect((await send(trigger.uid, body, sign("msg_1", now()))).status).toBe(200);
    expect((await send(trigger.uid, body, sign("msg_2", now()))).status).toBe(200);
    expect((await send(trigger.uid, body, sign("msg_1", now()))).status).toBe(200);
    expect(await runs()).toHaveLength(2);
    expect((await send(trigger.uid, body, sign("msg_3", now() - 301))).status).toBe(401);
    expect((await send(trigger.uid, body, sign("msg_3", now() + 301))).status).toBe(401);
    expect((await send(trigger.uid, `${body} `, sign("msg_3", now()))).status).toBe(401);
    expect((await send(trigger.uid, body, { authorization: `Bearer ${trigger.secret}` })).status).toBe(401);
  });

  it("takes an HMAC by its header, prefix, encoding and time", async () => {
    const sentry = { scheme: "hmac", header: "Sentry-Hook-Signature" };
    const github = { scheme: "hmac", header: "X-Hub-Signature-256", prefix: "sha256=" };
    const pagerduty = { scheme: "hmac", header: "X-PagerDuty-Signature", prefix: "v1=" };
    const timed = { scheme: "hmac", header: "X-Signature", encoding: "base64", timestamp_header: "X-Time" };
    const cases = [
      [sentry, { "sentry-hook-signature": hmac(SECRET, body) }],
      [github, { "x-hub-signature-256": `sha256=${hmac(SECRET, body)}` }],
      [pagerduty, { "x-pagerduty-signature": `v1=${"0".repeat(64)},v1=${hmac(SECRET, body)}` }],
      [timed, { "x-signature": hmac(SECRET, `${now()}.${body}`, "base64"), "x-time": String(now()) }],
    ] as const;
    for (const [verification, headers] of cases) {
      const { body: trigger } = await create({ verification });
      expect((await send(trigger.uid, body, headers)).status, verification.header).toBe(200);
      expect((await send(trigger.uid, `${body} `, headers)).status).toBe(401);
      expect((await send(trigger.uid, body, {})).status).toBe(401);
    }
  });

  it("takes the signature that GitHub publishes as an example", async () => {
    const verification = { scheme: "hmac", header: "X-Hub-Signature-256", prefix: "sha256=" };
    const { body: trigger } = await create({ verification, secret: "It's a Secret to Everybody" });
    const signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
    // Verified, and then refused because it is no JSON.
    expect((await send(trigger.uid, "Hello, World!", { "x-hub-signature-256": signature })).status).toBe(400);
    expect((await send(trigger.uid, "Hello, World?", { "x-hub-signature-256": signature })).status).toBe(401);
  });
});
