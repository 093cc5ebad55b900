import { beforeEach, describe, expect, it } from "vitest";
import { keys } from "#shared/table/keys.ts";
import { memoryTable } from "#shared/table/memory-table.ts";
import { BACK_OFF_SECONDS } from "#shared/webhooks/attempt-deliveries.ts";
import { WEBHOOK_EVENT_TYPES } from "#shared/wire/webhooks/webhook.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { Faults } from "../../support/faults.ts";
import { attemptRequested, passMinutes, streamEvents } from "../../support/webhooks.ts";

const URL = "https://hooks.runyard.test/events";

let plane: TestControlPlane;
let user: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
});

const create = (body: object = {}, options = {}) => user.post("/agent/webhooks", { url: URL, ...body }, options);
const listDeliveries = async (uid: string, query = "") =>
  (await user.get(`/agent/webhooks/${uid}/deliveries${query}`)).body;
const createRun = async (body: object = {}): Promise<string> =>
  (await user.post("/agent/runs", { prompt: "count the words", ...body })).body.run_id;
const cancel = (run: string) => user.post(`/agent/runs/${run}/cancel`);
const bodies = () => plane.webhooks.sent.map(({ body }) => JSON.parse(body));
const byId = (one: { id: string }, other: { id: string }) => one.id.localeCompare(other.id);
const types = () => bodies().map(({ type }) => type);

describe("POST /agent/webhooks", () => {
  it("returns a signing secret that neither an item of the table nor a later response contains", async () => {
    const { status, body } = await create({ name: "builds" });
    const { secret, ...shown } = body;
    expect(status).toBe(201);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(shown).toEqual({
      uid: expect.any(String),
      name: "builds",
      url: URL,
      event_types: WEBHOOK_EVENT_TYPES,
      enabled: true,
      created_at: "2026-05-18T19:00:00.000Z",
      updated_at: "2026-05-18T19:00:00.000Z",
      created_by: expect.objectContaining({ type: "user", uid: plane.user }),
      scope: { type: "Team", uid: plane.team },
    });
    expect((await user.get(`/agent/webhooks/${shown.uid}`)).body).toEqual(shown);
    expect((await user.get("/agent/webhooks")).body).toEqual({ webhooks: [shown] });
    expect([...plane.webhooks.secrets.values.values()]).toEqual([secret]);
    expect(JSON.stringify(plane.table.all())).not.toContain(secret.slice(6));
  });

  it("returns the same secret to a repeated Idempotency-Key, and stores one webhook", async () => {
    const headers = { "idempotency-key": "key-1" };
    const first = await create({}, { headers });
    expect(await create({}, { headers })).toMatchObject({
      status: 201,
      headers: { "idempotent-replay": "true" },
      body: first.body,
    });
    expect(plane.webhooks.secrets.values.size).toBe(1);
    expect((await user.get("/agent/webhooks")).body.webhooks).toHaveLength(1);
  });

  // @contract webhooks.url: A webhook's URL is https and leads to no private address.
  it.each([
    ["http://hooks.runyard.test/", "must be an https URL"],
    ["https://ada:hush@hooks.runyard.test/", "must be an https URL without credentials and fragment"],
    ["https://hooks.runyard.test/#part", "must be an https URL without credentials and fragment"],
    ...[
      "127.0.0.1",
      "10.0.0.8",
      "169.254.169.254",
      "100.64.0.1",
      "[::1]",
      "[::ffff:10.0.0.8]",
      "[fd00::1]",
      "0x7f000001",
      "localhost",
      "api.localhost",
    ].map((host) => [`https://${host}/`, "must lead to the internet, not to a private address"]),
  ])("returns 400 and stores nothing for the URL %s", async (url, message) => {
    expect(await create({ url })).toMatchObject({ status: 400, body: { errors: [{ path: "url", message }] } });
    expect(plane.webhooks.secrets.values.size).toBe(0);
  });

  it.each([
    ["an unknown event type", { event_types: ["messages"] }, "event_types[0]"],
    ["a filter for a state, which changes", { filter: { state: ["FAILED"] } }, "filter.state"],
    ["a filter for archived runs, which changes", { filter: { archived: "true" } }, "filter.archived"],
    ["an empty name", { name: "" }, "name"],
  ])("returns 400 with the field for %s", async (_, body, path) => {
    expect((await create(body)).body.errors).toMatchObject([{ path }]);
  });

  it("stores at most 10 webhooks per team", async () => {
    for (let count = 0; count < 10; count++) expect((await create()).status).toBe(201);
    expect(await create()).toMatchObject({ status: 409, body: { error_code: "conflict", retryable: false } });
    expect(plane.webhooks.secrets.values.size).toBe(10);
  });

  it("returns 422 where the deployment does not send events", async () => {
    plane.webhooks.isAvailable = false;
    expect(await create()).toMatchObject({ status: 422, body: { error_code: "operation_not_supported" } });
  });

  it("is for admins of the team", async () => {
    const member = createClient(plane, (await plane.person("Mo")).key);
    expect((await member.post("/agent/webhooks", { url: URL })).status).toBe(403);
    expect((await member.get("/agent/webhooks")).status).toBe(403);
    expect((await createClient(plane, (await plane.agent()).key).get("/agent/webhooks")).status).toBe(403);
  });
});

