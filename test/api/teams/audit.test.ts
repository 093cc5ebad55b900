import { describe, expect, it, vi } from "vitest";
import { type Route, routes } from "#infra/routes.ts";
import { isRecorded, toAction } from "#shared/http/audit/action.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane } from "../../support/control-plane.ts";
import { makeStage, type Stage } from "../../support/principals.ts";
import { makeSchedule } from "../../support/schedules.ts";
import { bodies, ISSUER_ROUTES, prepare, toTarget } from "../../support/valid-requests.ts";
import { startSession } from "../../support/web-sessions.ts";

const nameOf = ({ method, path }: Route): string => `${method} ${path}`;

/** The routes that change something on behalf of a caller. */
const changing = routes.filter(
  ({ method, who, scope }) => method !== "GET" && method !== "ANY" && who !== "public" && !scope.startsWith("own "),
);
/** The requests of the stage that find nothing to change. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set([
  "POST /agent/runs/cancel",
  "POST /agent/runs/unarchive",
  "POST /agent/runs/{runId}/unarchive",
  "POST /agent/webhooks/{webhookUid}/redeliver",
]);

const recorded = changing.map(nameOf).filter((name) => isRecorded(name) && !ISSUER_ROUTES.has(name));

async function listEvents(client: Client, query = ""): Promise<Record<string, unknown>[]> {
  const { status, body } = await client.get(`/agent/audit${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.events;
}

it("every action names the kind of thing that it changes", () => {
  const types = recorded.map((route) => toAction(route.replace(" ", " /api/v1")).type);
  expect([...new Set(types)].toSorted()).toEqual([
    ...[
      "claim",
      "conversation",
      "delivery",
      "environment",
      "followup",
      "identity",
      "installation",
      "invitation",
      "key",
      "member",
      "run",
      "schedule",
      "secret",
    ],
    ...["session", "team", "trigger", "trust_rule", "user", "webhook"],
  ]);
});

describe("an event of the audit log", () => {
  // @contract audit.members: An event says who, by what, what, of which thing, in which request and with which members.
  it("says who created a key, by what, from where, and with which members", async () => {
    const plane = await createTestControlPlane();
    const client = createClient(plane);
    const { body: key } = await client.post("/agent/keys", { name: "laptop", max_runs_per_day: 3 });
    const [event, ...others] = await listEvents(client);
    expect(others).toEqual([]);
    expect(event).toEqual({
      id: expect.any(String),
      at: "2026-05-18T19:00:00.000Z",
      actor: { type: "user", uid: plane.user, display_name: "Ada", email: "ada@runyard.test" },
      via: "key",
      key_suffix: plane.key.slice(-4),
      action: "keys.create",
      target: { type: "key", uid: key.uid, name: "laptop" },
      request_id: "request-1",
      ip: "127.0.0.1",
      changes: ["name", "max_runs_per_day"],
    });
    plane.clock.now++;
    await client.delete(`/agent/keys/${key.uid}`);
    expect((await listEvents(client))[0]).toMatchObject({
      action: "keys.delete",
      target: { type: "key", uid: key.uid },
    });
  });

  // @contract audit.via: via says what the request was authenticated with, or what acted.
  it("names a web session as what was used, without a key", async () => {
    const plane = await createTestControlPlane();
    const { headers } = await startSession(plane);
    await createClient(plane).post("/agent/identities", { name: "Reviewer" }, { key: undefined, headers });
    const [event] = await listEvents(createClient(plane));
    expect(event).toMatchObject({ action: "identities.create", via: "session", target: { name: "Reviewer" } });
    expect(event).not.toHaveProperty("key_suffix");
  });

  // @contract audit.values: No values of secrets and no prompts are in the log.
  it("has no value of a secret", async () => {
    const plane = await createTestControlPlane();
    const client = createClient(plane);
    await client.post("/agent/secrets", { name: "TOKEN", value: "hush-hush" });
    plane.clock.now++;
    await client.delete("/agent/secrets/TOKEN");
    const events = await listEvents(client);
    expect(events.map(({ action, target, changes }) => ({ action, target, changes }))).toEqual([
      { action: "secrets.delete", target: { type: "secret", uid: "TOKEN", name: "TOKEN" }, changes: undefined },
      { action: "secrets.create", target: { type: "secret", uid: "TOKEN" }, changes: ["name", "value"] },
    ]);
    expect(JSON.stringify(events)).not.toContain("hush-hush");
  });

  it("has the name of a schedule that is created", async () => {
    const plane = await createTestControlPlane();
    const client = createClient(plane);
    const schedule = { name: "Nightly", cron_schedule: "0 3 * * *", prompt: "Go.", team: true };
    const { body } = await client.post("/agent/schedules", schedule);
    const [event] = await listEvents(client);
    expect(event).toMatchObject({ target: { type: "schedule", uid: body.id, name: "Nightly" } });
  });

  it("is not written by a request that changes nothing", async () => {
    const plane = await createTestControlPlane();
    const client = createClient(plane);
    const headers = { "idempotency-key": "once" };
    await client.post("/agent/identities", { name: "Reviewer" }, { headers });
    await client.post("/agent/identities", { name: "Reviewer" }, { headers });
    await client.post("/agent/identities", { name: "Reviewer" });
    await client.delete("/agent/keys/0190a000-0000-7000-8000-000000000000");
    expect(await listEvents(client)).toHaveLength(1);
  });

  it("is not shown of a person's own things", async () => {
    const plane = await createTestControlPlane();
    const client = createClient(plane);
    const { body: own } = await client.post("/agent/environments", { name: "Mine", team: false });
    await client.put(`/agent/environments/${own.uid}`, { description: "private" });
    await client.delete(`/agent/environments/${own.uid}`);
    expect(await listEvents(client)).toEqual([]);
  });

  // @contract audit.event: There is one event for every request that changed something.
  it.each(recorded)("is written once by %s, if it changes something", async (name) => {
    const stage = await makeStage();
    await prepare(name, stage);
    const before = new Set(readStored(stage).map(({ sk }) => sk));
    const [method = ""] = name.split(" ");
    const client = createClient(stage.plane);
    const target = toTarget(name, stage);
    const body = bodies[name]?.(stage);
    const response =
      method === "DELETE"
        ? await client.delete(target, body === undefined ? {} : { body })
        : await (method === "PUT" ? client.put(target, body) : client.post(target, body));
    expect(response.status, JSON.stringify(response.body)).toBeLessThan(300);
    const written = readStored(stage).filter(({ sk }) => !before.has(sk));
    const expected = [{ action: toAction(name).name, actor: { uid: stage.plane.user } }];
    expect(written).toMatchObject(WITHOUT_EFFECT.has(name) ? [] : expected);
  });
});

describe("the audit log", () => {
  it("has one event for runs that are cancelled together, archived and shown again", async () => {
    const plane = await createTestControlPlane();
    const client = createClient(plane);
    const { body: run } = await client.post("/agent/runs", { prompt: "private words" });
    await client.post("/agent/runs", { prompt: "private words" });
    for (const path of [
      "/agent/runs/cancel",
      `/agent/runs/${run.run_id}/archive`,
      `/agent/runs/${run.run_id}/unarchive`,
    ]) {
      plane.clock.now++;
      await client.post(path, path.endsWith("cancel") ? { filter: { state: ["QUEUED"], q: "private" } } : undefined);
    }
    const events = (await listEvents(client)).filter(({ action }) => action !== "runs.create");
    expect(events.map(({ action, target }) => ({ action, target }))).toEqual([
      { action: "runs.unarchive", target: { type: "run", uid: run.run_id } },
      { action: "runs.archive", target: { type: "run", uid: run.run_id } },
      { action: "runs.cancel", target: { type: "team", uid: plane.team } },
    ]);
    expect(events.at(-1)).toMatchObject({ filter: { state: ["QUEUED"], q: "***" }, matched: 2 });
    expect(JSON.stringify(events)).not.toContain("private");
  });

  it("has an event in each team whose runs one request changes, with the number of that team's runs", async () => {
    const plane = await createTestControlPlane();
    const client = createClient(plane);
    const { body: second } = await client.post("/agent/teams", { name: "Second" });
    for (const team of [plane.team, second.uid, second.uid, undefined]) {
      const headers: Record<string, string> = team === undefined ? {} : { "x-team-uid": team };
      await client.post("/agent/runs", { prompt: "one of many", team: team !== undefined }, { headers });
    }
    for (const path of ["cancel", "archive"]) {
      plane.clock.now++;
      expect((await client.post(`/agent/runs/${path}`, { filter: { q: "many" } })).body.matched).toBe(4);
    }
    for (const [team, matched] of [
      [plane.team, 1],
      [second.uid, 2],
    ]) {
      const { body } = await client.get("/agent/audit?action=runs", { headers: { "x-team-uid": team } });
      const changes = body.events.filter(({ action }: { action: string }) => action !== "runs.create");
      const target = { type: "team", uid: team };
      expect(changes).toMatchObject([
        { action: "runs.archive", target, matched },
        { action: "runs.cancel", target },
      ]);
    }
  });

  // @contract audit.runs: Events of creations and follow-ups of runs are projected from the runs.
  it("has each new run among the other events, with who created it and by what", async () => {
    const plane = await createTestControlPlane();
    const client = createClient(plane);
    const { body: first } = await client.post("/agent/runs", { prompt: "private words" });
    plane.clock.now++;
    await client.post("/agent/identities", { name: "Reviewer" });
    plane.clock.now++;
    const { headers } = await startSession(plane);
    const { body: second } = await client.post("/agent/runs", { prompt: "private words" }, { key: undefined, headers });
    plane.clock.now++;
    const { id } = await makeSchedule(plane, {});
    plane.clock.now++;
    await client.post(`/agent/schedules/${id}/run`);
    const ada = { type: "user", uid: plane.user, display_name: "Ada", email: "ada@runyard.test" };
    const events = (await listEvents(client)).filter(({ action }) => action !== "schedules.run");
    expect(events).toEqual([
      expect.objectContaining({ action: "runs.create", via: "schedule", actor: ada }),
      expect.objectContaining({ action: "schedules.create" }),
      {
        id: second.run_id,
        at: expect.any(String),
        actor: ada,
        via: "session",
        action: "runs.create",
        target: { type: "run", uid: second.run_id },
        request_id: "request-1",
      },
      expect.objectContaining({ action: "identities.create" }),
      expect.objectContaining({
        id: first.run_id,
        at: "2026-05-18T19:00:00.000Z",
        via: "key",
        key_suffix: plane.key.slice(-4),
        request_id: "request-1",
      }),
    ]);
    expect(JSON.stringify(events)).not.toContain("private");
    expect(await listEvents(createClient(plane, plane.otherKey))).toEqual([]);
    expect(await listEvents(client, `?action=runs.create&actor=${plane.user}&limit=2`)).toHaveLength(2);
    expect(await listEvents(client, "?action=runs.create&actor=nobody")).toEqual([]);
  });

  it("reads no new runs in a search for another action", async () => {
    const plane = await createTestControlPlane();
    const client = createClient(plane);
    await client.post("/agent/runs", { prompt: "private words" });
    const query = vi.spyOn(plane.table, "query");
    const readPartitions = async (filter: string) => {
      query.mockClear();
      await listEvents(client, filter);
      return query.mock.calls.map(([{ pk }]) => pk).filter((pk) => !pk.startsWith("AUDIT#"));
    };
    expect(await readPartitions("?action=keys")).toEqual([]);
    expect(await readPartitions("?action=runs")).not.toEqual([]);
    expect(await readPartitions("")).not.toEqual([]);
  });

  // @contract audit.runs
  it("has the follow-ups of a run that is the target", async () => {
    const plane = await createTestControlPlane();
    const client = createClient(plane);
    const { body: run } = await client.post("/agent/runs", { prompt: "private words" });
    for (const message of ["private one", "private two"]) {
      plane.clock.now++;
      await client.post(`/agent/runs/${run.run_id}/followups`, { message });
    }
    plane.clock.now++;
    await client.post(`/agent/runs/${run.run_id}/cancel`);
    const target = { type: "run", uid: run.run_id };
    const events = await listEvents(client, `?target=${run.run_id}`);
    expect(events).toMatchObject([
      { action: "runs.cancel", target },
      { action: "runs.followups.create", actor: { uid: plane.user }, target: { ...target, name: "followup-2" } },
      { action: "runs.followups.create", target: { ...target, name: "followup-1" } },
      { action: "runs.create", target },
    ]);
    expect(new Set(events.map(({ id }) => id)).size).toBe(4);
    expect(JSON.stringify(events)).not.toContain("private");
    expect(await listEvents(createClient(plane, plane.otherKey), `?target=${run.run_id}`)).toEqual([]);
    const { body } = await client.get(`/agent/audit?target=${run.run_id}&limit=2`);
    const next = await client.get(`/agent/audit?target=${run.run_id}&limit=2&cursor=${body.page_info.next_cursor}`);
    expect([...body.events, ...next.body.events]).toEqual(events);
  });

  // @contract audit.filters: Events are filtered by time, actor, action and target.
  it("is filtered by time, actor, action and target", async () => {
    const plane = await createTestControlPlane();
    const client = createClient(plane);
    const { body: key } = await client.post("/agent/keys", { name: "laptop" });
    plane.clock.now += 1000;
    await client.post("/agent/identities", { name: "Reviewer" });
    plane.clock.now += 1000;
    await client.delete(`/agent/keys/${key.uid}`);
    const actions = async (query: string) => (await listEvents(client, query)).map(({ action }) => action);
    expect(await actions("?from=2026-05-18T19:00:01Z")).toEqual(["keys.delete", "identities.create"]);
    expect(await actions("?to=2026-05-18T19:00:01Z")).toEqual(["keys.create"]);
    expect(await actions("?action=keys")).toEqual(["keys.delete", "keys.create"]);
    expect(await actions("?action=keys.create")).toEqual(["keys.create"]);
    expect(await actions("?action=key")).toEqual([]);
    expect(await actions(`?target=${key.uid}`)).toEqual(["keys.delete", "keys.create"]);
    expect(await actions(`?actor=${plane.user}`)).toHaveLength(3);
    expect(await actions("?actor=somebody")).toEqual([]);
  });

  // @contract audit.pages: Events are read page by page with a cursor.
  it("is read page by page, newest first", async () => {
    const plane = await createTestControlPlane();
    const client = createClient(plane);
    for (const name of ["one", "two", "three"]) {
      plane.clock.now++;
      await client.post("/agent/identities", { name });
    }
    const names: unknown[] = [];
    let cursor = "";
    do {
      const { body } = await client.get(`/agent/audit?limit=2${cursor}`);
      names.push(body.events.map(({ target }: { target: { name: string } }) => target.name));
      cursor = body.page_info.has_next_page ? `&cursor=${body.page_info.next_cursor}` : "";
    } while (cursor !== "");
    expect(names).toEqual([["three", "two"], ["one"]]);
  });

  it("refuses a time that is none, and an end before the beginning", async () => {
    const client = createClient(await createTestControlPlane());
    expect((await client.get("/agent/audit?from=yesterday")).body.errors).toMatchObject([{ path: "from" }]);
    const reversed = await client.get("/agent/audit?from=2026-05-18T19:00:00Z&to=2026-05-18T19:00:00Z");
    expect(reversed).toMatchObject({ status: 400, body: { detail: "to: must be later than from" } });
  });

  // @contract audit.admin: The log is for admins of the team, and shows the team's events only.
  it("is for admins of the team, and shows no other team's events", async () => {
    const plane = await createTestControlPlane();
    const member = await plane.person("Mia");
    await createClient(plane).post("/agent/identities", { name: "Reviewer" });
    expect((await createClient(plane, member.key).get("/agent/audit")).status).toBe(403);
    expect(await listEvents(createClient(plane, plane.otherKey))).toEqual([]);
  });

  // @contract audit.refused: There is one event for every refused privileged request.
  it("has the requests that were refused, as such", async () => {
    const plane = await createTestControlPlane();
    const { body: scoped } = await createClient(plane).post("/agent/keys", { name: "scoped", scopes: ["runs:read"] });
    const member = await plane.person("Mia");
    plane.clock.now++;
    await createClient(plane, scoped.key).delete(`/agent/keys/${scoped.uid}`);
    plane.clock.now++;
    await createClient(plane, member.key).put(`/agent/teams/${plane.team}`, { name: "Mine" });
    plane.clock.now++;
    await createClient(plane, scoped.key).post("/agent/invitations/none/accept");
    expect((await listEvents(createClient(plane))).slice(0, 3)).toMatchObject([
      { action: "invitations.accept", key_suffix: scoped.key.slice(-4), refused: true },
      { action: "teams.update", target: { type: "team", uid: plane.team }, actor: { uid: member.uid }, refused: true },
      { action: "keys.delete", target: { uid: scoped.uid }, key_suffix: scoped.key.slice(-4), refused: true },
    ]);
  });

  // @contract audit.via
  it("says how a run and a follow-up were sent, also those that an earlier release has stored", async () => {
    const plane = await createTestControlPlane();
    const client = createClient(plane);
    const { headers } = await startSession(plane);
    const { body: run } = await client.post(
      "/agent/runs",
      { prompt: "one" },
      { headers: { "x-run-source": "WEB_APP" } },
    );
    plane.clock.now++;
    await client.post(`/agent/runs/${run.run_id}/followups`, { message: "by key" });
    plane.clock.now++;
    const options = { key: undefined, headers };
    await client.post(`/agent/runs/${run.run_id}/followups`, { message: "in the app" }, options);
    const list = async () =>
      (await listEvents(client, `?target=${run.run_id}`)).map(({ id, via, key_suffix, request_id }) => ({
        via,
        key_suffix,
        request_id: request_id === id ? "its id" : request_id,
      }));
    const byKey = { via: "key", key_suffix: plane.key.slice(-4), request_id: "request-1" };
    expect(await list()).toEqual([{ via: "session", key_suffix: undefined, request_id: "request-1" }, byKey, byKey]);
    for (const { origin, ...item } of plane.table.all()) {
      if (origin !== undefined) await plane.table.write({ kind: "put", item });
    }
    const unknown = { key_suffix: undefined, request_id: "its id" };
    expect(await list()).toEqual([
      { via: "key", ...unknown },
      { via: "key", ...unknown },
      { via: "session", ...unknown },
    ]);
  });

  // @contract audit.refused
  it("has refused reads of what admins only may read, and no other refused reads", async () => {
    const plane = await createTestControlPlane();
    const member = await plane.person("Mia");
    const mia = createClient(plane, member.key);
    for (const path of ["/agent/audit", "/agent/secrets", `/agent/teams/${plane.team}/members`]) {
      plane.clock.now++;
      expect((await mia.get(path)).status, path).toBe(403);
    }
    plane.clock.now++;
    const { body: scoped } = await createClient(plane).post("/agent/keys", { name: "scoped", scopes: ["usage:read"] });
    expect((await createClient(plane, scoped.key).get("/agent/runs")).status).toBe(403);
    const events = (await listEvents(createClient(plane))).filter(({ refused }) => refused === true);
    expect(events).toMatchObject([
      { action: "teams.members.read", actor: { uid: member.uid }, target: { type: "team", uid: plane.team } },
      { action: "secrets.read", actor: { uid: member.uid } },
      { action: "audit.read", actor: { uid: member.uid }, target: { type: "team", uid: plane.team } },
    ]);
  });

  // @contract audit.refused.limit: Refused requests are rate-limited.
  it("has 100 refused requests of a team in an hour at most", async () => {
    const plane = await createTestControlPlane();
    const member = createClient(plane, (await plane.person("Mia")).key);
    const refuse = async () => expect((await member.delete(`/agent/teams/${plane.team}`)).status).toBe(403);
    for (let request = 0; request < 101; request++) await refuse();
    expect(await listEvents(createClient(plane))).toHaveLength(100);
    plane.clock.now += 3_600_000;
    await refuse();
    expect(await listEvents(createClient(plane))).toHaveLength(101);
  });

  // @contract audit.kept: Events are kept for 400 days.
  it("forgets an event after 400 days", async () => {
    const plane = await createTestControlPlane();
    const client = createClient(plane);
    await client.post("/agent/identities", { name: "Reviewer" });
    plane.clock.now += 400 * 24 * 3_600_000 - 1000;
    expect(await listEvents(client)).toHaveLength(1);
    plane.clock.now += 1000;
    expect(await listEvents(client)).toEqual([]);
  });
});

/** The stored events of all teams. */
const readStored = ({ plane }: Stage) => plane.auditItems().filter(({ sk }) => sk.startsWith("EVENT#"));
