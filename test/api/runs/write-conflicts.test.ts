import { beforeEach, describe, expect, it } from "vitest";
import { trustRuleKey } from "#shared/records/trust-rule.ts";
import { keys } from "#shared/table/keys.ts";
import type { Key } from "#shared/table/table.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type ResponseBody, type TestControlPlane } from "../../support/control-plane.ts";
import { makeSchedule, nightly } from "../../support/schedules.ts";
import { withFailingWrites, withWriteInBetween } from "../../support/write-conflicts.ts";

let plane: TestControlPlane;
let user: Client;
let identity: string;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
  identity = (await user.post("/agent/identities", { name: "Reviewer" })).body.uid;
});

const rule = { issuer: "https://issuer.example", audience: "a", subject_pattern: "b" };
const addRule = async (): Promise<string> =>
  (await user.post(`/agent/identities/${identity}/trust-rules`, rule)).body.uid;
const addEnvironment = async (): Promise<string> => (await user.post("/agent/environments", { name: "Shop" })).body.uid;
const ruleKey = (uid: string): Key => trustRuleKey({ team_uid: plane.team, identity_uid: identity, uid });
const team = () => ({ type: "Team", uid: plane.team }) as const;

interface Change {
  /** The item that other requests change. */
  readonly key: Key;
  readonly send: () => Promise<ResponseBody>;
}
type Prepare = () => Change | Promise<Change>;

const KEYS = "the keys are changed by other requests; send the request again";
const RULE = "the trust rule is changed by other requests; send the request again";
const MEMBERS = "the team's members are changed by other requests; send the request again";
const SCHEDULE = "the schedule is changed by other requests; send the request again";
const ENVIRONMENT = "the environment has changed; send the request again";

const ofSchedule = (send: (path: string) => Promise<ResponseBody>) => async (): Promise<Change> => {
  const { id } = await makeSchedule(plane);
  return { key: keys.schedule(id), send: () => send(`/agent/schedules/${id}`) };
};
const ofMember = (send: (path: string) => Promise<ResponseBody>) => async (): Promise<Change> => {
  const { uid } = await plane.person("Mia");
  return { key: keys.member(plane.team, uid), send: () => send(`/agent/teams/${plane.team}/members/${uid}`) };
};
const ofRule = (send: (path: string) => Promise<ResponseBody>) => async (): Promise<Change> => {
  const uid = await addRule();
  return { key: ruleKey(uid), send: () => send(`/agent/identities/${identity}/trust-rules/${uid}`) };
};