describe("GET /agent/webhooks", () => {
  it("lists webhooks oldest first, in pages if the request has a limit", async () => {
    for (const name of ["b", "c", "a"]) {
      await create({ name });
      plane.clock.now += 1;
    }
    const { webhooks, page_info } = (await user.get("/agent/webhooks?limit=2")).body;
    const rest = (await user.get(`/agent/webhooks?cursor=${page_info.next_cursor}`)).body;
    expect([...webhooks, ...rest.webhooks].map(({ name }) => name)).toEqual(["b", "c", "a"]);
    expect(rest.page_info).toEqual({ has_next_page: false });
  });
});

describe("PUT /agent/webhooks/{webhookUid}", () => {
  it("keeps absent members, and clears empty ones", async () => {
    const { uid } = (await create({ name: "a", event_types: ["run_failed"], filter: { source: "API" } })).body;
    const url = "https://other.runyard.test/";
    const changed = (await user.put(`/agent/webhooks/${uid}`, { url, enabled: false })).body;
    expect(changed).toMatchObject({ name: "a", url, enabled: false, event_types: ["run_failed"] });
    expect(changed.filter).toEqual({ source: "API" });
    const cleared = await user.put(`/agent/webhooks/${uid}`, { name: "", event_types: [], filter: {} });
    expect(cleared.body).toMatchObject({ url, enabled: false, event_types: WEBHOOK_EVENT_TYPES });
    expect(cleared.body).not.toHaveProperty("name");
    expect(cleared.body).not.toHaveProperty("filter");
    expect((await user.get(`/agent/webhooks/${uid}`)).body).toEqual(cleared.body);
  });

  it("returns 400 for a private URL, and 404 for a webhook of another team", async () => {
    const { uid } = (await create()).body;
    expect((await user.put(`/agent/webhooks/${uid}`, { url: "https://10.0.0.1/" })).status).toBe(400);
    const bo = createClient(plane, plane.otherKey);
    expect((await bo.put(`/agent/webhooks/${uid}`, { enabled: false })).status).toBe(404);
    expect((await user.get(`/agent/webhooks/${uid}`)).body).toMatchObject({ url: URL, enabled: true });
  });
});

