import { beforeEach, describe, expect, it } from "vitest";
import { keys, sortableTime } from "#shared/table/keys.ts";
import type { Table } from "#shared/table/table.ts";
import { attempt } from "#shared/webhooks/attempt-deliveries.ts";
import { planEvents, requestDue } from "#shared/webhooks/plan-deliveries.ts";
import type { DeliveryRef } from "#shared/webhooks/webhook-ports.ts";
import { isOfWebhooks } from "#shared/webhooks/webhook-store.ts";
import { changeWebhook, removeWebhook } from "#shared/webhooks/webhooks.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane, type TestPorts } from "../../support/control-plane.ts";
import { attemptRequested, passMinutes, streamEvents } from "../../support/webhooks.ts";

const URL = "https://hooks.runyard.test/events";
type Sender = TestPorts["sender"];

let plane: TestControlPlane;
let user: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
});

const create = async (body: object = {}, client = user): Promise<string> =>
  (await client.post("/agent/webhooks", { url: URL, ...body })).body.uid;
const createRun = async (client = user): Promise<string> =>
  (await client.post("/agent/runs", { prompt: "hello", team: true })).body.run_id;
const readWebhook = async (uid: string) => (await user.get(`/agent/webhooks/${uid}`)).body;
const readPage = async (uid: string, query = "", client = user) =>
  client.get(`/agent/webhooks/${uid}/deliveries${query}`);
const listDeliveries = async (uid: string) => (await readPage(uid)).body.deliveries;
const refOf = (run_id: string, sequence = 1) => ({ run_id, sequence });
/** The ports with some methods of the table replaced. */
const withTable = (table: Partial<Table>): TestPorts => ({ ...plane.ports, table: { ...plane.ports.table, ...table } });
const sends = (send: Sender["send"]): TestPorts => ({ ...plane.ports, sender: { send } });

/** Adds ended deliveries to a webhook, numbered from 1. */
async function addDeliveries(uid: string, count: number, stateOf: (sequence: number) => string): Promise<void> {
  await createRun();
  await streamEvents(plane);
  const first = plane.table
    .all()
    .find(({ pk, sk }) => pk === keys.delivery(uid, 1).pk && sk === keys.delivery(uid, 1).sk);
  if (first === undefined) throw new Error("nothing was planned");
  const { check_shard: _shard, check_at: _at, ...ended } = first;
  for (let sequence = 1; sequence <= count; sequence++) {
    const item = { ...ended, ...keys.delivery(uid, sequence), sequence, state: stateOf(sequence) };
    await plane.table.write({ kind: "put", item });
  }
}

/** Adds pending deliveries to a webhook, numbered from 1, whose attempt is due. */
async function addDueDeliveries(uid: string, count: number): Promise<void> {
  await addDeliveries(uid, count, () => "pending");
  for (let sequence = 1; sequence <= count; sequence++) {
    const set = { check_shard: "DELIVERIES", check_at: sortableTime(plane.clock.now + sequence) };
    await plane.table.write({ kind: "update", key: keys.delivery(uid, sequence), set });
  }
  plane.webhooks.requested.length = 0;
  plane.clock.now += count;
}

/** The requests for attempts that the pass of a minute makes. */
async function requestsOfMinute(): Promise<(readonly DeliveryRef[])[]> {
  const requests: (readonly DeliveryRef[])[] = [];
  await requestDue({ ...plane.ports, attempts: { request: async (refs) => void requests.push(refs) } });
  return requests;
}