const changes: readonly [name: string, attempts: number, detail: string, prepare: Prepare][] = [
  [
    "POST /agent/keys",
    25,
    KEYS,
    () => ({ key: keys.userKeys(plane.user), send: () => user.post("/agent/keys", { name: "a" }) }),
  ],
  [
    "DELETE /agent/keys/{keyUid}",
    25,
    KEYS,
    async () => {
      const { uid } = (await user.post("/agent/keys", { name: "a" })).body;
      return { key: keys.userKeys(plane.user), send: () => user.delete(`/agent/keys/${uid}`) };
    },
  ],
  [
    "POST /agent/identities/{identityUid}/keys",
    25,
    KEYS,
    () => ({
      key: keys.identityKeys(plane.team, identity),
      send: () => user.post(`/agent/identities/${identity}/keys`, { name: "a" }),
    }),
  ],
  [
    "DELETE /agent/identities/{identityUid}",
    8,
    "the identity is changed by other requests; send the request again",
    () => ({ key: keys.identity(plane.team, identity), send: () => user.delete(`/agent/identities/${identity}`) }),
  ],
  ["PUT …/trust-rules/{ruleUid}", 8, RULE, ofRule((path) => user.put(path, rule))],
  ["DELETE …/trust-rules/{ruleUid}", 8, RULE, ofRule((path) => user.delete(path))],
  ["PUT …/members/{userUid}", 8, MEMBERS, ofMember((path) => user.put(path, { role: "admin" }))],
  ["DELETE …/members/{userUid}", 8, MEMBERS, ofMember((path) => user.delete(path))],
  [
    "PUT /agent/me",
    1,
    "your teams changed meanwhile; send the request again",
    () => ({ key: keys.user(plane.user), send: () => user.put("/agent/me", { display_name: "Ada L." }) }),
  ],
  [
    "PUT /agent/schedules/{scheduleId}",
    8,
    SCHEDULE,
    ofSchedule((path) => user.put(path, { ...nightly, enabled: true })),
  ],
  ["POST /agent/schedules/{scheduleId}/pause", 8, SCHEDULE, ofSchedule((path) => user.post(`${path}/pause`))],
  ["DELETE /agent/schedules/{scheduleId}", 8, SCHEDULE, ofSchedule((path) => user.delete(path))],
  ["POST /agent/schedules/{scheduleId}/run", 8, SCHEDULE, ofSchedule((path) => user.post(`${path}/run`))],
  [
    "DELETE /agent/environments/{environmentUid}",
    8,
    "the environment is changed by other requests; send the request again",
    async () => {
      const uid = await addEnvironment();
      return { key: keys.environment(uid), send: () => user.delete(`/agent/environments/${uid}`) };
    },
  ],
  [
    "POST …/share with a person",
    1,
    ENVIRONMENT,
    async () => {
      const [uid, guest] = [await addEnvironment(), await plane.person("Gus", [])];
      const send = () => user.post(`/agent/environments/${uid}/share`, { user_uid: guest.uid });
      return { key: keys.environment(uid), send };
    },
  ],
  [
    "DELETE …/share with a person",
    1,
    ENVIRONMENT,
    async () => {
      const [uid, guest] = [await addEnvironment(), await plane.person("Gus", [])];
      const body = { user_uid: guest.uid };
      await user.post(`/agent/environments/${uid}/share`, body);
      const send = () => user.delete(`/agent/environments/${uid}/share`, { body });
      return { key: keys.environment(uid), send };
    },
  ],
  [
    "DELETE /agent/teams/{teamUid}",
    1,
    "the team changes while it is deleted; send the request again",
    () => ({ key: keys.identity(plane.team, identity), send: () => user.delete(`/agent/teams/${plane.team}`) }),
  ],
];

describe.each(changes)("%s", (_, attempts, detail, prepare) => {
  it(`returns 409 for a retry after ${attempts} attempts while other requests change the same item`, async () => {
    const { key, send } = await prepare();
    const refused = await withFailingWrites(plane, key, send);
    expect(refused.result).toMatchObject({ status: 409, body: { error_code: "conflict", detail, retryable: true } });
    expect(refused.attempts).toBe(attempts);
    expect((await send()).status).toBeLessThan(300);
  });

  it("returns 500 immediately if the table fails", async () => {
    const { key, send } = await prepare();
    const failed = await withFailingWrites(plane, key, send, new Error("the table does not respond"));
    expect(failed.result).toMatchObject({ status: 500, body: { error_code: "internal_error" } });
    expect(failed.attempts).toBe(1);
  });
});

interface Creation {
  readonly send: (headers: Readonly<Record<string, string>>) => Promise<ResponseBody>;
  /** Deletes the resource of the response. */
  readonly remove?: (body: ResponseBody["body"]) => Promise<ResponseBody>;
}

const post =
  (path: string, body?: object, client = user): Creation["send"] =>
  (headers) =>
    client.post(path, body, { headers });
const rules = () => `/agent/identities/${identity}/trust-rules`;
const scheduled = (action: string) => async (): Promise<Creation> => {
  const { id } = await makeSchedule(plane);
  return { send: post(`/agent/schedules/${id}/${action}`) };
};