describe("DELETE /agent/webhooks/{webhookUid}", () => {
  it("deletes the secret although the response of the table is lost and the SDK repeats its call", async () => {
    const faults = new Faults();
    plane = await createTestControlPlane(memoryTable(), faults.around);
    user = createClient(plane);
    const removeNew = async (toFault?: number) => {
      const { uid } = (await create()).body;
      if (toFault !== undefined) faults.plan = { at: faults.calls.length + toFault, fault: "unheard" };
      return faults.invoke("delete-webhook", () => user.delete(`/agent/webhooks/${uid}`));
    };
    await removeNew();
    const { length } = faults.calls;
    expect(length).toBeGreaterThan(1);
    for (let at = 0; at < length; at++) {
      expect((await removeNew(at))?.status, faults.calls.at(at)).toBe(204);
      expect(plane.webhooks.secrets.values.size).toBe(0);
    }
  });

  it("deletes the webhook with its secret, and attempts no pending delivery", async () => {
    const { uid } = (await create()).body;
    await createRun();
    await streamEvents(plane);
    expect((await user.delete(`/agent/webhooks/${uid}`)).status).toBe(204);
    expect(plane.webhooks.secrets.values.size).toBe(0);
    expect((await user.get(`/agent/webhooks/${uid}/deliveries`)).status).toBe(404);
    await attemptRequested(plane);
    await passMinutes(plane, 24 * 60);
    expect(plane.webhooks.sent).toEqual([]);
  });

  it("is part of the deletion of the team", async () => {
    const { uid } = (await create()).body;
    expect((await user.delete(`/agent/teams/${plane.team}`)).status).toBe(204);
    expect(plane.webhooks.secrets.values.size).toBe(0);
    expect(await plane.table.get(keys.webhook(plane.team, uid))).toBeUndefined();
  });
});