describe("a page of deliveries", () => {
  const RUN_CREATED = { event_types: ["run_created"] };

  it("ends where the limit is reached exactly, without a next page if there is nothing behind it", async () => {
    const uid = await create(RUN_CREATED);
    await addDeliveries(uid, 4, () => "delivered");
    for (const [query, count, more] of [
      ["?limit=4", 4, false],
      ["?limit=3", 3, true],
      ["?limit=5", 5 - 1, false],
      ["?limit=3&state=delivered", 3, true],
      ["?limit=4&state=delivered", 4, false],
    ] as const) {
      const { deliveries, page_info } = (await readPage(uid, query)).body;
      expect([query, deliveries.length, page_info.has_next_page]).toEqual([query, count, more]);
    }
  });

  it("of one state searches 5,000 deliveries, and the next page continues behind them", async () => {
    const uid = await create(RUN_CREATED);
    await addDeliveries(uid, 5_600, (sequence) => ([5_590, 600, 599, 1].includes(sequence) ? "failed" : "delivered"));
    const first = (await readPage(uid, "?state=failed&limit=10")).body;
    expect(first.deliveries.map(({ sequence }: { sequence: number }) => sequence)).toEqual([5_590]);
    const second = (await readPage(uid, `?state=failed&limit=10&cursor=${first.page_info.next_cursor}`)).body;
    expect(second.deliveries.map(({ sequence }: { sequence: number }) => sequence)).toEqual([600, 599, 1]);
    expect(second.page_info).toEqual({ has_next_page: false });
    expect((await readPage(uid, "?state=failed")).body.deliveries).toHaveLength(1);
    expect((await readPage(uid)).body.deliveries).toHaveLength(500);
  });

  it("has a cursor that is for the same webhook, state and caller", async () => {
    const [uid, other] = [await create(RUN_CREATED), await create(RUN_CREATED)];
    await addDeliveries(uid, 3, () => "failed");
    const { next_cursor } = (await readPage(uid, "?limit=1&state=failed")).body.page_info;
    const admin = createClient(plane, (await plane.person("Cy")).key);
    await user.put(`/agent/teams/${plane.team}/members/${(await admin.get("/agent/me")).body.uid}`, { role: "admin" });
    const cursor = `cursor=${next_cursor}`;
    expect((await readPage(uid, `?state=failed&${cursor}`)).body.deliveries).toHaveLength(2);
    for (const [path, query, client] of [
      [uid, `?${cursor}`, user],
      [uid, `?state=pending&${cursor}`, user],
      [other, `?state=failed&${cursor}`, user],
      [uid, `?state=failed&${cursor}`, admin],
    ] as const) {
      expect((await readPage(path, query, client)).status, query).toBe(400);
    }
  });

  it("has no deliveries from the moment of their expiry", async () => {
    const uid = await create(RUN_CREATED);
    await createRun();
    await streamEvents(plane);
    plane.clock.now += 7 * 24 * 3_600_000 - 1;
    expect(await listDeliveries(uid)).toHaveLength(1);
    plane.clock.now += 1;
    expect(await listDeliveries(uid)).toEqual([]);
  });
});

