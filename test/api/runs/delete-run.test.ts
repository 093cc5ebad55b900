import { beforeEach, describe, expect, it } from "vitest";
import { keys } from "#shared/table/keys.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createHarness, createRun, deliver, type Harness, workingRun } from "../../support/execution.ts";
import { runRetentionPass } from "../../support/retention.ts";

const HOUR_MS = 3_600_000;
const LONG = "A long text. ".repeat(4_000);

let plane: TestControlPlane;
let user: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
});

const remove = (runId: string, client = user, headers = {}) => client.delete(`/agent/runs/${runId}`, { headers });
const REPEATED = { "x-stainless-retry-count": "1" };

async function passHour(): Promise<void> {
  plane.clock.now += HOUR_MS;
  await runRetentionPass(plane.ports);
}

async function end(harness: Harness): Promise<string> {
  expect((await harness.finish()).status).toBe(200);
  await deliver(plane);
  return harness.run_id;
}

/** A run that has ended, with messages, an artifact and a transcript. */
async function endedRun(request: Record<string, unknown> = { prompt: LONG }, key = plane.key): Promise<string> {
  plane.clock.now += 1;
  const harness = await workingRun(plane, request, key);
  await harness.messages(1, `turn of ${String(request["title"] ?? "the run")}`, LONG);
  const plan = { artifact_type: "PLAN", data: { title: "A plan", content: LONG } };
  expect((await harness.support("report-artifact", plan)).status).toBe(200);
  return end(harness);
}

/** Items and files that name a run. */
const findTraces = (runId: string): string[] => [
  ...plane.table
    .all()
    .filter(({ pk }) => !/^(IDEM|USAGE)/.test(pk))
    .filter((item) => JSON.stringify(item).includes(runId))
    .map(({ pk, sk }) => `${pk} ${sk}`),
  ...[...plane.files.files.keys()].filter((key) => key.includes(runId)),
];

const textOf = async (conversation: string): Promise<string> =>
  JSON.stringify((await user.get(`/agent/conversations/${conversation}`)).body);

