import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { routes } from "#infra/routes.ts";
import {
  configuredRateLimits,
  createRateLimitToken,
  DEFAULT_RATE_LIMITS,
  type RateLimitKind,
} from "#shared/limits/token-bucket.ts";
import { routedEndpoints } from "../../../scripts/openapi/endpoints.ts";
import { createClient, request } from "../../support/client.ts";
import { createTestControlPlane, type ResponseBody, type TestControlPlane } from "../../support/control-plane.ts";
import { createRun, workingRun } from "../../support/execution.ts";
import { makeStage, type Stage } from "../../support/principals.ts";
import { bodies, prepare, toTarget } from "../../support/valid-requests.ts";

const LIMITED: Readonly<Record<string, RateLimitKind>> = {
  "POST /agent/runs": "create",
  "POST /agent/run": "create",
  "POST /agent/schedules/{scheduleId}/run": "create",
  "POST /agent/environments/{environmentUid}/try": "create",
  "POST /agent/triggers/{triggerUid}/deliveries/{deliveryId}/redeliver": "create",
  "POST /agent/runs/{runId}/followups": "followup",
  "POST /agent/conversations/{conversationId}/followups": "followup",
  "POST /agent/keys": "key",
  "POST /agent/identities/{identityUid}/keys": "key",
  "POST /session/link": "session",
};
const MINUTE = 60_000;
const keyed = (key: string) => ({ headers: { "idempotency-key": key } });
const tokensTaken = (plane: TestControlPlane) =>
  plane.table.all().flatMap(({ pk, taken }) => (pk.startsWith("BUCKET#") ? [Number(taken)] : []));

it("rate limits apply to exactly the routes that start runs, send follow-ups, create keys and sign-in links", async () => {
  const declared = (await routedEndpoints()).flatMap(({ route, definition }) =>
    "rateLimit" in definition && definition.rateLimit !== undefined
      ? [[`${route.method} ${route.path}`, definition.rateLimit]]
      : [],
  );
  expect(Object.fromEntries(declared)).toEqual(LIMITED);
  for (const { method, path, rights } of routes) {
    if (`${method} ${path}` in LIMITED) expect(rights.table, path).toContain("UpdateItem");
  }
});

describe.each(Object.entries(LIMITED))("%s", (route, kind) => {
  let stage: Stage;
  const send = (principal: "creator" | "teammate" = "creator"): Promise<ResponseBody> => {
    const body = bodies[route]?.(stage);
    const options = { key: stage.key(principal), ...(body === undefined ? {} : { body }) };
    return request(stage.plane, "POST", toTarget(route, stage), options);
  };
  beforeEach(async () => {
    stage = await makeStage();
    await prepare(route, stage);
    // A quarter into a minute without any requests so far.
    stage.plane.clock.now += 1.25 * MINUTE;
    stage.plane.rates[kind] = 2;
  });

  // @contract errors.retry-after.429: A 429 has Retry-After in seconds.
  it("returns 429 and stores nothing while the caller's bucket is empty, until the next minute", async () => {
    expect([(await send()).status, (await send()).status]).toEqual([expect.any(Number), expect.any(Number)]);
    const before = structuredClone(stage.plane.table.all());
    const refused = await send();
    expect(refused).toMatchObject({
      status: 429,
      headers: { "content-type": "application/problem+json", "retry-after": "45", "x-should-retry": "true" },
      body: { error_code: "resource_unavailable", retryable: true },
    });
    expect(stage.plane.table.all()).toEqual(before);
    stage.plane.clock.now += 0.75 * MINUTE - 1;
    expect((await send()).headers).toMatchObject({ "retry-after": "1" });
    stage.plane.clock.now += 1;
    expect((await send()).status).toBeLessThan(300);
  });

  it("counts each caller separately", async () => {
    // Some routes are for admins only.
    const { plane, memberUid } = stage;
    await createClient(plane).put(`/agent/teams/${plane.team}/members/${memberUid}`, { role: "admin" });
    for (let sent = 0; sent < 3; sent++) await send();
    expect((await send()).status).toBe(429);
    expect((await send("teammate")).status).toBeLessThan(300);
  });
});

