import { beforeEach, describe, expect, it } from "vitest";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createRun, workingRun } from "../../support/execution.ts";
import { makeStage } from "../../support/principals.ts";
import { fireAt, makeSchedule } from "../../support/schedules.ts";
import { toTarget } from "../../support/valid-requests.ts";

let plane: TestControlPlane;
let user: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
});

const found = async (query: string, client = user): Promise<string[]> => {
  const response = await client.get(`/agent/runs?${query}`);
  expect(response.status, JSON.stringify(response.body)).toBe(200);
  return response.body.runs.map(({ run_id }: { run_id: string }) => run_id);
};

describe("GET /agent/runs", () => {
  // @contract general.limits.q: q has at most 256 characters.
  it("accepts q of 256 characters and rejects 257", async () => {
    expect(await found(`q=${"😀".repeat(256)}`)).toEqual([]);
    const response = await user.get(`/agent/runs?q=${"q".repeat(257)}`);
    expect(response).toMatchObject({ status: 400, body: { errors: [{ path: "q" }] } });
  });

  // @contract runs.list.sort-default: The default is updated_at, and desc for every order.
  it("sorts by updated_at desc by default", async () => {
    const first = await createRun(plane, { prompt: "a", title: "a" });
    plane.clock.now += 1;
    const second = await createRun(plane, { prompt: "b", title: "b" });
    plane.clock.now += 1;
    await user.post(`/agent/runs/${first}/followups`, { message: "more" });
    expect(await found("")).toEqual([first, second]);
    expect(await found("sort_by=created_at")).toEqual([second, first]);
    expect(await found("sort_by=title")).toEqual([second, first]);
    expect(await found("sort_order=asc")).toEqual([second, first]);
  });

  // @contract runs.list.model
  it("excludes runs of another model", async () => {
    const id = await createRun(plane);
    expect(await found("model_id=local/runbook")).toEqual([id]);
    expect(await found("model_id=another")).toEqual([]);
  });

  // @contract runs.list.times
  // @contract runs.list.times-ms
  it("excludes a run at the exact millisecond of a time filter", async () => {
    const id = await createRun(plane);
    const at = "2026-05-18T19:00:00.000";
    for (const name of ["created_after", "created_before", "updated_after"]) {
      expect(await found(`${name}=${at}Z`), name).toEqual([]);
      // Fractions of a millisecond are ignored.
      expect(await found(`${name}=${at}999Z`), name).toEqual([]);
    }
    expect(await found("created_after=2026-05-18T18:59:59.999Z")).toEqual([id]);
    expect(await found("updated_after=2026-05-18T18:59:59.999Z")).toEqual([id]);
    expect(await found("created_before=2026-05-18T19:00:00.001Z")).toEqual([id]);
  });

  // @contract runs.list.schedule
  it("finds a schedule's runs and no others", async () => {
    const one = await makeSchedule(plane, { name: "One" });
    const two = await makeSchedule(plane, { name: "Two" });
    await createRun(plane);
    await fireAt(plane, one.id, "2026-05-19T02:30:00Z");
    await fireAt(plane, two.id, "2026-05-19T02:30:00Z");
    const [ofOne, ofTwo] = [await found(`schedule_id=${one.id}`), await found(`schedule_id=${two.id}`)];
    expect(ofOne).toHaveLength(1);
    expect(ofTwo).toHaveLength(1);
    expect(ofOne).not.toEqual(ofTwo);
  });

  // @contract runs.list.metadata
  it("accepts five metadata filters", async () => {
    const metadata = { a: "1", b: "2", c: "3", d: "4", e: "5" };
    const id = await createRun(plane, { prompt: "a", metadata });
    await createRun(plane, { prompt: "b", metadata: { ...metadata, e: "6" } });
    const query = Object.entries(metadata).map(([key, value]) => `metadata[${key}]=${value}`);
    expect(await found(query.join("&"))).toEqual([id]);
  });

  // @contract runs.list.q-where: q searches title, prompt and skill_spec.
  it("searches title, prompt and skill for q", async () => {
    const titled = await createRun(plane, { prompt: "x", title: "Polish the lantern" });
    plane.clock.now += 1;
    const prompted = await createRun(plane, { prompt: "buy a lantern", title: "y" });
    plane.clock.now += 1;
    const skilled = await createRun(plane, { prompt: "x", title: "y", skill: "acme/tools:lantern" });
    await createRun(plane, { prompt: "x", title: "y", metadata: { note: "lantern" } });
    expect(await found("q=lantern")).toEqual([skilled, prompted, titled]);
  });

  // @contract runs.cursor.bound
  it("binds a cursor to the named team", async () => {
    const { key } = await plane.person("Mia", [plane.team, plane.otherTeam]);
    const mia = createClient(plane, key);
    for (let number = 0; number < 3; number++) await createRun(plane, { prompt: `${number}` });
    const inTeam = { headers: { "x-team-uid": plane.team } };
    const { next_cursor } = (await mia.get("/agent/runs?limit=1", inTeam)).body.page_info;
    expect((await mia.get(`/agent/runs?cursor=${next_cursor}`, inTeam)).status).toBe(200);
    for (const headers of [{}, { "x-team-uid": plane.otherTeam }]) {
      const response = await mia.get(`/agent/runs?cursor=${next_cursor}`, { headers });
      expect(response).toMatchObject({ status: 400, body: { errors: [{ path: "cursor" }] } });
    }
  });
});