describe("DELETE /agent/runs/{runId}", () => {
  // @contract delete.gone: DELETE /agent/runs/{id} returns 204 and deletes a terminal run at once.
  it("returns 204, and from then on 404 at every address of the run, and in no list", async () => {
    const runId = await endedRun({ prompt: LONG, config: { session_sharing: { public_access: "VIEWER" } } });
    const { artifacts } = (await user.get(`/agent/runs/${runId}`)).body;
    expect(await remove(runId)).toMatchObject({ status: 204 });
    const paths = ["", "/timeline", "/conversation", "/transcript", "/events", "/response", "/followups"];
    for (const path of [...paths, "/handoff/attachments"]) {
      expect((await user.get(`/agent/runs/${runId}${path}`)).status, path).toBe(404);
    }
    const gone = [`/agent/conversations/${runId}`, `/agent/artifacts/${artifacts[0].data.artifact_uid}`];
    for (const path of [...gone, `/public/runs/${runId}`, `/agent/sessions/${runId}/redirect`]) {
      expect((await user.get(path)).status, path).toBe(404);
    }
    for (const call of ["archive", "unarchive", "cancel", "followups"]) {
      expect((await user.post(`/agent/runs/${runId}/${call}`, { message: "on" })).status, call).toBe(404);
    }
    for (const query of ["", `creator=${plane.user}`, "sort_by=created_at", "state=SUCCEEDED", "archived=all"]) {
      expect((await user.get(`/agent/runs?${query}`)).body.runs, query).toEqual([]);
    }
    expect((await user.post("/agent/runs", { prompt: "on", conversation_id: runId })).status).toBe(400);
    expect((await remove(runId)).status).toBe(404);
  });

  // @contract delete.purge: Conversation, transcripts and artifacts are deleted with the run.
  it("leaves the files to a later pass, which deletes everything of the run", async () => {
    const runId = await endedRun();
    await remove(runId);
    expect(plane.files.files.size).toBeGreaterThan(2);
    await passHour();
    expect(findTraces(runId)).toEqual([]);
    expect(plane.files.files.size).toBe(0);
  });

  it("keeps files for as long as an upload that was allowed may arrive", async () => {
    const runId = await endedRun();
    await remove(runId);
    plane.clock.now += 14 * 60_000 - HOUR_MS;
    await passHour();
    expect(plane.files.files.size).toBeGreaterThan(2);
    plane.clock.now += 60_000 - HOUR_MS;
    await passHour();
    expect(plane.files.files.size).toBe(0);
  });

  // @contract delete.active: A run that is not terminal, or has a descendant that is not, returns 409.
  it("returns 409 for a run that has not ended, or has a run below it that has not, and changes nothing", async () => {
    const root = await workingRun(plane, { prompt: "root", team: true });
    const child = await workingRun(plane, { prompt: "child", parent_run_id: root.run_id }, root.key);
    const refusal = { status: 409, body: { error_code: "conflict", retryable: false } };
    const check = async (detail: string) => {
      const before = structuredClone(plane.table.all());
      expect(await remove(root.run_id)).toMatchObject({ ...refusal, body: { ...refusal.body, detail } });
      expect(plane.table.all()).toEqual(before);
    };
    await check("the run is INPROGRESS and has not ended: cancel it, or wait for its end");
    await end(root);
    await check(`run ${child.run_id} below it is INPROGRESS and has not ended: cancel it, or wait for its end`);
    await end(child);
    expect((await remove(root.run_id)).status).toBe(204);
  });

  it("deletes the runs below the run with it, but not those above", async () => {
    const root = await workingRun(plane, { prompt: "root" });
    const child = await workingRun(plane, { prompt: "child", parent_run_id: root.run_id }, root.key);
    const grandchild = await createRun(plane, { prompt: "grandchild", parent_run_id: child.run_id });
    await user.post(`/agent/runs/${grandchild}/cancel`);
    await end(child);
    await end(root);
    expect((await remove(child.run_id)).status).toBe(204);
    for (const run of [child.run_id, grandchild]) expect((await user.get(`/agent/runs/${run}`)).status).toBe(404);
    expect((await user.get(`/agent/runs?ancestor_run_id=${root.run_id}`)).body.runs).toEqual([]);
    expect((await user.get(`/agent/runs/${root.run_id}`)).status).toBe(200);
    await passHour();
    expect([...findTraces(child.run_id), ...findTraces(grandchild)]).toEqual([]);
  });

  // @contract delete.who: A run is deleted by its creator, or by an admin for a team's run.
  it("is for the run's creator, also an agent, and for admins of its team: 403 for others who see it", async () => {
    const mia = await plane.person("Mia");
    const agent = await plane.agent();
    const [members, admins] = [createClient(plane, mia.key), user];
    const ofAgent = await endedRun({ prompt: "a" }, agent.key);
    const ofAdmin = await endedRun({ prompt: "b", team: true });
    const ofMember = await endedRun({ prompt: "c", team: true }, mia.key);
    expect((await remove(ofAgent, members)).body).toMatchObject({ status: 403, error_code: "not_authorized" });
    expect((await remove(ofAdmin, members)).status).toBe(403);
    expect((await remove(ofAdmin, createClient(plane, agent.key))).status).toBe(403);
    expect((await remove(ofMember, createClient(plane, plane.otherKey))).status).toBe(404);
    expect((await remove(ofAgent, createClient(plane, agent.key))).status).toBe(204);
    expect((await remove(ofMember, members)).status).toBe(204);
    expect((await remove(ofAdmin, admins)).status).toBe(204);
    const personal = await endedRun({ prompt: "d", team: false }, mia.key);
    expect((await remove(personal, admins)).status).toBe(404);
    expect((await remove(personal, members)).status).toBe(204);
  });

  it("returns 403 to the key of a run, also for a run below it", async () => {
    const root = await workingRun(plane, { prompt: "root" });
    const child = await workingRun(plane, { prompt: "child", parent_run_id: root.run_id }, root.key);
    await end(child);
    for (const run of [root.run_id, child.run_id]) expect((await remove(run, root.client)).status).toBe(403);
  });

  // @contract repeats.delete
  it("returns 204 to a client's repeat, and 404 to another request", async () => {
    const runId = await endedRun();
    expect((await remove(runId)).status).toBe(204);
    expect(await remove(runId, user, REPEATED)).toMatchObject({
      status: 204,
      headers: { "idempotent-replay": "true" },
    });
    expect((await remove(runId)).status).toBe(404);
    const other = await endedRun();
    const keyed = { "idempotency-key": "delete-it" };
    expect((await remove(other, user, keyed)).status).toBe(204);
    expect((await remove(other, user, keyed)).status).toBe(204);
    expect((await remove("0199a3c4-0000-7000-8000-000000000001", user, REPEATED)).status).toBe(404);
  });

  // @contract delete.replay: Idempotent replays of the creation of a deleted run return 404.
  it("makes repeats of the run's creation return 404", async () => {
    const schedule = (await user.post("/agent/schedules", { name: "n", cron_schedule: "@daily", prompt: "p" })).body.id;
    for (const [path, body] of [
      ["/agent/runs", { prompt: "once" }],
      [`/agent/schedules/${schedule}/run`, undefined],
    ] as const) {
      for (const headers of [{ "idempotency-key": "one" }, REPEATED]) {
        const { run_id } = (await user.post(path, body, { headers })).body;
        await user.post(`/agent/runs/${run_id}/cancel`);
        expect((await remove(run_id)).status).toBe(204);
        const repeat = await user.post(path, body, { headers });
        expect(repeat, path).toMatchObject({ status: 404, body: { error_code: "resource_not_found" } });
      }
    }
  });

  // @contract delete.usage: Usage stays when a run is deleted.
  it("keeps usage, also that of a run whose end is not processed yet, and hands on what the run has released", async () => {
    await user.put(`/agent/teams/${plane.team}`, { settings: { concurrency_limit: 1 } });
    const first = await workingRun(plane, { prompt: "first", team: true });
    const next = await createRun(plane, { prompt: "next", team: true });
    await deliver(plane);
    expect((await plane.ports.runs.head(next))?.waiting).toBe("owner");
    await first.finish();
    expect((await remove(first.run_id)).status).toBe(204);
    await deliver(plane);
    expect((await user.get(`/agent/runs/${next}`)).body.state).toBe("PENDING");
    await passHour();
    const { buckets } = (await user.get("/agent/usage?from=2026-05-18&to=2026-05-18")).body;
    expect(buckets).toMatchObject([{ runs: 1, succeeded: 1 }]);
  });

  it("waits for the sandbox of a cancelled run that its provider has to stop", async () => {
    const runId = await endedRun();
    const stop = { provider: "fargate", execution_id: "e", by: plane.clock.now };
    await plane.table.write({ kind: "update", key: keys.head(runId), set: { stops: [stop] } });
    expect(await remove(runId)).toMatchObject({ status: 409, body: { retryable: true } });
    await plane.table.write({ kind: "update", key: keys.head(runId), remove: ["stops"] });
    expect((await remove(runId)).status).toBe(204);
  });

  it("deletes nothing of a run that a follow-up continues at the same time", async () => {
    const runId = await endedRun({ prompt: "p" });
    const { transact } = plane.ports.table;
    let isFirst = true;
    plane.ports.table.transact = async (writes) => {
      const isDeletion = writes.some((write) => write.kind === "delete" && write.key.sk === "HEAD");
      if (isDeletion && isFirst) {
        isFirst = false;
        expect((await user.post(`/agent/runs/${runId}/followups`, { message: "go on" })).status).toBe(200);
      }
      return transact(writes);
    };
    expect((await remove(runId)).status).toBe(409);
    expect((await user.get(`/agent/runs/${runId}`)).body.state).toBe("QUEUED");
  });

  it("deletes no run to which a child is added at the same time, and adds no child to a deleted run", async () => {
    const parent = await endedRun({ prompt: "p" });
    const { transact } = plane.ports.table;
    let child = "";
    plane.ports.table.transact = async (writes) => {
      const isDeletion = writes.some((write) => write.kind === "delete" && write.key.sk === "HEAD");
      if (isDeletion && child === "") child = await createRun(plane, { prompt: "c", parent_run_id: parent });
      return transact(writes);
    };
    expect((await remove(parent)).status).toBe(409);
    await user.post(`/agent/runs/${child}/cancel`);
    let isFirst = true;
    plane.ports.table.transact = async (writes) => {
      if (isFirst) {
        isFirst = false;
        expect((await remove(parent)).status).toBe(204);
      }
      return transact(writes);
    };
    expect((await user.post("/agent/runs", { prompt: "d", parent_run_id: parent })).status).toBe(429);
    expect(await plane.table.get(keys.head(parent))).toBeUndefined();
  });
});