const replayed: readonly [name: string, prepare: () => Creation | Promise<Creation>][] = [
  [
    "POST /agent/identities",
    () => ({
      send: post("/agent/identities", { name: "Builder" }),
      remove: ({ uid }) => user.delete(`/agent/identities/${uid}`),
    }),
  ],
  ["POST …/trust-rules", () => ({ send: post(rules(), rule), remove: ({ uid }) => user.delete(`${rules()}/${uid}`) })],
  [
    "POST /agent/teams",
    () => ({ send: post("/agent/teams", { name: "Gamma" }), remove: ({ uid }) => user.delete(`/agent/teams/${uid}`) }),
  ],
  [
    "POST /agent/invitations/{token}/accept",
    async () => {
      const email = "bo@runyard.test";
      const { link } = (await user.post(`/agent/teams/${plane.team}/invitations`, { email })).body;
      const bo = createClient(plane, plane.otherKey);
      return { send: post(`/agent/invitations/${link.split("/").at(-1)}/accept`, undefined, bo) };
    },
  ],
  [
    "POST /agent/schedules",
    () => ({ send: post("/agent/schedules", nightly), remove: ({ id }) => user.delete(`/agent/schedules/${id}`) }),
  ],
  ["POST /agent/schedules/{scheduleId}/pause", scheduled("pause")],
  ["POST /agent/schedules/{scheduleId}/run", scheduled("run")],
  [
    "POST /agent/environments",
    () => ({
      send: post("/agent/environments", { name: "Shop" }),
      remove: ({ uid }) => user.delete(`/agent/environments/${uid}`),
    }),
  ],
  [
    "POST …/share with a person",
    async () => {
      const { uid } = await plane.person("Gus", []);
      return { send: post(`/agent/environments/${await addEnvironment()}/share`, { user_uid: uid }) };
    },
  ],
];

const RETRY = { "x-stainless-retry-count": "1" };

describe.each(replayed)("%s", (_, prepare) => {
  it("returns the result of its own retry if that overtook it", async () => {
    const { send } = await prepare();
    const [retry, late] = await Promise.all([send(RETRY), send({})]);
    expect(retry.status).toBeLessThan(300);
    expect(retry.headers).not.toHaveProperty("idempotent-replay");
    expect(late).toMatchObject({ status: retry.status, headers: { "idempotent-replay": "true" }, body: retry.body });
  });

  it("has one effect for concurrent requests with one Idempotency-Key", async () => {
    const { send } = await prepare();
    const responses = await Promise.all([1, 2, 3].map(() => send({ "idempotency-key": "one" })));
    const [{ status } = { status: 0 }] = responses;
    expect(status).toBeLessThan(300);
    expect(responses.map((response) => response.status)).toEqual([status, status, status]);
    expect(responses.filter(({ headers }) => headers["idempotent-replay"] === "true")).toHaveLength(2);
  });

  it("returns 500 immediately if the table fails", async () => {
    const { send } = await prepare();
    const failed = await withFailingWrites(plane, "any", () => send({}), new Error("the table does not respond"));
    expect([failed.result.status, failed.attempts]).toEqual([500, 1]);
    expect((await send({})).status).toBeLessThan(300);
  });

  it("returns 409 to a repeated request after the created resource was deleted", async () => {
    const { send, remove } = await prepare();
    const first = await send({ "idempotency-key": "one" });
    if (remove === undefined) return expect(first.status).toBe(200);
    expect((await remove(first.body)).status).toBeLessThan(300);
    const again = await send({ "idempotency-key": "one" });
    expect(again).toMatchObject({ status: 409, body: { error_code: "conflict", retryable: false } });
    expect(again.body.detail).toMatch(/deleted/);
  });
});

const shownOnce: readonly [name: string, what: RegExp, prepare: () => Creation | Promise<Creation>][] = [
  ["POST /agent/keys", /already created the key/, () => ({ send: post("/agent/keys", { name: "a" }) })],
  [
    "POST …/identities/{identityUid}/keys",
    /already created the key/,
    () => ({ send: post(`/agent/identities/${identity}/keys`, { name: "a" }) }),
  ],
  [
    "POST …/invitations",
    /already created the invitation/,
    () => ({ send: post(`/agent/teams/${plane.team}/invitations`, { email: "new@runyard.test" }) }),
  ],
  [
    "POST …/share by link",
    /has created a link already/,
    async () => ({ send: post(`/agent/environments/${await addEnvironment()}/share`, { link: true }) }),
  ],
];