describe("a list without paging parameters", () => {
  // @contract general.lists.timeline
  // @contract general.lists.500
  it("returns at most 500 items: a longer timeline continues in the next response", async () => {
    const harness = await workingRun(plane);
    for (let number = 1; number <= 600; number++) {
      const event = { event_uuid: `e${number}`, event_name: "setup_commands", timestamp: "2026-05-18T19:00:00Z" };
      await harness.event(event);
    }
    const path = `/agent/runs/${harness.run_id}/timeline`;
    const first = (await user.get(path)).body;
    expect(first.events).toHaveLength(500);
    const rest = (await user.get(`${path}?cursor=${first.page_info.next_cursor}`)).body;
    expect(rest.page_info).toEqual({ has_next_page: false });
    const uuids = [...first.events, ...rest.events].map(({ event_uuid }: { event_uuid: string }) => event_uuid);
    expect(uuids).toHaveLength(603);
    expect(uuids.slice(3)).toEqual(Array.from({ length: 600 }, (_, index) => `e${index + 1}`));
    const two = (await user.get(`${path}?limit=2`)).body;
    expect(two.events).toHaveLength(2);
    expect(two.page_info.has_next_page).toBe(true);
  });
});

/** Lists without paging parameters of their own, and the member with their items. */
const lists = [
  ["/agent", "agents"],
  ["/agent/connected-self-hosted-workers", "workers"],
  ["/agent/conversations/{conversationId}", "steps"],
  ["/agent/environments", "environments"],
  ["/agent/identities", "agents"],
  ["/agent/identities/{identityUid}/keys", "keys"],
  ["/agent/keys", "keys"],
  ["/agent/runs/{runId}/conversation", "steps"],
  ["/agent/runs/{runId}/timeline", "events"],
  ["/agent/schedules", "schedules"],
  ["/agent/schedules/{scheduleId}/ticks", "ticks"],
  ["/agent/secrets", "secrets"],
  ["/agent/teams", "teams"],
  ["/agent/teams/{teamUid}/invitations", "invitations"],
  ["/agent/teams/{teamUid}/members", "members"],
  ["/agent/triggers", "triggers"],
  ["/agent/webhooks", "webhooks"],
] as const;

describe.each(lists)("GET %s", (path, items) => {
  // @contract general.lists.identities: The list of identities accepts limit and cursor, and is complete without them.
  // @contract general.lists.schedules: The list of schedules accepts limit and cursor, and is complete without them.
  // @contract general.lists.environments: The list of environments takes limit and cursor.
  // @contract general.lists.keys: The lists of keys take limit and cursor.
  // @contract general.lists.webhooks: The list of webhooks takes limit and cursor.
  // @contract general.lists.skills: The list of skills takes limit and cursor.
  // @contract general.lists.timeline: A timeline takes limit and cursor.
  // @contract general.lists.steps: The steps of a conversation take limit and cursor.
  it("returns everything without page_info, accepts limit and cursor, and returns 400 for invalid ones", async () => {
    const stage = await makeStage();
    const creator = createClient(stage.plane);
    const target = toTarget(`GET ${path}`, stage);
    const all = await creator.get(target);
    expect(all.body).toEqual({ ...all.body, [items]: expect.any(Array) });
    expect(all.body).not.toHaveProperty("page_info");
    const walked: unknown[] = [];
    let cursor: string | undefined;
    do {
      const page = await creator.get(`${target}?limit=1${cursor === undefined ? "" : `&cursor=${cursor}`}`);
      expect(page.status, JSON.stringify(page.body)).toBe(200);
      walked.push(...page.body[items]);
      cursor = page.body.page_info.next_cursor;
      expect(page.body.page_info.has_next_page).toBe(cursor !== undefined);
    } while (cursor !== undefined);
    expect(walked).toEqual(all.body[items]);
    expect((await creator.get(`${target}?limit=500`)).body.page_info).toEqual({ has_next_page: false });
    for (const [query, field] of [
      ["limit=0", "limit"],
      ["limit=501", "limit"],
      ["limit=1.5", "limit"],
      ["cursor=none", "cursor"],
    ]) {
      const refused = await creator.get(`${target}?${query}`);
      expect(refused, query).toMatchObject({ status: 400, body: { errors: [{ path: field }] } });
    }
  });
});