describe("deliveries", () => {
  it("contain the event without prompt, messages and names of people", async () => {
    const { uid } = (await create()).body;
    const run = await createRun({ title: "Words", metadata: { pr: "7" }, prompt: "a prompt of Ada" });
    await cancel(run);
    await streamEvents(plane);
    await attemptRequested(plane);
    const common = { webhook_uid: uid, run_id: run, title: "Words", metadata: { pr: "7" } };
    const session_link = `https://runyard.test/runs/${run}`;
    expect(bodies()).toEqual([
      {
        type: "run_created",
        timestamp: "2026-05-18T19:00:00.000Z",
        data: { ...common, sequence: 1, run_sequence: 1, state: "QUEUED", session_link, event: {} },
      },
      {
        type: "run_cancelled",
        timestamp: "2026-05-18T19:00:00.000Z",
        data: { ...common, sequence: 2, run_sequence: 2, state: "CANCELLED", session_link, event: {} },
      },
    ]);
    expect(plane.webhooks.sent.map(({ id, url }) => [id, url])).toEqual([
      [`${uid}-1`, URL],
      [`${uid}-2`, URL],
    ]);
    expect(JSON.stringify(plane.webhooks.sent)).not.toMatch(/Ada|a prompt/);
  });

  it("are planned once for each webhook and event, however often the stream delivers it", async () => {
    const { uid } = (await create()).body;
    await createRun();
    await Promise.all([streamEvents(plane), streamEvents(plane), streamEvents(plane)]);
    await streamEvents(plane);
    const { deliveries } = await listDeliveries(uid);
    expect(deliveries.map(({ sequence }: { sequence: number }) => sequence)).toEqual([1]);
  });

  it("are numbered without gaps while batches are planned at the same time", async () => {
    const { uid } = (await create()).body;
    for (let count = 0; count < 45; count++) await createRun({ prompt: `run ${count}` });
    await Promise.all([streamEvents(plane), streamEvents(plane)]);
    const { deliveries } = await listDeliveries(uid);
    expect(deliveries.map(({ sequence }: { sequence: number }) => sequence)).toEqual(
      Array.from({ length: 45 }, (_, index) => 45 - index),
    );
    expect(new Set(deliveries.map(({ run_id }: { run_id: string }) => run_id)).size).toBe(45);
  });

  it("are of the webhook's event types and runs only", async () => {
    await create({ event_types: ["run_cancelled"], filter: { metadata: { deploy: "yes" } } });
    const wanted = await createRun({ metadata: { deploy: "yes" } });
    await user.post(`/agent/runs/${wanted}/archive`);
    await cancel(wanted);
    await cancel(await createRun({ metadata: { deploy: "no" } }));
    await streamEvents(plane);
    await attemptRequested(plane);
    expect(bodies().map(({ type, data }) => [type, data.run_id])).toEqual([["run_cancelled", wanted]]);
  });

  it("are not planned for personal runs, for another team's runs, and while the webhook is disabled", async () => {
    const { uid } = (await create()).body;
    await createRun({ team: false });
    await createClient(plane, plane.otherKey).post("/agent/runs", { prompt: "theirs" });
    await streamEvents(plane);
    await user.put(`/agent/webhooks/${uid}`, { enabled: false });
    await createRun();
    await streamEvents(plane);
    expect((await listDeliveries(uid)).deliveries).toEqual([]);
  });

  it("are not sought in a deployment without webhooks", async () => {
    await createRun();
    const reads: string[] = [];
    const { table } = plane.ports;
    const get: typeof table.get = async (key) => {
      reads.push(key.pk);
      return table.get(key);
    };
    const refuse = async () => expect.fail("reads more");
    Object.assign(plane.ports, { table: { ...table, get, query: refuse, batchGet: refuse } });
    await streamEvents(plane);
    expect(reads).toEqual(["WEBHOOKS"]);
  });

  // @contract webhooks.retry: Deliveries are retried with back-off for 24 hours, and each is listed.
  it("are attempted ten times within 24 hours, with growing waits, and then failed", async () => {
    const { uid } = (await create()).body;
    plane.webhooks.respond = () => ({ status_code: 500 });
    await createRun();
    await streamEvents(plane);
    await attemptRequested(plane);
    const [first] = (await listDeliveries(uid)).deliveries;
    expect(first).toMatchObject({ state: "pending", attempts: [{ status_code: 500, duration_ms: 12 }] });
    expect(Date.parse(first.next_attempt_at) - plane.clock.now).toBeLessThanOrEqual(60_000);
    for (let minute = 0; minute < 24 * 60; minute++) await passMinutes(plane, 1);
    const [last] = (await listDeliveries(uid, "?state=failed")).deliveries;
    expect(last).toMatchObject({ state: "failed" });
    expect(last.attempts).toHaveLength(10);
    expect(last).not.toHaveProperty("next_attempt_at");
    const times = last.attempts.map(({ attempted_at }: { attempted_at: string }) => Date.parse(attempted_at) / 1000);
    for (const [index, seconds] of BACK_OFF_SECONDS.entries()) {
      const waited = times[index + 1] - times[index];
      expect(waited).toBeGreaterThanOrEqual(seconds * 0.9);
      expect(waited).toBeLessThanOrEqual(seconds + 60);
    }
    expect(plane.webhooks.sent).toHaveLength(10);
    expect(new Set(plane.webhooks.sent.map(({ id, body }) => id + body)).size).toBe(1);
  });

  it("are delivered by a later attempt, which is the last", async () => {
    const { uid } = (await create()).body;
    plane.webhooks.respond = () => ({ error: "the connection failed: ECONNREFUSED" });
    await createRun();
    await streamEvents(plane);
    await attemptRequested(plane);
    plane.webhooks.respond = () => ({ status_code: 204 });
    await passMinutes(plane, 1);
    await passMinutes(plane, 60);
    const [delivery] = (await listDeliveries(uid)).deliveries;
    expect(delivery).toMatchObject({ state: "delivered", event_type: "run_created", run_sequence: 1 });
    expect(delivery.attempts).toEqual([
      { attempted_at: "2026-05-18T19:00:00.000Z", duration_ms: 12, error: "the connection failed: ECONNREFUSED" },
      { attempted_at: "2026-05-18T19:01:00.000Z", duration_ms: 12, status_code: 204 },
    ]);
  });

  it("are attempted each minute although the request for the first attempt, or its result, was lost", async () => {
    await create();
    await createRun();
    await streamEvents(plane);
    plane.webhooks.requested.length = 0;
    await passMinutes(plane, 1);
    expect(types()).toEqual([]);
    plane.webhooks.respond = () => {
      throw new Error("the sender was stopped");
    };
    await expect(passMinutes(plane, 1)).rejects.toThrow("stopped");
    plane.webhooks.respond = () => ({ status_code: 200 });
    await passMinutes(plane, 1);
    expect(types(), "while the lost attempt may still end").toHaveLength(1);
    await passMinutes(plane, 1);
    expect(types()).toEqual(["run_created", "run_created"]);
  });

  it("are attempted once although two attempts are requested at the same time", async () => {
    await create();
    await createRun();
    await streamEvents(plane);
    plane.webhooks.requested.push(...plane.webhooks.requested);
    await Promise.all([attemptRequested(plane), passMinutes(plane, 0)]);
    expect(types()).toEqual(["run_created"]);
  });

  it("disable the webhook if the receiver responds 410", async () => {
    const { uid } = (await create()).body;
    plane.webhooks.respond = () => ({ status_code: 410 });
    await createRun();
    await streamEvents(plane);
    await attemptRequested(plane);
    expect((await user.get(`/agent/webhooks/${uid}`)).body.enabled).toBe(false);
    expect((await listDeliveries(uid)).deliveries).toMatchObject([{ state: "failed" }]);
  });

  it("fail without a request while the webhook is disabled", async () => {
    const { uid } = (await create()).body;
    await createRun();
    await streamEvents(plane);
    await user.put(`/agent/webhooks/${uid}`, { enabled: false });
    await attemptRequested(plane);
    expect(plane.webhooks.sent).toEqual([]);
    expect((await listDeliveries(uid)).deliveries).toMatchObject([
      { state: "failed", attempts: [{ error: "the webhook is disabled" }] },
    ]);
  });

  it("expire after seven days", async () => {
    const { uid } = (await create()).body;
    await createRun();
    await streamEvents(plane);
    plane.clock.now += 7 * 24 * 3_600_000 + 1;
    expect((await listDeliveries(uid)).deliveries).toEqual([]);
  });
});