describe("the event in a delivery", () => {
  it("has the facts of the run's event, and no text", async () => {
    await create();
    const run = await createRun();
    const facts = {
      ...{ artifact_uid: "a", artifact_type: "PLAN", execution_id: "e", worker_host: "h", number: 2, policy: "reject" },
      ...{ losses: 3, confirmed_by: "worker", duration_ms: 4, is_error: true },
    };
    const data = { ...facts, detail: "what the agent says", message: "hello", state: "INPROGRESS" };
    const event = { ...keys.event(run, 9), v: 1, sequence: 9, uuid: "u", type: "execution_lost", occurred_at: 1, data };
    await plane.table.write({ kind: "put", item: event });
    await planEvents([refOf(run, 9)], plane.ports);
    await attemptRequested(plane);
    const [{ body } = { body: "" }] = plane.webhooks.sent;
    expect(JSON.parse(body).data).toMatchObject({ run_sequence: 9, state: "INPROGRESS" });
    expect(JSON.parse(body).data.event).toEqual(facts);
    expect(body).not.toContain("what the agent says");
  });

  it("is planned for the webhooks of the run's own team, although a batch has events of several teams", async () => {
    const bo = createClient(plane, plane.otherKey);
    const [own, others] = [await create(), await create({}, bo)];
    const [run, other] = [await createRun(), await createRun(bo)];
    await planEvents([refOf(run), refOf(other), refOf("0199e0b2-0000-7000-8000-00000000dead")], plane.ports);
    const planned = plane.webhooks.requested.map(({ webhook_uid }) => webhook_uid);
    expect(planned.toSorted()).toEqual([own, others].toSorted());
    expect(await listDeliveries(own)).toMatchObject([{ run_id: run }]);
    expect((await readPage(others, "", bo)).body.deliveries).toMatchObject([{ run_id: other }]);
  });

  it("is neither planned nor requested again where it has a delivery, and is left out where it is missing", async () => {
    const uid = await create();
    const run = await createRun();
    const refs = [refOf(run), refOf(run, 77)];
    const requested: number[] = [];
    const ports = {
      ...plane.ports,
      attempts: { request: async (deliveries: readonly unknown[]) => void requested.push(deliveries.length) },
    };
    await planEvents(refs, ports);
    await planEvents(refs, ports);
    expect(requested).toEqual([1]);
    expect(await listDeliveries(uid)).toHaveLength(1);
  });

  it("is not read where no webhook of the team is enabled", async () => {
    const uid = await create({ enabled: false });
    const run = await createRun();
    const read: string[] = [];
    const batchGet: Table["batchGet"] = (some) => {
      read.push(...some.map(({ sk }) => sk));
      return plane.ports.table.batchGet(some);
    };
    await planEvents([refOf(run)], withTable({ batchGet }));
    expect(read).toEqual(["HEAD", "BODY"]);
    await planEvents([], withTable({ batchGet, get: () => Promise.reject(new Error("nothing is to be read")) }));
    expect(await listDeliveries(uid)).toEqual([]);
  });
});

describe("a change of a webhook", () => {
  it("is stored: its name, its filter, and the time", async () => {
    const uid = await create();
    plane.clock.now += 1_000;
    const filter = { source: "API" };
    await user.put(`/agent/webhooks/${uid}`, { name: "builds", filter });
    const updated_at = new Date(plane.clock.now).toISOString();
    expect(await readWebhook(uid)).toMatchObject({ name: "builds", filter, updated_at });
    plane.clock.now -= 60_000;
    await user.put(`/agent/webhooks/${uid}`, { enabled: false });
    const later = new Date(Date.parse(updated_at) + 1).toISOString();
    expect(await readWebhook(uid)).toMatchObject({ name: "builds", enabled: false, updated_at: later });
  });

  it("keeps another change that comes between its read and its write", async () => {
    const uid = await create();
    let isFirst = true;
    const write: Table["write"] = async (change) => {
      if (isFirst) {
        isFirst = false;
        await user.put(`/agent/webhooks/${uid}`, { name: "first" });
      }
      return plane.ports.table.write(change);
    };
    await changeWebhook([plane.team], uid, { enabled: false }, withTable({ write }));
    expect(await readWebhook(uid)).toMatchObject({ name: "first", enabled: false });
  });

  it("is refused as a retryable conflict where others come first eight times", async () => {
    const uid = await create();
    let count = 0;
    const write: Table["write"] = async (change) => {
      count++;
      await user.put(`/agent/webhooks/${uid}`, { name: `change ${count}` });
      return plane.ports.table.write(change);
    };
    const change = changeWebhook([plane.team], uid, { enabled: false }, withTable({ write }));
    await expect(change).rejects.toMatchObject({ code: "conflict", retryable: true });
    expect(count).toBe(8);
    const broken = withTable({ write: () => Promise.reject(new Error("the table is not available")) });
    const failing = changeWebhook([plane.team], uid, { enabled: false }, broken);
    await expect(failing).rejects.toThrow("the table is not available");
  });

  it("is a deletion only once: the second one finds none", async () => {
    const uid = await create();
    const ports = plane.ports;
    const transact: Table["transact"] = async (writes) => {
      await user.delete(`/agent/webhooks/${uid}`);
      return ports.table.transact(writes);
    };
    const removed = removeWebhook([plane.team], uid, withTable({ transact }));
    await expect(removed).rejects.toMatchObject({ code: "resource_not_found", detail: "there is no such webhook" });
    const missing = await user.get(`/agent/webhooks/${uid}`);
    expect(missing).toMatchObject({ status: 404, body: { detail: "there is no such webhook" } });
  });
});

