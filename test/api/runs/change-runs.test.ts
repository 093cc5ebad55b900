import { beforeEach, describe, expect, it } from "vitest";
import { deleteRuns } from "#functions/runs/delete-runs.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, httpEvent, type TestControlPlane } from "../../support/control-plane.ts";
import { createRun, deliver, workingRun } from "../../support/execution.ts";

let plane: TestControlPlane;
let user: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
});

const BATCH = { metadata: { batch: "7" } };

/** A run that has ended, a millisecond younger than the one before. */
async function endedRun(request: Record<string, unknown> = {}, key = plane.key): Promise<string> {
  plane.clock.now += 1;
  const harness = await workingRun(plane, { prompt: "one of many", ...BATCH, ...request }, key);
  expect((await harness.finish()).status).toBe(200);
  await deliver(plane);
  return harness.run_id;
}

async function listIds(query = "archived=all", client = user): Promise<string[]> {
  const { status, body } = await client.get(`/agent/runs?sort_by=created_at&${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.runs.map(({ run_id }: { run_id: string }) => run_id);
}

const LAST_PAGE = { page_info: { has_next_page: false } };
const events = async () => (await user.get("/agent/audit")).body.events;

describe("POST /agent/runs/delete", () => {
  const remove = (body: unknown, client = user, headers = {}) => client.post("/agent/runs/delete", body, { headers });

  // @contract delete.filter: Runs are deleted in bulk by the filter of the list.
  it("deletes the ended runs that match, and no others", async () => {
    const [first, second] = [await endedRun(), await endedRun()];
    const other = await endedRun({ metadata: { batch: "8" } });
    plane.clock.now += 1;
    const active = await createRun(plane, { prompt: "waits", ...BATCH });
    expect(await remove({ filter: BATCH })).toMatchObject({
      status: 200,
      body: { matched: 2, deleted: [second, first], refused: [], ...LAST_PAGE },
    });
    expect(await listIds()).toEqual([active, other]);
    expect((await user.get(`/agent/runs/${first}`)).status).toBe(404);
  });

  it("leaves archived runs, unless the filter selects them, and deletes them too where all are meant", async () => {
    const [archived, shown, last] = [await endedRun(), await endedRun(), await endedRun({ metadata: { batch: "8" } })];
    for (const id of [archived, last]) await user.post(`/agent/runs/${id}/archive`);
    expect((await remove({ filter: BATCH })).body.deleted).toEqual([shown]);
    expect((await remove({ filter: { ...BATCH, archived: "all" } })).body.deleted).toEqual([archived]);
    expect((await remove({ all: true })).body.deleted).toEqual([last]);
  });

  // @contract delete.filter
  it("returns 400 and deletes nothing for a request without a filter, and for one with a filter and all", async () => {
    await endedRun();
    for (const [body, field, message] of [
      [{}, "filter", "send all: true"],
      [{ filter: {} }, "filter", "at least one filter"],
      [{ all: false }, "all", "must be true"],
      [{ filter: BATCH, all: true }, "all", "must be absent"],
      [{ filter: { states: ["SUCCEEDED"] } }, "filter.states", ""],
      [
        { filter: { ancestor_run_id: "0199e0b2-0000-7000-8000-000000000000" } },
        "filter.ancestor_run_id",
        "no such run",
      ],
    ] as const) {
      const response = await remove(body);
      expect(response, JSON.stringify(body)).toMatchObject({ status: 400, body: { error_code: "invalid_request" } });
      expect(response.body.errors[0]).toMatchObject({ path: field, message: expect.stringContaining(message) });
    }
    expect(await listIds()).toHaveLength(1);
  });

  it("lists the runs that it must not delete, or that have an active descendant, and deletes the others", async () => {
    const mia = createClient(plane, (await plane.person("Mia")).key);
    const parent = await endedRun({ team: true });
    await createRun(plane, { prompt: "child", parent_run_id: parent });
    const single = await endedRun({ team: true });
    expect((await remove({ filter: BATCH }, mia)).body).toEqual({
      matched: 2,
      deleted: [],
      refused: [
        { run_id: single, error_code: "not_authorized" },
        { run_id: parent, error_code: "not_authorized" },
      ],
      ...LAST_PAGE,
    });
    expect((await remove({ filter: BATCH })).body).toMatchObject({
      deleted: [single],
      refused: [{ run_id: parent, error_code: "conflict" }],
    });
  });

  it("counts a run that was deleted with one above it", async () => {
    const parent = await workingRun(plane, { prompt: "parent", ...BATCH });
    const child = await endedRun({ parent_run_id: parent.run_id });
    await parent.finish();
    await deliver(plane);
    expect((await remove({ filter: BATCH })).body).toMatchObject({ matched: 2, deleted: [child, parent.run_id] });
    expect(await listIds()).toEqual([]);
  });

  it("deletes no run of another team, and returns 403 for a run's own key", async () => {
    const id = await endedRun();
    expect((await remove({ all: true }, createClient(plane, plane.otherKey))).body).toMatchObject({ matched: 0 });
    const working = await workingRun(plane);
    expect((await remove({ all: true }, working.client)).status).toBe(403);
    expect(await listIds()).toContain(id);
  });

  it("deletes a page of 200 runs, and continues behind it with the cursor of the response alone", async () => {
    const ids: string[] = [];
    for (let run = 0; run < 203; run++) {
      plane.clock.now += 1;
      const id = await createRun(plane, { prompt: "one of many", ...BATCH });
      ids.unshift(id);
      expect((await user.post(`/agent/runs/${id}/cancel`)).status).toBe(200);
    }
    await deliver(plane);
    const first = (await remove({ filter: BATCH })).body;
    expect(first).toMatchObject({ matched: 200, deleted: ids.slice(0, 200), page_info: { has_next_page: true } });
    const cursor = first.page_info.next_cursor;
    expect((await remove({ filter: { q: "many" }, cursor })).body.errors).toMatchObject([{ path: "cursor" }]);
    expect((await user.post("/agent/runs/archive", { filter: BATCH, cursor })).status).toBe(400);
    expect((await remove({ filter: BATCH, cursor })).body).toEqual({
      matched: 3,
      deleted: ids.slice(200),
      refused: [],
      ...LAST_PAGE,
    });
  });

  it("stops at its time limit, and continues behind the last run that it looked at", async () => {
    const ids: string[] = [];
    for (let run = 0; run < 6; run++) ids.unshift(await endedRun());
    // Each reading of the clock takes three seconds.
    const now = () => {
      plane.clock.now += 3_000;
      return plane.clock.now;
    };
    const reply = await deleteRuns.handle(httpEvent({ key: plane.key, body: { filter: BATCH } }), {
      ...plane.ports,
      now,
    });
    const { matched, deleted, page_info } = JSON.parse(reply.body);
    expect({ matched, deleted }).toEqual({ matched: 4, deleted: ids.slice(0, 4) });
    expect((await remove({ filter: BATCH, cursor: page_info.next_cursor })).body.deleted).toEqual(ids.slice(4));
  });

  it("returns the first response to a repeated request, and deletes no run that ended in between", async () => {
    const id = await endedRun();
    const headers = { "idempotency-key": "all" };
    const first = await remove({ filter: BATCH }, user, headers);
    expect(first.body.deleted).toEqual([id]);
    expect(first.headers).not.toHaveProperty("idempotent-replay");
    const later = await endedRun();
    const again = await remove({ filter: BATCH }, user, headers);
    expect(again.body).toEqual(first.body);
    expect(again.headers).toMatchObject({ "idempotent-replay": "true" });
    expect(await listIds()).toEqual([later]);
    expect((await remove({ all: true }, user, headers)).status).toBe(409);
  });

  // @contract delete.filter.audit: A bulk deletion is one audit event.
  it("is one event of the audit log, with the filter and the number of runs, but no text that was searched for", async () => {
    const before = (await events()).length;
    for (let run = 0; run < 3; run++) await endedRun();
    await remove({ filter: { ...BATCH, q: "many" } });
    const recorded = (await events()).filter(({ action }: { action: string }) => action !== "runs.create");
    expect(recorded).toHaveLength(before + 1);
    expect(recorded[0]).toMatchObject({
      action: "runs.delete",
      target: { type: "team", uid: plane.team },
      changes: ["filter"],
      filter: { ...BATCH, q: "***" },
      matched: 3,
    });
  });
});

describe("POST /agent/runs/archive", () => {
  // @contract archive.filter: Runs are archived in bulk by the filter of the list.
  it("archives the runs that match, in any state, and POST /agent/runs/unarchive returns them", async () => {
    const other = await endedRun({ metadata: { batch: "8" } });
    const ended = await endedRun();
    plane.clock.now += 1;
    const active = await createRun(plane, { prompt: "waits", ...BATCH });
    expect((await user.post("/agent/runs/archive", { filter: BATCH })).body).toEqual({
      matched: 2,
      archived: [active, ended],
      refused: [],
      ...LAST_PAGE,
    });
    expect(await listIds("archived=false")).toEqual([other]);
    expect((await user.post("/agent/runs/archive", { filter: BATCH })).body.matched).toBe(0);
    expect((await user.post("/agent/runs/unarchive", { filter: { state: ["SUCCEEDED"] } })).body).toEqual({
      matched: 1,
      unarchived: [ended],
      refused: [],
      ...LAST_PAGE,
    });
    expect((await user.post("/agent/runs/unarchive", { all: true })).body.unarchived).toEqual([active]);
    expect(await listIds("archived=false")).toEqual([active, ended, other]);
  });

  it("returns 400 without a filter, and archives all runs where all are meant", async () => {
    const id = await endedRun();
    for (const call of ["archive", "unarchive"]) {
      const response = await user.post(`/agent/runs/${call}`, {});
      expect(response).toMatchObject({ status: 400, body: { errors: [{ path: "filter" }] } });
    }
    expect((await user.post("/agent/runs/archive", { all: true })).body.archived).toEqual([id]);
  });

  it("is one event of the audit log", async () => {
    for (let run = 0; run < 2; run++) await endedRun();
    await user.post("/agent/runs/archive", { all: true });
    const recorded = (await events()).filter(({ action }: { action: string }) => action !== "runs.create");
    expect(recorded).toMatchObject([{ action: "runs.archive", changes: ["all"], matched: 2 }]);
    expect(recorded[0]).not.toHaveProperty("filter");
  });
});