describe("GET /agent/webhooks/{webhookUid}/deliveries", () => {
  // @contract webhooks.retry
  it("lists deliveries newest first, or oldest first, in pages, also of one state", async () => {
    const { uid } = (await create({ event_types: ["run_created"] })).body;
    for (let count = 0; count < 7; count++) await createRun({ prompt: `run ${count}` });
    await streamEvents(plane);
    plane.webhooks.respond = ({ id }) => ({ status_code: Number(id.at(-1)) % 2 === 0 ? 200 : 500 });
    await attemptRequested(plane);
    const seen = async (query: string) => {
      const sequences: number[] = [];
      for (let cursor = ""; ; ) {
        const page = await listDeliveries(uid, `?limit=2${query}${cursor}`);
        sequences.push(...page.deliveries.map(({ sequence }: { sequence: number }) => sequence));
        if (!page.page_info.has_next_page) return sequences;
        cursor = `&cursor=${page.page_info.next_cursor}`;
      }
    };
    expect(await seen("")).toEqual([7, 6, 5, 4, 3, 2, 1]);
    expect(await seen("&state=delivered")).toEqual([6, 4, 2]);
    expect(await seen("&state=pending")).toEqual([7, 5, 3, 1]);
    expect(await seen("&state=failed")).toEqual([]);
    expect(await seen("&sort_order=asc")).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(await seen("&sort_order=asc&state=pending")).toEqual([1, 3, 5, 7]);
    expect(await listDeliveries(uid)).not.toHaveProperty("page_info");
  });
});

