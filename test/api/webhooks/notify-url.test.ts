import { beforeEach, describe, expect, it } from "vitest";
import { keys } from "#shared/table/keys.ts";
import { memorySecretVault } from "#shared/vault/memory-secret-vault.ts";
import { BACK_OFF_SECONDS } from "#shared/webhooks/attempt-deliveries.ts";
import { sendRequests } from "#shared/webhooks/send-webhooks.ts";
import { verifyWebhook } from "../../../clients/typescript/src/webhook.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createRun, deliver, type Harness, nextExecution, workingRun } from "../../support/execution.ts";
import { runRetentionPass } from "../../support/retention.ts";
import { attemptRequested, deliverEvents, passMinutes, streamEvents } from "../../support/webhooks.ts";

const URL = "https://hooks.runyard.test/ended?token=hush";
const REQUEST = { prompt: "hello", notify_url: URL };
const HOUR_MS = 3_600_000;

let plane: TestControlPlane;
let user: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
});

const create = (more: object = {}, options = {}) => user.post("/agent/runs", { ...REQUEST, ...more }, options);
const bodies = () => plane.webhooks.sent.map(({ body }) => JSON.parse(body));
const ids = () => plane.webhooks.sent.map(({ id }) => id);
/** Items of deliveries. */
const stored = () => plane.table.all().filter(({ sk }) => sk.startsWith("DELIVERY#"));

/** Plans and attempts deliveries as the service does after events. */
const notify = () => deliverEvents(plane);

async function finish(harness: Harness, success = true): Promise<void> {
  expect((await harness.finish(success)).status).toBe(200);
  await deliver(plane);
}

/** Sends the latest request as the sending function does, and returns what its receiver gets. */
async function receive(): Promise<{ headers: Record<string, string>; body: string; url: string }> {
  const received: { headers: Record<string, string>; body: string; url: string }[] = [];
  await sendRequests(plane.webhooks.sent.slice(-1), {
    webhookSecrets: memorySecretVault(),
    now: Date.now,
    async fetch(url, { headers = {}, body = "" } = {}) {
      received.push({ headers, body: String(body), url });
      return new Response(null, { status: 204 });
    },
  });
  return received[0] ?? expect.fail();
}