describe.each(shownOnce)("%s, whose response is shown once,", (_, detail, prepare) => {
  it("returns 409 to the first attempt if its retry arrived first", async () => {
    const { send } = await prepare();
    expect((await send(RETRY)).status).toBeLessThan(300);
    const late = await send({});
    expect(late).toMatchObject({ status: 409, body: { error_code: "conflict", retryable: false } });
    expect(late.body.detail).toMatch(detail);
  });

  it("succeeds once for concurrent requests with one Idempotency-Key", async () => {
    const { send } = await prepare();
    const responses = await Promise.all([1, 2, 3].map(() => send({ "idempotency-key": "one" })));
    expect(responses.filter(({ status }) => status < 300)).toHaveLength(1);
    for (const { body } of responses.filter(({ status }) => status === 409)) expect(body.detail).toMatch(detail);
  });
});

describe("a key that is created", () => {
  const path = () => `/agent/identities/${identity}/keys`;
  const isListOf = (uid: string) => (write: { kind: string; item?: Key; key?: Key }) => {
    const { sk } = write.item ?? write.key ?? { sk: "" };
    return sk === keys.identityKeys("", uid).sk;
  };

  it("is listed and deletable if the first two keys of an identity are created concurrently", async () => {
    const made = await Promise.all(["a", "b"].map((name) => user.post(path(), { name })));
    expect(made.map(({ status }) => status)).toEqual([201, 201]);
    const uids = made.map(({ body }) => body.uid).toSorted();
    expect((await user.get(path())).body.keys.map(({ uid }: { uid: string }) => uid)).toEqual(uids);
  });

  it.each([0, 1])("is deleted with its identity, which had %i keys before", async (before) => {
    for (let count = 0; count < before; count++) await user.post(path(), { name: "earlier" });
    const made: ResponseBody[] = [];
    const create = async () => void made.push(await user.post(path(), { name: "late" }));
    const remove = () => user.delete(`/agent/identities/${identity}`);
    expect((await withWriteInBetween(plane, isListOf(identity), create, remove)).status).toBe(204);
    expect(made).toMatchObject([{ status: 201 }]);
    expect((await createClient(plane, made[0]?.body.key).get("/agent/runs")).status).toBe(401);
    expect(plane.table.all().filter((item) => item["identity_uid"] === identity)).toEqual([]);
  });

  it("is not created for an identity that is deleted concurrently", async () => {
    const remove = () => user.delete(`/agent/identities/${identity}`);
    const create = () => user.post(path(), { name: "late" });
    const response = await withWriteInBetween(plane, isListOf(identity), remove, create);
    expect(response).toMatchObject({ status: 404, body: { detail: "there is no such identity" } });
    expect(plane.table.all().filter((item) => item["identity_uid"] === identity)).toEqual([]);
  });
});

describe("a team whose deletion is refused", () => {
  it.each([
    ["its default queue", {}, 1_000],
    ["its own queue", { queue_limit: 7 }, 7],
  ])("accepts runs again, with %s, if a schedule was created meanwhile", async (_, settings, queue_limit) => {
    const path = `/agent/teams/${plane.team}`;
    await user.put(path, { settings });
    const isClosing = (write: object) => "key" in write && "set" in write && JSON.stringify(write).includes('"closed"');
    const response = await withWriteInBetween(
      plane,
      isClosing,
      () => makeSchedule(plane),
      () => user.delete(path),
    );
    expect(response).toMatchObject({
      status: 409,
      body: { detail: "the team has schedules: delete them first", retryable: false },
    });
    expect((await user.get(path)).body.settings.queue_limit).toBe(queue_limit);
    const counters = await plane.table.get(keys.counters(team()));
    expect(counters?.["queue_limit"]).toBe(queue_limit === 1_000 ? undefined : queue_limit);
    expect((await user.post("/agent/runs", { prompt: "a" })).status).toBe(200);
    expect((await user.post("/agent/secrets", { name: "TOKEN", value: "hush" })).status).toBe(201);
  });
});