describe("POST /agent/webhooks/{webhookUid}/rotate-secret", () => {
  const rotate = (uid: string, headers = {}) => user.post(`/agent/webhooks/${uid}/rotate-secret`, {}, { headers });
  const storedSecrets = () => [...plane.webhooks.secrets.values.values()];
  /** The secrets that sign a new delivery, in their order. */
  const signingSecrets = async () => {
    plane.webhooks.sent.length = 0;
    await createRun();
    await streamEvents(plane);
    await attemptRequested(plane);
    const [request = expect.fail()] = plane.webhooks.sent;
    if (!("secret_id" in request)) throw new Error("the request is not one to a webhook");
    return [request.secret_id, request.previous_secret_id].flatMap(
      (id) => plane.webhooks.secrets.values.get(`${plane.team}/${id}`) ?? [],
    );
  };

  it("returns a new secret once, which signs deliveries with the previous one for 24 hours", async () => {
    const { uid, secret: first } = (await create()).body;
    const { status, body } = await rotate(uid);
    const { secret: second, ...item } = body;
    expect(status).toBe(200);
    expect(second).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(second).not.toBe(first);
    expect(item.previous_secret_expires_at).toBe("2026-05-19T19:00:00.000Z");
    expect((await user.get(`/agent/webhooks/${uid}`)).body).toEqual(item);
    expect((await user.get("/agent/webhooks")).body).toEqual({ webhooks: [item] });
    expect(JSON.stringify(plane.table.all())).not.toContain(second.slice(6));
    plane.clock.now += 24 * 3_600_000 - 1;
    expect(await signingSecrets()).toEqual([second, first]);
    plane.clock.now += 1;
    expect(await signingSecrets()).toEqual([second]);
    expect((await user.get(`/agent/webhooks/${uid}`)).body).not.toHaveProperty("previous_secret_expires_at");
  });

  it("ends and deletes the older of two secrets at once", async () => {
    const { uid } = (await create()).body;
    const second = (await rotate(uid)).body.secret;
    plane.clock.now += 1_000;
    const third = (await rotate(uid)).body.secret;
    expect(await signingSecrets()).toEqual([third, second]);
    expect(storedSecrets()).toEqual([second, third]);
    await user.delete(`/agent/webhooks/${uid}`);
    expect(storedSecrets()).toEqual([]);
  });

  it("shows a secret to a repeated Idempotency-Key until another one replaces it", async () => {
    const headers = { "idempotency-key": "key-1" };
    const created = await create({}, { headers });
    const { uid } = created.body;
    const first = await rotate(uid, headers);
    const again = await rotate(uid, headers);
    expect(again).toMatchObject({ status: 200, headers: { "idempotent-replay": "true" }, body: first.body });
    expect(storedSecrets()).toHaveLength(2);
    expect(await create({}, { headers })).toMatchObject({ status: 409, body: { retryable: false } });
    await rotate(uid);
    expect(await rotate(uid, headers)).toMatchObject({ status: 409, body: { retryable: false } });
  });

  it("keeps a change that comes between, and leaves no secret behind", async () => {
    const { uid } = (await create()).body;
    const { table } = plane.ports;
    let isFirst = true;
    const transact: typeof table.transact = async (writes) => {
      if (isFirst) {
        isFirst = false;
        await user.put(`/agent/webhooks/${uid}`, { name: "builds" });
      }
      return table.transact(writes);
    };
    Object.assign(plane.ports, { table: { ...table, transact } });
    expect(await rotate(uid)).toMatchObject({ status: 409, body: { error_code: "conflict", retryable: true } });
    expect(storedSecrets()).toHaveLength(1);
    expect((await rotate(uid)).body).toMatchObject({ name: "builds" });
  });

  it("leaves no secret of a webhook that is deleted at the same time", async () => {
    const { uid } = (await create()).body;
    const { table } = plane.ports;
    let isFirst = true;
    const transact: typeof table.transact = async (writes) => {
      if (isFirst) {
        isFirst = false;
        expect((await rotate(uid)).status).toBe(200);
      }
      return table.transact(writes);
    };
    Object.assign(plane.ports, { table: { ...table, transact } });
    expect((await user.delete(`/agent/webhooks/${uid}`)).status).toBe(204);
    expect(storedSecrets()).toEqual([]);
  });

  it("is for admins of the webhook's team", async () => {
    const { uid } = (await create()).body;
    const member = createClient(plane, (await plane.person("Mo")).key);
    expect((await member.post(`/agent/webhooks/${uid}/rotate-secret`)).status).toBe(403);
    const bo = createClient(plane, plane.otherKey);
    expect((await bo.post(`/agent/webhooks/${uid}/rotate-secret`)).status).toBe(404);
    expect(storedSecrets()).toHaveLength(1);
  });
});