describe("a conversation of which a run was deleted", () => {
  const createConversation = async (): Promise<[string, string, string]> => {
    const first = await endedRun({ title: "one", prompt: `one ${LONG}` });
    const second = await endedRun({ title: "two", prompt: "two", conversation_id: first });
    const third = await endedRun({ title: "three", prompt: "three", conversation_id: first });
    return [first, second, third];
  };

  // @contract delete.conversation: A conversation that another run continues is kept.
  it("stays whole as long as a later run continues it, also for the agent, and is deleted with that", async () => {
    const [first, second, third] = await createConversation();
    const whole = await textOf(first);
    for (const run of [first, second]) {
      expect((await remove(run)).status).toBe(204);
      expect((await user.get(`/agent/runs/${run}`)).status).toBe(404);
      expect(await textOf(first)).toBe(whole);
    }
    await passHour();
    expect(await textOf(first)).toBe(whole);
    expect([...plane.files.files.keys()].filter((key) => key.includes(`/${first}/`))).toEqual([
      expect.stringContaining("/messages/"),
    ]);
    await user.post(`/agent/conversations/${first}/followups`, { message: "go on" });
    const harness = createHarness(plane, await plane.dispatch(third));
    const { context } = (await harness.resolve()).body;
    for (const turn of ["one", "two", "three"]) expect(JSON.stringify(context.messages)).toContain(`turn of ${turn}`);
    await harness.support("finish-task", { success: true, summary: "done", followups_stored: 1 });

    expect((await remove(third)).status).toBe(204);
    expect((await user.get(`/agent/conversations/${first}`)).status).toBe(404);
    await passHour();
    expect([first, second, third].flatMap(findTraces)).toEqual([]);
    expect(plane.files.files.size).toBe(0);
  });

  it("loses the turns of its latest run, and goes on from the one before", async () => {
    const [first, second, third] = await createConversation();
    await remove(second);
    expect((await remove(third)).status).toBe(204);
    for (let pass = 0; pass < 2; pass++) {
      const text = await textOf(first);
      expect(text).toContain("turn of one");
      expect(text).not.toContain("turn of two");
      expect(text).not.toContain("turn of three");
      await passHour();
    }
    expect([second, third].flatMap(findTraces)).toEqual([]);
    const { body } = await user.post(`/agent/conversations/${first}/followups`, { message: "go on" });
    expect(body.run_id).toBe(first);
  });

  it("is continued by a new run where the deleted one was the latest", async () => {
    const [first, , third] = await createConversation();
    await remove(third);
    const { status, body } = await user.post("/agent/runs", { prompt: "four", conversation_id: first });
    expect(status).toBe(200);
    const { context } = (await createHarness(plane, await plane.dispatch(body.run_id)).resolve()).body;
    expect(JSON.stringify(context.messages)).toContain("turn of two");
    expect(JSON.stringify(context.messages)).not.toContain("turn of three");
  });
});