describe("the creation of a webhook", () => {
  const post = (headers = {}) => user.post("/agent/webhooks", { url: URL }, { headers });

  it("says in its detail that the deployment sends no events", async () => {
    plane.webhooks.isAvailable = false;
    expect((await post()).body.detail).toBe("this deployment does not send events of its runs");
  });

  it("is no replay at first, and is not found again after the secret is gone", async () => {
    const headers = { "idempotency-key": "key" };
    const first = await post(headers);
    expect(first.headers).not.toHaveProperty("idempotent-replay");
    plane.webhooks.secrets.values.clear();
    expect(await post(headers)).toMatchObject({ status: 409, body: { error_code: "conflict" } });
  });

  it("leaves no secret where the team is deleted meanwhile", async () => {
    const put: TestPorts["webhookSecrets"]["put"] = async (team, id, value) => {
      await plane.table.write({ kind: "update", key: keys.team(team), set: { closed: true } });
      await plane.webhooks.secrets.put(team, id, value);
    };
    Object.assign(plane.ports, { webhookSecrets: { ...plane.ports.webhookSecrets, put } });
    expect((await post()).status).toBeGreaterThanOrEqual(400);
    expect(plane.webhooks.secrets.values.size).toBe(0);
  });
});

describe("attempts of deliveries", () => {
  it("are made by one of two that read a delivery at the same time", async () => {
    await create();
    await createRun();
    await streamEvents(plane);
    const refs = plane.webhooks.requested.splice(0);
    const counts = await Promise.all([attempt(refs, plane.ports), attempt(refs, plane.ports)]);
    expect(counts.toSorted()).toEqual([0, 1]);
    expect(plane.webhooks.sent).toHaveLength(1);
  });

  it("are begun in batches of 50, for at most half a minute; the others are due as before", async () => {
    const uid = await create({ event_types: ["run_created"] });
    await addDueDeliveries(uid, 250);
    const requested = await requestsOfMinute();
    expect(requested.map((refs) => refs.length)).toEqual([250]);
    const sizes: number[] = [];
    const slow = sends(async (requests) => {
      sizes.push(requests.length);
      plane.clock.now += 10_000;
      return requests.map(({ id }) => ({ id, at: plane.clock.now, duration_ms: 1, status_code: 200 }));
    });
    expect(await attempt(requested.flat(), slow)).toBe(150);
    expect(sizes).toEqual([50, 50, 50]);
    expect((await requestsOfMinute()).map((refs) => refs.length)).toEqual([100]);
  });

  it("are requested for each webhook apart, so that one with many due deliveries hides no other", async () => {
    const [busy, quiet] = [
      await create({ event_types: ["run_created"] }),
      await create({ event_types: ["run_cancelled"] }),
    ];
    await user.post(`/agent/runs/${await createRun()}/cancel`);
    await addDueDeliveries(busy, 2_500);
    plane.clock.now += 2 * 60_000;
    const requested = await requestsOfMinute();
    expect(requested.map((refs) => [new Set(refs.map(({ webhook_uid }) => webhook_uid)), refs.length])).toEqual([
      [new Set([busy]), 1_000],
      [new Set([quiet]), 1],
    ]);
    expect(requested[0]?.[0]).toMatchObject({ sequence: 1 });
  });

  it("of new events wait for the next minute for five minutes after the receiver took two seconds", async () => {
    const uid = await create({ event_types: ["run_created"] });
    const requestsOfNewRun = async () => {
      plane.webhooks.requested.length = 0;
      await createRun();
      await streamEvents(plane);
      return plane.webhooks.requested.length;
    };
    plane.webhooks.respond = () => ({ status_code: 200, duration_ms: 1_999 });
    expect(await requestsOfNewRun()).toBe(1);
    await attemptRequested(plane);
    expect(await requestsOfNewRun()).toBe(1);
    plane.webhooks.respond = () => ({ error: "no response within 10 seconds", duration_ms: 2_000 });
    await attemptRequested(plane);
    expect(await requestsOfNewRun()).toBe(0);
    plane.webhooks.respond = () => ({ status_code: 200, duration_ms: 10 });
    await passMinutes(plane, 0);
    expect(await listDeliveries(uid)).toMatchObject([
      { sequence: 3, state: "delivered" },
      { sequence: 2, state: "pending" },
      { sequence: 1, state: "delivered" },
    ]);
    plane.clock.now += 5 * 60_000 - 1;
    expect(await requestsOfNewRun()).toBe(0);
    plane.clock.now += 1;
    expect(await requestsOfNewRun()).toBe(1);
    const { url } = await readWebhook(uid);
    expect(url).toBe(URL);
  });

  it("are not requested where there is nothing to send, and say why", async () => {
    const [deleted, disabled] = [await create(), await create()];
    await createRun();
    await streamEvents(plane);
    await user.delete(`/agent/webhooks/${deleted}`);
    await user.put(`/agent/webhooks/${disabled}`, { enabled: false });
    const sender = sends(() => Promise.reject(new Error("nothing is to be sent")));
    expect(await attempt(plane.webhooks.requested.splice(0), sender)).toBe(0);
    const errorOf = (uid: string) =>
      plane.table.all().find(({ pk, sk }) => pk === `WEBHOOK#${uid}` && sk.startsWith("DELIVERY#"))?.["attempts"];
    expect(errorOf(deleted)).toMatchObject([{ error: "the webhook is deleted" }]);
    expect(errorOf(disabled)).toMatchObject([{ error: "the webhook is disabled" }]);
  });

  it("are repeated after 90 seconds where the sender has no result", async () => {
    const uid = await create();
    await createRun();
    await streamEvents(plane);
    expect(
      await attempt(
        plane.webhooks.requested.splice(0),
        sends(async () => []),
      ),
    ).toBe(1);
    expect(await listDeliveries(uid)).toMatchObject([{ state: "pending", attempts: [] }]);
    await passMinutes(plane, 1);
    expect(plane.webhooks.sent).toEqual([]);
    await passMinutes(plane, 1);
    expect(await listDeliveries(uid)).toMatchObject([{ state: "delivered" }]);
  });

  it("do not record a result after another attempt has taken the delivery", async () => {
    const uid = await create();
    await createRun();
    await streamEvents(plane);
    const late = sends(async (requests) => {
      await passMinutes(plane, 3);
      return requests.map(({ id }) => ({ id, at: plane.clock.now, duration_ms: 1, status_code: 500 }));
    });
    await attempt(plane.webhooks.requested.splice(0), late);
    expect(await listDeliveries(uid)).toMatchObject([{ state: "delivered", attempts: [{ status_code: 200 }] }]);
  });
});

it("isOfWebhooks is true for webhooks, their deliveries and their mark, and for nothing else", () => {
  const ofWebhooks = [
    keys.webhook("t", "w"),
    keys.delivery("w", 7),
    keys.deliveredEvent("w", "r", 1),
    keys.runDelivery("r", 7),
    keys.teamEvent("t", "e"),
    keys.deliveredTeamEvent("w", "e"),
    keys.webhooksExist(),
  ];
  const others = [
    keys.team("t"),
    keys.secret("t", "w"),
    keys.head("r"),
    keys.event("r", 1),
    { pk: "USER#u", sk: "WEBHOOK#w" },
  ];
  expect([ofWebhooks.map((key) => isOfWebhooks({ ...key })), others.map((key) => isOfWebhooks({ ...key }))]).toEqual([
    ofWebhooks.map(() => true),
    others.map(() => false),
  ]);
});