describe("POST /agent/webhooks/{webhookUid}/redeliver", () => {
  // @contract webhooks.redeliver: POST …/redeliver sends the deliveries from a number on again.
  it("sends the deliveries from a number on again, with the same ids and bodies", async () => {
    const { uid } = (await create()).body;
    for (let count = 0; count < 4; count++) await createRun({ prompt: `run ${count}` });
    await streamEvents(plane);
    await attemptRequested(plane);
    const first = plane.webhooks.sent.splice(0);
    plane.clock.now += 3 * 24 * 3_600_000;
    const { status, body } = await user.post(`/agent/webhooks/${uid}/redeliver?from_sequence=3`);
    expect([status, body]).toEqual([200, { redelivered: 2 }]);
    expect((await listDeliveries(uid, "?state=pending")).deliveries).toHaveLength(2);
    await passMinutes(plane, 1);
    // Both are due at the same time, so they are sent in any order.
    expect(plane.webhooks.sent.toSorted(byId)).toEqual(first.slice(2).toSorted(byId));
    const [latest] = (await listDeliveries(uid)).deliveries;
    expect(latest).toMatchObject({ state: "delivered", attempts: [{}, {}] });
  });

  it("gives a failed delivery all attempts again", async () => {
    const { uid } = (await create()).body;
    plane.webhooks.respond = () => ({ status_code: 503 });
    await createRun();
    await streamEvents(plane);
    await attemptRequested(plane);
    await user.put(`/agent/webhooks/${uid}`, { enabled: false });
    await passMinutes(plane, 1);
    await user.put(`/agent/webhooks/${uid}`, { enabled: true });
    await user.post(`/agent/webhooks/${uid}/redeliver?from_sequence=1`);
    await passMinutes(plane, 1);
    const [delivery] = (await listDeliveries(uid)).deliveries;
    expect(delivery.state).toBe("pending");
    expect(Date.parse(delivery.next_attempt_at) - plane.clock.now).toBeLessThanOrEqual(60_000);
  });

  it("returns the first response to a repeated Idempotency-Key, and sends the deliveries once", async () => {
    const { uid } = (await create()).body;
    await createRun();
    await streamEvents(plane);
    await attemptRequested(plane);
    const again = () =>
      user.post(`/agent/webhooks/${uid}/redeliver?from_sequence=1`, undefined, { headers: { "idempotency-key": "k" } });
    expect(await again()).toMatchObject({ status: 200, body: { redelivered: 1 } });
    await passMinutes(plane, 1);
    expect(await again()).toMatchObject({ body: { redelivered: 1 }, headers: { "idempotent-replay": "true" } });
    await passMinutes(plane, 1);
    expect(plane.webhooks.sent).toHaveLength(2);
  });

  it("takes 500 deliveries, and names the next one", async () => {
    const { uid } = (await create()).body;
    await createRun();
    await streamEvents(plane);
    const [item] = plane.table.all().filter(({ sk }) => sk.startsWith("DELIVERY#"));
    if (item === undefined) throw new Error("there is no delivery");
    for (let sequence = 2; sequence <= 502; sequence++) {
      await plane.table.write({ kind: "put", item: { ...item, ...keys.delivery(uid, sequence), sequence } });
    }
    const redeliver = async (from: number) =>
      (await user.post(`/agent/webhooks/${uid}/redeliver?from_sequence=${from}`)).body;
    expect(await redeliver(1)).toEqual({ redelivered: 500, next_sequence: 501 });
    expect(await redeliver(501)).toEqual({ redelivered: 2 });
    expect(await redeliver(503)).toEqual({ redelivered: 0 });
  });

  it("returns 400 without a number, and 409 while the webhook is disabled", async () => {
    const { uid } = (await create({ enabled: false })).body;
    const missing = await user.post(`/agent/webhooks/${uid}/redeliver`);
    expect(missing).toMatchObject({ status: 400, body: { errors: [{ path: "from_sequence" }] } });
    expect((await user.post(`/agent/webhooks/${uid}/redeliver?from_sequence=1`)).status).toBe(409);
  });
});