describe("notify_url of POST /agent/runs", () => {
  // @contract notify.end: notify_url gets the terminal event of its run.
  it.each([
    ["team", true],
    ["personal", false],
  ])("receives the end of a %s run once, and nothing else", async (_, team) => {
    const harness = await workingRun(plane, { ...REQUEST, team, metadata: { ticket: "SHOP-1" } });
    await notify();
    expect(plane.webhooks.sent).toEqual([]);
    await finish(harness);
    await notify();
    await notify();
    const { run_id } = harness;
    expect(bodies()).toEqual([
      {
        type: "run_succeeded",
        timestamp: expect.any(String),
        data: {
          webhook_uid: run_id,
          sequence: expect.any(Number),
          run_id,
          run_sequence: expect.any(Number),
          state: "SUCCEEDED",
          title: "hello",
          metadata: { ticket: "SHOP-1" },
          session_link: `https://runyard.test/runs/${run_id}`,
          event: expect.any(Object),
        },
      },
    ]);
    const [{ data }] = bodies();
    expect(data.sequence).toBe(data.run_sequence);
    expect(plane.webhooks.sent).toMatchObject([{ url: URL, id: `${run_id}-${data.run_sequence}` }]);
  });

  // @contract notify.signed: What notify_url gets is signed.
  it("is signed with the notify_secret of the response, which no item of the table and no later response contains", async () => {
    const { status, body } = await create();
    expect(status).toBe(200);
    expect(body.notify_secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    await user.post(`/agent/runs/${body.run_id}/cancel`);
    await notify();
    const received = await receive();
    expect(received.url).toBe(URL);
    expect(await verifyWebhook(body.notify_secret, received.headers, received.body)).toMatchObject({
      type: "run_cancelled",
      data: { run_id: body.run_id, state: "CANCELLED" },
    });
    const other = (await create()).body.notify_secret;
    expect(other).not.toBe(body.notify_secret);
    await expect(verifyWebhook(other, received.headers, received.body)).rejects.toThrow("signature");
    expect(JSON.stringify(plane.table.all())).not.toContain(body.notify_secret.slice(6));
    const shown = await user.get(`/agent/runs/${body.run_id}`);
    const events = await user.get(`/agent/runs/${body.run_id}/events`);
    const list = await user.get("/agent/runs");
    expect(JSON.stringify([shown.body, events.body, list.body])).not.toMatch(/whsec_|hush|hooks\.runyard/);
  });

  it("has the same secret for a repeat of the request, and in the response that waits for the end", async () => {
    const headers = { "idempotency-key": "key-1" };
    const first = await create({}, { headers });
    await user.post(`/agent/runs/${first.body.run_id}/cancel`);
    const second = await create({}, { headers });
    expect(second).toMatchObject({ status: 200, headers: { "idempotent-replay": "true" } });
    expect(second.body.notify_secret).toBe(first.body.notify_secret);
    const third = await user.post("/agent/runs?wait=1", REQUEST, { headers });
    expect(third.body).toMatchObject({ state: "CANCELLED", prompt: "hello", notify_secret: first.body.notify_secret });
  });

  it("is signed with secrets that one read of the signing key derives, where several runs end together", async () => {
    const runs = [await create(), await create(), await create()];
    for (const { body } of runs) await user.post(`/agent/runs/${body.run_id}/cancel`);
    await streamEvents(plane);
    const { get } = plane.ports.table;
    let reads = 0;
    plane.ports.table.get = async (key) => {
      if (key.pk === keys.signing("1").pk) reads++;
      return get(key);
    };
    await attemptRequested(plane);
    expect(plane.webhooks.sent.map((sent) => "secret" in sent && sent.secret).toSorted()).toEqual(
      runs.map(({ body }) => body.notify_secret).toSorted(),
    );
    expect(reads).toBe(1);
  });

  it("receives a later end after a follow-up, with another id", async () => {
    const harness = await workingRun(plane, REQUEST);
    await finish(harness, false);
    await notify();
    await user.post(`/agent/runs/${harness.run_id}/followups`, { message: "go on" });
    const next = await nextExecution(plane);
    await next.resolve();
    expect((await next.beat(1)).status).toBe(200);
    await finish(next);
    await notify();
    expect(bodies().map(({ type }) => type)).toEqual(["run_failed", "run_succeeded"]);
    expect(new Set(ids()).size).toBe(2);
  });

  it("is attempted again with back-off under the same id, until the receiver responds with 2xx", async () => {
    plane.webhooks.respond = () => ({ status_code: 500 });
    const { body } = await create();
    await user.post(`/agent/runs/${body.run_id}/cancel`);
    await notify();
    for (const seconds of BACK_OFF_SECONDS.slice(0, 2)) await passMinutes(plane, seconds / 60);
    plane.webhooks.respond = () => ({ status_code: 204 });
    await passMinutes(plane, 15);
    await passMinutes(plane, 60);
    expect(ids()).toHaveLength(4);
    expect(new Set(ids()).size).toBe(1);
    expect(stored()).toMatchObject([{ state: "delivered", tries: 4 }]);
  });

  it.each([
    [410, 1],
    [500, 10],
  ])("is given up after %s at the attempt %s", async (status_code, count) => {
    plane.webhooks.respond = () => ({ status_code });
    const { body } = await create();
    await user.post(`/agent/runs/${body.run_id}/cancel`);
    await notify();
    for (const seconds of [...BACK_OFF_SECONDS, 36_000]) await passMinutes(plane, seconds / 60);
    expect(ids()).toHaveLength(count);
    expect(stored()).toMatchObject([{ state: "failed" }]);
  });

  it("receives its event in addition to the webhooks of the team", async () => {
    const { body: webhook } = await user.post("/agent/webhooks", {
      url: "https://other.runyard.test/",
      event_types: ["run_cancelled"],
    });
    const { body } = await create();
    await user.post(`/agent/runs/${body.run_id}/cancel`);
    await notify();
    expect(plane.webhooks.sent.map(({ url }) => url).toSorted()).toEqual([URL, "https://other.runyard.test/"]);
    expect((await user.get(`/agent/webhooks/${webhook.uid}/deliveries`)).body.deliveries).toHaveLength(1);
  });

  // @contract notify.guard: notify_url is guarded like a webhook.
  it.each([
    ["plain HTTP", "http://hooks.runyard.test/", "must be an https URL"],
    ["credentials", "https://ada:hush@hooks.runyard.test/", "must be an https URL without credentials and fragment"],
    ["a private address", "https://10.0.0.8/", "must lead to the internet, not to a private address"],
    ["cloud metadata", "https://169.254.169.254/latest", "must lead to the internet, not to a private address"],
    ["this machine", "https://localhost/", "must lead to the internet, not to a private address"],
    ["more than 2,048 bytes", `https://hooks.runyard.test/${"a".repeat(2_048)}`, expect.stringContaining("2048")],
    ["an empty text", "", expect.any(String)],
  ])("returns 400 and creates nothing for %s", async (_, notify_url, message) => {
    expect(await create({ notify_url })).toMatchObject({
      status: 400,
      body: { errors: [{ path: "notify_url", message }] },
    });
    expect((await user.get("/agent/runs")).body.runs).toEqual([]);
  });

  it("returns the same error as a webhook where the deployment sends no events", async () => {
    plane.webhooks.isAvailable = false;
    const { body } = await user.post("/agent/webhooks", { url: URL });
    expect(await create()).toMatchObject({
      status: 422,
      body: { error_code: "operation_not_supported", detail: body.detail },
    });
  });

  it("is refused to a run's own key with 403, and not inherited by child runs", async () => {
    const parent = await workingRun(plane, REQUEST);
    expect(await parent.client.post("/agent/runs", REQUEST)).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining("notify_url") },
    });
    const child = await createRun(plane, { prompt: "a part" }, parent.key);
    await user.post(`/agent/runs/${child}/cancel`);
    await notify();
    expect(plane.webhooks.sent).toEqual([]);
  });

  it("is checked by a dry run, which stores nothing", async () => {
    const before = plane.table.all().length;
    const dry = async (notify_url: string) =>
      (await user.post("/agent/runs?dry_run=true", { prompt: "hello", notify_url })).body;
    expect((await dry(URL)).would_start).toBe(true);
    expect(await dry("https://10.0.0.8/")).toMatchObject({
      would_start: false,
      findings: expect.arrayContaining([expect.objectContaining({ severity: "error" })]),
    });
    expect(plane.table.all()).toHaveLength(before);
  });

  it("is deleted with its run: no further attempt is made, and no item contains it", async () => {
    plane.webhooks.respond = () => ({ status_code: 500 });
    const harness = await workingRun(plane, REQUEST);
    await finish(harness);
    await notify();
    const { run_id, conversation_id } = (await user.get(`/agent/runs/${harness.run_id}`)).body;
    // A run that continues the conversation keeps the turns of the deleted one.
    await createRun(plane, { prompt: "more", conversation_id });
    expect((await user.delete(`/agent/runs/${run_id}`)).status).toBe(204);
    await passMinutes(plane, 1);
    expect(plane.webhooks.sent).toHaveLength(1);
    expect(stored()).toMatchObject([{ state: "failed", attempts: [{}, { error: "the run is deleted" }] }]);
    plane.clock.now += HOUR_MS;
    await runRetentionPass(plane.ports);
    expect(stored()).toEqual([]);
    expect(JSON.stringify(plane.table.all())).not.toContain("hooks.runyard.test");
  });
});
