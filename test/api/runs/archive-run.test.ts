import { beforeEach, describe, expect, it } from "vitest";
import { activeParts } from "#shared/table/keys.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createRun, workingRun } from "../../support/execution.ts";
import { makeSchedule } from "../../support/schedules.ts";

let plane: TestControlPlane;
let user: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
});

const archive = (runId: string, client = user) => client.post(`/agent/runs/${runId}/archive`);
const unarchive = (runId: string, client = user) => client.post(`/agent/runs/${runId}/unarchive`);
const REPEATED = { headers: { "x-stainless-retry-count": "1" } };
async function listIds(query = ""): Promise<string[]> {
  const { status, body } = await user.get(`/agent/runs?${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.runs.map(({ run_id }: { run_id: string }) => run_id);
}

describe("POST /agent/runs/{runId}/archive", () => {
  // @contract archive.idempotent: POST …/archive and …/unarchive return 200 with the run and are idempotent.
  // @contract runs.item.archived: archived is a member of the run.
  it("returns the run as archived, with everything else as it was", async () => {
    const runId = await createRun(plane, { prompt: "A long prompt. ".repeat(4_000) });
    const { body: before } = await user.get(`/agent/runs/${runId}`);
    expect(before.archived).toBe(false);
    plane.clock.now += 60_000;
    const { status, body } = await archive(runId);
    expect({ status, body }).toEqual({ status: 200, body: { ...before, archived: true } });
    expect((await user.get(`/agent/runs/${runId}`)).body).toEqual(body);
    expect((await unarchive(runId)).body).toEqual(before);
  });

  // @contract archive.idempotent
  it("accepts an empty body with and without a content type, and changes nothing the second time", async () => {
    const runId = await createRun(plane);
    const typed = { headers: { "content-type": "application/json" } };
    expect((await user.post(`/agent/runs/${runId}/archive`, undefined, typed)).body.archived).toBe(true);
    const stored = structuredClone(await plane.ports.runs.head(runId));
    expect(await archive(runId)).toMatchObject({ status: 200, body: { archived: true } });
    expect(await plane.ports.runs.head(runId)).toEqual(stored);
    expect((await user.post(`/agent/runs/${runId}/unarchive`, undefined, typed)).body.archived).toBe(false);
    expect((await unarchive(runId)).body.archived).toBe(false);
  });

  it("archives a run in any state, for its team's members and agents, and the run continues", async () => {
    const harness = await workingRun(plane, { prompt: "work", team: true });
    const agent = createClient(plane, (await plane.agent()).key);
    expect((await archive(harness.run_id, agent)).body).toMatchObject({ state: "INPROGRESS", archived: true });
    expect((await harness.messages(1, "one")).status).toBe(200);
    expect((await harness.finish()).status).toBe(200);
    expect((await user.get(`/agent/runs/${harness.run_id}`)).body).toMatchObject({
      state: "SUCCEEDED",
      archived: true,
    });
    await user.post(`/agent/runs/${harness.run_id}/followups`, { message: "go on" });
    expect((await user.get(`/agent/runs/${harness.run_id}`)).body).toMatchObject({ state: "QUEUED", archived: true });
    const mia = createClient(plane, (await plane.person("Mia")).key);
    expect((await unarchive(harness.run_id, mia)).body.archived).toBe(false);
  });

  it("returns 404 for a run that does not exist, or is another team's", async () => {
    const runId = await createRun(plane);
    const other = createClient(plane, plane.otherKey);
    for (const [run, client] of [
      [runId, other],
      ["0199a3c4-0000-7000-8000-000000000001", user],
    ] as const) {
      expect((await archive(run, client)).status).toBe(404);
      expect((await unarchive(run, client)).status).toBe(404);
    }
  });

  it("keeps what the other request has set when a client repeats one", async () => {
    const runId = await createRun(plane);
    await archive(runId);
    await unarchive(runId);
    expect((await user.post(`/agent/runs/${runId}/unarchive`, undefined, REPEATED)).headers).toMatchObject({
      "idempotent-replay": "true",
    });
    const keyed = { headers: { "idempotency-key": "archive-it" } };
    await user.post(`/agent/runs/${runId}/archive`, undefined, keyed);
    await unarchive(runId);
    const repeat = await user.post(`/agent/runs/${runId}/archive`, undefined, keyed);
    expect(repeat).toMatchObject({ status: 200, headers: { "idempotent-replay": "true" }, body: { archived: false } });
  });

  it("keeps the skill that an execution loads at the same time, and the other way round", async () => {
    const harness = await workingRun(plane, { skill: "o/r:review" });
    const { transact } = plane.table;
    const path = "o/r:.agents/skills/review/SKILL.md";
    let isFirst = true;
    plane.ports.table.transact = async (writes) => {
      if (isFirst) {
        isFirst = false;
        const skill = { name: "Review", content: "Look.", path };
        expect((await harness.support("resolve-prompt", { skill })).status).toBe(200);
      }
      return transact(writes);
    };
    expect((await archive(harness.run_id)).body).toMatchObject({ archived: true });
    expect((await plane.ports.runs.head(harness.run_id))?.p).toMatchObject({ archived: true, skill_path: path });
    expect(await listIds(`archived=true&skill=${encodeURIComponent(path)}`)).toEqual([harness.run_id]);
  });
});

describe("GET /agent/runs?archived=", () => {
  // @contract archive.find: archived=all also finds archived runs.
  // @contract runs.list.archived: archived is false by default.
  it("returns runs that are not archived, archived runs, or all, in every order and from every index", async () => {
    const { id: schedule } = await makeSchedule(plane, { prompt: "scheduled" });
    const runSchedule = async (): Promise<string> => (await user.post(`/agent/schedules/${schedule}/run`)).body.run_id;
    const kept = [await runSchedule(), await runSchedule()].toSorted();
    const gone = [await runSchedule(), await runSchedule()].toSorted();
    for (const run of gone) await archive(run);
    for (const filter of ["", `&creator=${plane.user}`, `&schedule_id=${schedule}`, "&state=QUEUED", "&q=scheduled"]) {
      for (const order of ["updated_at", "created_at", "title", "agent"]) {
        const sorted = async (archived: string) =>
          (await listIds(`${archived}${filter}&sort_by=${order}&sort_order=asc`)).toSorted();
        const what = `${filter} ${order}`;
        expect(await sorted(""), what).toEqual(kept);
        expect(await sorted("archived=false"), what).toEqual(kept);
        expect(await sorted("archived=true"), what).toEqual(gone);
        expect(await sorted("archived=all"), what).toEqual([...kept, ...gone].toSorted());
      }
    }
    await unarchive(gone[0] ?? "");
    expect((await listIds()).toSorted()).toEqual([...kept, gone[0]].toSorted());
  });

  it("finds archived descendants of a run only when it is asked for them", async () => {
    const root = await createRun(plane);
    const child = await createRun(plane, { prompt: "child", parent_run_id: root });
    await archive(child);
    expect(await listIds(`ancestor_run_id=${root}`)).toEqual([]);
    expect(await listIds(`ancestor_run_id=${root}&archived=true`)).toEqual([child]);
  });

  it("leaves out a run whose index entry is older than its archiving", async () => {
    const [first, second] = [await createRun(plane), await createRun(plane)];
    const { query } = plane.ports.table;
    const read = async (pk: string) => [pk, await query({ index: "gsi1", pk, descending: true })] as const;
    const pages = new Map(await Promise.all(activeParts(`TEAM#${plane.team}#0`).map(read)));
    await archive(second);
    plane.ports.table.query = async (one) => (one.index === "gsi1" ? pages.get(one.pk) : undefined) ?? query(one);
    expect(await listIds()).toEqual([first]);
  });

  it("returns 400 for another value", async () => {
    for (const wrong of ["archived=yes", "archived=true&archived=all", "archived=TRUE"]) {
      expect(await user.get(`/agent/runs?${wrong}`)).toMatchObject({
        status: 400,
        body: { error_code: "invalid_request" },
      });
    }
  });

  it("selects the runs that a bulk cancellation cancels", async () => {
    const [first, second] = [await createRun(plane), await createRun(plane)];
    await archive(second);
    const cancel = (filter: object) => user.post("/agent/runs/cancel", { filter });
    expect((await cancel({ state: ["QUEUED"] })).body).toMatchObject({ matched: 1, cancelled: 1 });
    expect((await user.get(`/agent/runs/${first}`)).body.state).toBe("CANCELLED");
    expect((await cancel({ archived: "true" })).body).toMatchObject({ matched: 1, cancelled: 1 });
    expect((await cancel({ archived: "false" })).body).toMatchObject({ matched: 0 });
  });
});