describe("a rate-limit token", () => {
  let plane: TestControlPlane;
  beforeEach(async () => {
    plane = await createTestControlPlane();
  });

  it("is spent by each of several concurrent requests, up to the limit", async () => {
    plane.rates.create = 5;
    const prompts = Array.from({ length: 20 }, (_, number) => ({ prompt: `run ${number}` }));
    const responses = await Promise.all(prompts.map((body) => createClient(plane).post("/agent/runs", body)));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(5);
    expect(responses.filter(({ status }) => status === 429)).toHaveLength(15);
    expect(plane.table.all().filter(({ sk }) => sk === "HEAD")).toHaveLength(5);
    expect(tokensTaken(plane)).toEqual([5]);
    // The table deletes a bucket two minutes after the start of its minute.
    const [bucket] = plane.table.all().filter(({ pk }) => pk.startsWith("BUCKET#"));
    expect(bucket).toMatchObject({ v: 1, expires_at: plane.clock.now / 1_000 + 120 });
  });

  it("is not required by an endpoint that declares none", () => {
    const token = createRateLimitToken("user:1", undefined, DEFAULT_RATE_LIMITS);
    expect(() => token(0)).toThrow("the endpoint declares no rateLimit");
  });

  it("is not spent by a refused request", async () => {
    plane.rates.create = 1;
    const user = createClient(plane);
    expect((await user.post("/agent/runs", {})).status).toBe(400);
    expect((await user.post("/agent/runs", { prompt: "a", parent_run_id: crypto.randomUUID() })).status).toBe(400);
    expect((await user.post("/agent/runs", { prompt: "a", agent_identity_uid: crypto.randomUUID() })).status).toBe(400);
    expect(tokensTaken(plane)).toEqual([]);
    expect((await user.post("/agent/runs", { prompt: "a" })).status).toBe(200);
  });

  it("is not needed for a repeated request, which gets the first response even with an empty bucket", async () => {
    plane.rates.create = 1;
    plane.rates.followup = 1;
    const user = createClient(plane);
    const first = await user.post("/agent/runs", { prompt: "a" }, keyed("k"));
    const again = await user.post("/agent/runs", { prompt: "a" }, keyed("k"));
    expect(again).toMatchObject({ status: 200, headers: { "idempotent-replay": "true" } });
    expect(again.body.run_id).toBe(first.body.run_id);
    expect((await user.post("/agent/runs", { prompt: "a" }, keyed("other"))).status).toBe(429);
    expect((await user.post("/agent/runs", { prompt: "b" }, keyed("k"))).status).toBe(409);

    const target = `/agent/runs/${first.body.run_id}/followups`;
    const retry = { headers: { "x-stainless-retry-count": "1" } };
    expect((await user.post(target, { message: "more" })).status).toBe(200);
    expect(await user.post(target, { message: "more" }, retry)).toMatchObject({
      status: 200,
      headers: { "idempotent-replay": "true" },
    });
    expect((await user.post(target, { message: "and more" })).status).toBe(429);
    expect(tokensTaken(plane)).toEqual([1, 1]);
  });

  it("is taken from a run's own bucket for requests with its key", async () => {
    const parent = await workingRun(plane);
    plane.rates.create = 1;
    const child = { prompt: "child", parent_run_id: parent.run_id };
    expect((await parent.client.post("/agent/runs", child)).status).toBe(200);
    expect((await parent.client.post("/agent/runs", { ...child, prompt: "twin" })).status).toBe(429);
    plane.clock.now += MINUTE;
    expect(await createRun(plane)).toEqual(expect.any(String));
    expect((await parent.client.post("/agent/runs", { ...child, prompt: "twin" })).status).toBe(200);
  });

  it("is spent once by a run that a second transaction makes wait for capacity", async () => {
    plane.rates.create = 21;
    const responses: ResponseBody[] = [];
    for (let number = 0; number < 22; number++) {
      responses.push(await createClient(plane).post("/agent/runs", { prompt: `run ${number}` }));
    }
    expect(responses.map(({ status }) => status)).toEqual([...Array.from({ length: 21 }, () => 200), 429]);
    expect(tokensTaken(plane)).toEqual([21]);
  });
});

describe("the number of rate-limit tokens", () => {
  const names = [
    "CREATES_PER_MINUTE",
    "FOLLOWUPS_PER_MINUTE",
    "KEYS_PER_MINUTE",
    "TRIGGER_EVENTS_PER_MINUTE",
    "THREAD_EVENTS_PER_MINUTE",
  ] as const;
  afterEach(() => {
    for (const name of names) delete process.env[name];
  });

  it("is a setting of the deployment with defaults", () => {
    expect(configuredRateLimits()).toEqual(DEFAULT_RATE_LIMITS);
    Object.assign(process.env, { CREATES_PER_MINUTE: "7", FOLLOWUPS_PER_MINUTE: "8", KEYS_PER_MINUTE: "9" });
    Object.assign(process.env, { TRIGGER_EVENTS_PER_MINUTE: "10", THREAD_EVENTS_PER_MINUTE: "11" });
    const set = { create: 7, followup: 8, key: 9, trigger: 10, thread: 11 };
    expect(configuredRateLimits()).toEqual({ ...DEFAULT_RATE_LIMITS, ...set });
  });

  it("is rejected if it is not a number", () => {
    process.env["KEYS_PER_MINUTE"] = "many";
    expect(configuredRateLimits).toThrow();
  });
});
