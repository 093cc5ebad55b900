import { beforeEach, describe, expect, it, vi } from "vitest";
import { completeDeletion, deleteRun, type RetentionPorts } from "#shared/retention/delete-run.ts";
import { DELETION_SHARD, keys, RETENTION_SHARD } from "#shared/table/keys.ts";
import type { TransactionWrite } from "#shared/table/table.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type ResponseBody, type TestControlPlane } from "../../support/control-plane.ts";
import { createHarness, createRun, deliver, type Harness, nextExecution, workingRun } from "../../support/execution.ts";
import { runRetentionPass } from "../../support/retention.ts";
import { fireAt, makeSchedule } from "../../support/schedules.ts";

const DAY_MS = 24 * 3_600_000;
const TEAM = { team: true };
const LONG = "A long text. ".repeat(4_000);

let plane: TestControlPlane;
let user: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
});

const passHour = (ports: RetentionPorts = plane.ports): Promise<void> => runRetentionPass(ports);
const setRetention = (retention_days: unknown, team = plane.team, client = user): Promise<ResponseBody> =>
  client.put(`/agent/teams/${team}`, { settings: { retention_days } });
const passDays = (days: number): void => {
  plane.clock.now += days * DAY_MS;
};
const statusOf = async (runId: string, client = user): Promise<number> =>
  (await client.get(`/agent/runs/${runId}`)).status;
const listIds = async (query = ""): Promise<string[]> =>
  (await user.get(`/agent/runs?${query}`)).body.runs.map(({ run_id }: { run_id: string }) => run_id);

/** Ports whose clock goes on by some minutes each time that it is read. */
function slowed(minutes: number, ports: RetentionPorts = plane.ports): RetentionPorts {
  let { now } = plane.clock;
  return { ...ports, now: () => (now += minutes * 60_000) };
}

/** Ports whose table refuses some writes. */
function refusing(isRefused: (write: TransactionWrite) => boolean): RetentionPorts {
  const { table } = plane.ports;
  const check = (writes: readonly TransactionWrite[]) => {
    if (writes.some(isRefused)) throw new Error("the table is not available");
  };
  return {
    ...plane.ports,
    table: {
      ...table,
      async write(write) {
        check([write]);
        await table.write(write);
      },
      async transact(writes) {
        check(writes);
        await table.transact(writes);
      },
    },
  };
}

/** Ports that cannot delete the files of a run. */
function withoutFilesOf(runId: string): RetentionPorts {
  const removeAll = async (prefix: string): Promise<void> => {
    if (prefix.includes(runId)) throw new Error("the storage is not available");
    return plane.files.removeAll(prefix);
  };
  return { ...plane.ports, fileRemoval: { ...plane.files, removeAll } };
}

/** What a pass has logged last. */
function readLog(): unknown {
  const [line] = vi.mocked(process.stdout.write).mock.lastCall ?? [];
  return JSON.parse(String(line));
}

/** Ends a run and completes its end. */
async function end(harness: Harness): Promise<string> {
  expect((await harness.finish()).status).toBe(200);
  await deliver(plane);
  return harness.run_id;
}
const endedRun = async (body: object = {}, key = plane.key): Promise<string> =>
  end(await workingRun(plane, { prompt: "hello", ...TEAM, ...body }, key));

/** The keys of all items that contain a text, and of all files whose key does. Records of requests expire by themselves. */
const findTraces = (text: string): string[] => [
  ...plane.table
    .all()
    .filter((item) => !item.pk.startsWith("IDEM#") && JSON.stringify(item).includes(text))
    .map(({ pk, sk }) => `${pk} ${sk}`),
  ...[...plane.files.files.keys()].filter((key) => key.includes(text)),
];

describe("settings.retention_days", () => {
  // @contract teams.retention: retention_days states how long runs are kept.
  it("is a number of days from 1 to 3,650, or null", async () => {
    for (const days of [0, -1, 3_651, 1.5, "30", true, []]) {
      const { status, body } = await setRetention(days);
      expect({ days, status, path: body.errors?.[0]?.path }).toEqual({
        days,
        status: 400,
        path: "settings.retention_days",
      });
    }
    for (const days of [1, 3_650, null]) {
      expect((await setRetention(days)).status).toBe(200);
      expect((await user.get(`/agent/teams/${plane.team}`)).body.settings.retention_days).toBe(days);
    }
  });

  it("lists the team among those with a retention as long as it has one", async () => {
    const listTeams = async () => {
      const { items } = await plane.table.query({ index: "gsi6", pk: RETENTION_SHARD });
      return items.map(({ pk, sk }) => ({ pk, sk }));
    };
    plane.clock.now += 1;
    const { body } = await user.post("/agent/teams", { name: "Gamma", settings: { retention_days: 7 } });
    expect(await listTeams()).toEqual([keys.team(body.uid)]);
    await setRetention(30);
    await setRetention(60);
    expect(await listTeams()).toEqual([keys.team(plane.team), keys.team(body.uid)]);
    await setRetention(null, body.uid);
    expect(await listTeams()).toEqual([keys.team(plane.team)]);
    await user.put(`/agent/teams/${plane.team}`, { name: "Delta", settings: { queue_limit: 7 } });
    expect(await listTeams()).toEqual([keys.team(plane.team)]);
  });
});

// @contract teams.retention
describe("runs that are older than the retention of their team", () => {
  it("are deleted with all their items and files", async () => {
    await setRetention(30);
    const attachments = [{ file_name: "a.txt", mime_type: "text/plain", data: Buffer.from("text").toString("base64") }];
    const environment = await user.post("/agent/environments", { name: "Build", team: true });
    const config = { environment_id: environment.body.uid };
    const harness = await workingRun(plane, { prompt: LONG, ...TEAM, attachments, config });
    const runId = harness.run_id;
    await harness.messages(1, "short", LONG);
    const plan = { document_uid: "plan-1", title: "Plan", content: "# Plan\n" };
    const artifact = await harness.support("report-artifact", { artifact_type: "PLAN", data: plan });
    await harness.support("notify-user", { message: "half done" });
    await harness.event({ event_uuid: "e", event_name: "agent_started", timestamp: "2026-05-18T19:00:00Z" });
    const again = await restart(harness);
    await again.beat(1);
    await end(again);
    await user.get(`/agent/runs/${runId}/transcript`);
    expect(plane.files.files.size).toBeGreaterThan(5);
    expect(findTraces(runId).length).toBeGreaterThan(15);
    const usage = (await user.get("/agent/usage?group_by=model&from=2026-05-01&to=2026-05-31")).body;

    passDays(29);
    await passHour();
    expect(await statusOf(runId)).toBe(200);
    passDays(1.1);
    await passHour();
    for (const path of [
      `/agent/runs/${runId}`,
      `/agent/runs/${runId}/events?after=0`,
      `/agent/runs/${runId}/timeline`,
      `/agent/runs/${runId}/conversation`,
      `/agent/runs/${runId}/transcript`,
      `/agent/conversations/${runId}`,
      `/agent/artifacts/${artifact.body.artifact_uid}`,
    ]) {
      expect([path, (await user.get(path)).status]).toEqual([path, 404]);
    }
    expect((await user.post(`/agent/runs/${runId}/followups`, { message: "go on" })).status).toBe(404);
    expect(await listIds()).toEqual([]);
    expect(await listIds("q=long")).toEqual([]);
    expect(findTraces(runId)).toEqual([]);
    expect([...plane.files.files.keys()]).toEqual([]);
    expect(findTraces(artifact.body.artifact_uid)).toEqual([]);
    expect((await user.get("/agent/usage?group_by=model&from=2026-05-01&to=2026-05-31")).body).toEqual(usage);
    expect((await user.get(`/agent/environments/${environment.body.uid}`)).status).toBe(200);
  });

  it("are deleted with the transcripts of a third-party harness, which their conversation names", async () => {
    await setRetention(1);
    const harness = await workingRun(plane, { prompt: "hello", ...TEAM });
    const { run_id } = harness;
    const { conversation_id } = (await harness.support("external-conversation", { format: "claude" })).body;
    const { body } = await harness.support("transcript", { conversation_id });
    await plane.upload(body.url, "raw\n");
    await end(harness);
    expect(findTraces(run_id).filter((trace) => trace.startsWith("CONVERSATION#"))).toEqual([
      `CONVERSATION#${conversation_id} RAW`,
    ]);
    passDays(1.1);
    await passHour();
    expect(findTraces(run_id)).toEqual([]);
    expect(plane.files.files.size).toBe(0);
  });

  it("are those of teams only, and of the teams that have one", async () => {
    await setRetention(1);
    const expired = await endedRun();
    const personal = await endedRun({ team: false });
    const others = await endedRun({}, plane.otherKey);
    passDays(2);
    const young = await endedRun();
    await passHour();
    expect(await Promise.all([expired, personal, young].map((run) => statusOf(run)))).toEqual([404, 200, 200]);
    expect(await statusOf(others, createClient(plane, plane.otherKey))).toBe(200);
    await setRetention(null);
    passDays(100);
    await passHour();
    expect(await statusOf(young)).toBe(200);
  });

  it("have ended: a run that waits or works is kept", async () => {
    await setRetention(1);
    const waiting = await createRun(plane, { prompt: "hello", ...TEAM });
    const { run_id: working } = await workingRun(plane, { prompt: "hello", ...TEAM });
    const blocked = await workingRun(plane, { prompt: "hello", ...TEAM });
    await blocked.support("report-blocked", { question: "Which one?" });
    passDays(2);
    await passHour();
    expect(await Promise.all([waiting, working].map((run) => statusOf(run)))).toEqual([200, 200]);
  });

  it("are deleted page by page, the oldest change first, until the time of a pass is over", async () => {
    await setRetention(1);
    const runIds: string[] = [];
    for (let count = 0; count < 3; count++) {
      runIds.push(await endedRun());
      plane.clock.now += 1_000;
    }
    passDays(2);
    // Each look at the clock takes six minutes: at the start, for the retention, and before each run.
    await passHour(slowed(6));
    expect(await Promise.all(runIds.map((run) => statusOf(run)))).toEqual([404, 200, 200]);
    await passHour();
    expect(await Promise.all(runIds.map((run) => statusOf(run)))).toEqual([404, 404, 404]);
  });

  it("are deleted by turns of their teams, so that a team with many of them leaves time for the others", async () => {
    const teams = [plane.team, plane.otherTeam].toSorted();
    const clients = new Map([
      [plane.team, user],
      [plane.otherTeam, createClient(plane, plane.otherKey)],
    ]);
    for (const team of teams) await setRetention(1, team, clients.get(team));
    const runIds = new Map<string, string[]>(teams.map((team) => [team, []]));
    for (const [index, team] of teams.entries()) {
      // The team that is listed first has many more runs than the other one.
      for (let count = 0; count < (index === 0 ? 60 : 2); count++) {
        runIds.get(team)?.push(await endedRun({}, team === plane.team ? undefined : plane.otherKey));
      }
    }
    passDays(2);
    // Begins with the team that is listed first.
    while (Math.floor((plane.clock.now + 12 * 60_000) / 3_600_000) % 2 !== 0) plane.clock.now += 3_600_000;
    // Each look at the clock takes 20 seconds, so that a pass has time for about 35 runs.
    await passHour(slowed(1 / 3));
    const left = async (team: string) => {
      const states = (runIds.get(team) ?? []).map((run) => statusOf(run, clients.get(team)));
      return (await Promise.all(states)).filter((status) => status === 200).length;
    };
    expect(await left(teams[1] ?? "")).toBe(0);
    expect(await left(teams[0] ?? "")).toBeGreaterThan(20);
  });

  it("are those of every team with a retention, however many teams there are", async () => {
    await setRetention(1);
    const runId = await endedRun();
    for (let count = 0; count < 120; count++) {
      // Of a team that was deleted, and has not left the index yet.
      const team = { pk: `TEAM#0${String(count).padStart(3, "0")}`, sk: "LEFT" };
      await plane.table.write({ kind: "put", item: { ...team, check_shard: RETENTION_SHARD, check_at: team.pk } });
    }
    const key = keys.team(plane.otherTeam);
    const kept = await endedRun({}, plane.otherKey);
    await plane.table.write({ kind: "update", key, set: { check_shard: RETENTION_SHARD, check_at: plane.otherTeam } });
    passDays(2);
    await passHour();
    expect(readLog()).toMatchObject({ level: "info", message: "old runs deleted", deleted: 1, failed: 0 });
    expect(await statusOf(runId)).toBe(404);
    expect(await statusOf(kept, createClient(plane, plane.otherKey))).toBe(200);
  });

  it("are found however many there are", async () => {
    await setRetention(1);
    const { table } = plane;
    const first = await endedRun();
    const { head, body } = (await plane.ports.runs.headAndBody(first)) ?? {};
    expect(head?.state).toBe("SUCCEEDED");
    const item = await table.get(keys.head(first));
    for (let count = 0; count < 120; count++) {
      const runId = `${first.slice(0, -4)}${String(count).padStart(4, "0")}`;
      const updated_key = `${String(item?.["updated_key"]).split("#")[0]}#${runId}`;
      await table.write({ kind: "put", item: { ...item, ...keys.head(runId), updated_key, created_key: runId } });
      await table.write({ kind: "put", item: { ...keys.body(runId), v: 1, ...body, conversation_id: runId } });
    }
    passDays(2);
    await passHour();
    expect(table.all().filter(({ sk }) => sk === "HEAD" || sk === "BODY")).toEqual([]);
  });
});

describe("a run is kept", () => {
  beforeEach(() => setRetention(10));

  it("while the latest run of its conversation is", async () => {
    const first = await endedRun();
    passDays(9);
    const second = await endedRun({ conversation_id: first });
    passDays(2);
    await passHour();
    expect(await Promise.all([first, second].map((run) => statusOf(run)))).toEqual([200, 200]);
    passDays(9);
    await passHour();
    expect(await Promise.all([first, second].map((run) => statusOf(run)))).toEqual([404, 404]);
    expect(findTraces(`CONVERSATION#${first}`)).toEqual([]);
    expect((await user.post("/agent/runs", { prompt: "more", ...TEAM, conversation_id: first })).status).toBe(400);
  });

  it("while a run below it is, and deleted together with all of them", async () => {
    const root = await workingRun(plane, { prompt: "hello", ...TEAM });
    const child = await workingRun(plane, { prompt: "hello", parent_run_id: root.run_id }, root.key);
    const young = await workingRun(plane, { prompt: "hello", parent_run_id: root.run_id }, root.key);
    await end(child);
    await end(root);
    passDays(9);
    await end(young);
    passDays(2);
    await passHour();
    const tree = [root, child, young].map(({ run_id }) => run_id);
    expect(await Promise.all(tree.map((run) => statusOf(run)))).toEqual([200, 200, 200]);
    expect(await listIds(`ancestor_run_id=${root.run_id}`)).toHaveLength(2);
    passDays(9);
    await passHour();
    expect(await Promise.all(tree.map((run) => statusOf(run)))).toEqual([404, 404, 404]);
    expect(findTraces("DESCENDANT")).toEqual([]);
  });

  it("while the run above it is, although it is older", async () => {
    const root = await workingRun(plane, { prompt: "hello", ...TEAM });
    const child = await end(await workingRun(plane, { prompt: "hello", parent_run_id: root.run_id }, root.key));
    passDays(9);
    await end(root);
    passDays(2);
    await passHour();
    expect(await statusOf(child)).toBe(200);
  });

  it("while a run below it has ended exactly that long ago", async () => {
    const root = await workingRun(plane, { prompt: "hello", ...TEAM });
    const child = await workingRun(plane, { prompt: "hello", parent_run_id: root.run_id }, root.key);
    await end(root);
    plane.clock.now += 1;
    await end(child);
    passDays(10);
    await passHour();
    expect(await statusOf(root.run_id)).toBe(200);
    plane.clock.now += 1;
    await passHour();
    expect(readLog()).toMatchObject({ deleted: 2 });
    expect(await statusOf(root.run_id)).toBe(404);
  });

  it("only as long as the latest run of its conversation exists", async () => {
    const first = await endedRun();
    const tail = { ...keys.conversationTail(first), v: 1, run_id: "0199e0b2-0000-7000-8000-00000000dead" };
    await plane.table.write({ kind: "put", item: tail });
    passDays(11);
    await passHour();
    expect(await statusOf(first)).toBe(404);
  });

  it("if a follow-up continues it before its deletion begins", async () => {
    const runId = await endedRun();
    const read = await plane.ports.runs.headAndBody(runId);
    if (read === undefined || !("ended_at" in read.head)) throw new Error("the run has not ended");
    await user.post(`/agent/runs/${runId}/followups`, { message: "go on" });
    const before = plane.table.all();
    expect(await deleteRun(read.head, read.body, plane.ports)).toBe(false);
    expect(plane.table.all()).toEqual(before);
  });
});

describe("a conversation whose first run was deleted", () => {
  it("can be read and continued by its id as long as it has another run, by the same callers", async () => {
    await setRetention(10);
    const first = await endedRun({ prompt: "the first prompt" });
    const second = await workingRun(plane, { prompt: "the second prompt", conversation_id: first });
    await workingRun(plane, { prompt: "help", parent_run_id: second.run_id }, second.key);
    await end(second);
    passDays(11);
    await passHour();
    expect([await statusOf(first), await statusOf(second.run_id)]).toEqual([404, 200]);

    const read = await user.get(`/agent/conversations/${first}`);
    expect(read).toMatchObject({ status: 200, body: { conversation_id: first } });
    expect(read.body.steps.map(({ messages }: { messages: object[] }) => messages[0])).toMatchObject([
      { content: [{ text: "the second prompt" }] },
    ]);
    const stranger = createClient(plane, plane.otherKey);
    expect((await stranger.get(`/agent/conversations/${first}`)).status).toBe(404);
    expect((await user.get(`/agent/conversations/${second.run_id}`)).status).toBe(404);
    const body = { prompt: "go on", conversation_id: first };
    for (const [client, id] of [
      [stranger, first],
      [user, second.run_id],
    ] as const) {
      expect((await client.post("/agent/runs", { ...body, conversation_id: id })).status).toBe(400);
    }
    const made = await user.post("/agent/runs", body);
    expect(made.status).toBe(200);
    const { context } = (await createHarness(plane, await plane.dispatch(made.body.run_id)).resolve()).body;
    expect(JSON.stringify(context.messages)).toContain("the second prompt");
    expect(JSON.stringify(context.messages)).not.toContain("the first prompt");
    expect((await user.post(`/agent/runs/${second.run_id}/followups`, { message: "and this" })).status).toBe(409);
  });

  it("does not exist when no run of it is left", async () => {
    await setRetention(10);
    const first = await endedRun();
    passDays(11);
    await passHour();
    expect((await user.get(`/agent/conversations/${first}`)).status).toBe(404);
    expect((await user.post("/agent/runs", { prompt: "go on", conversation_id: first })).status).toBe(400);
  });
});

describe("the deletion of a run", () => {
  beforeEach(() => setRetention(1));

  it("is completed by the next pass if it was interrupted, and keeps no other run from its deletion", async () => {
    const attachments = [{ file_name: "a.txt", mime_type: "text/plain", data: "dGV4dA==" }];
    const first = await endedRun({ attachments });
    const second = await endedRun();
    passDays(2);
    const broken = withoutFilesOf(first);
    await expect(passHour(broken)).rejects.toThrow("1 runs could not be deleted");
    expect(await Promise.all([first, second].map((run) => statusOf(run)))).toEqual([404, 404]);
    expect(findTraces(second)).toEqual([]);
    expect(await listIds()).toEqual([]);
    expect(plane.files.files.size).toBeGreaterThan(1);
    await passHour();
    expect(findTraces(first)).toEqual([]);
    expect(plane.files.files.size).toBe(0);
  });

  it("deletes a run whose descendants are deleted already, and finds all of its items", async () => {
    const root = await workingRun(plane, { prompt: "hello", ...TEAM });
    const child = await workingRun(plane, { prompt: "hello", parent_run_id: root.run_id }, root.key);
    for (let count = 0; count < 250; count++) {
      await plane.table.write({ kind: "put", item: { ...keys.clientEvent(root.run_id, `event-${count}`), v: 1 } });
    }
    await end(child);
    await end(root);
    passDays(2);
    const broken = withoutFilesOf(child.run_id);
    await expect(passHour(broken)).rejects.toThrow("1 runs could not be deleted");
    expect(readLog()).toMatchObject({ level: "error", message: "old runs deleted", deleted: 0, failed: 1 });
    await expect(passHour(broken)).rejects.toThrow("1 runs could not be deleted");
    expect(readLog()).toMatchObject({ deleted: 1, failed: 1 });
    expect(findTraces(`RUN#${root.run_id}`)).toEqual([]);
    await passHour();
    expect(readLog()).toMatchObject({ deleted: 1, failed: 0 });
    expect(findTraces(child.run_id)).toEqual([]);
  });

  it("keeps its note until the last item is deleted", async () => {
    const runId = await endedRun();
    passDays(2);
    const isEvent = (write: TransactionWrite) => write.kind === "delete" && write.key.sk.startsWith("EVENT#");
    await expect(passHour(refusing(isEvent))).rejects.toThrow();
    expect(await plane.table.get(keys.deletion(runId))).toMatchObject({ check_shard: DELETION_SHARD });
    await passHour();
    expect(findTraces(runId)).toEqual([]);
    await completeDeletion(runId, plane.ports);
    expect(findTraces(runId)).toEqual([]);
  });

  it("is tried again where the table refuses it", async () => {
    const runId = await endedRun();
    passDays(2);
    const isHead = (write: TransactionWrite) => write.kind === "delete" && write.key.sk === "HEAD";
    await expect(passHour(refusing(isHead))).rejects.toThrow("1 runs could not be deleted");
    const logged = vi.mocked(process.stdout.write).mock.calls.map(([line]) => String(line));
    expect(logged.find((line) => line.includes("a run could not be deleted"))).toContain(runId);
    expect(await statusOf(runId)).toBe(200);
    const isTail = (write: TransactionWrite) => write.kind === "delete" && write.key.sk === "TAIL";
    await expect(passHour(refusing(isTail))).rejects.toThrow("1 runs could not be deleted");
    await passHour();
    expect(findTraces(runId)).toEqual([]);
  });

  it("is completed for as many runs as a pass has time for", async () => {
    for (let count = 0; count < 120; count++) {
      const conversation_id = `0199e0b2-0000-7000-8000-${String(count).padStart(12, "0")}`;
      const note = {
        files: [],
        ancestors: [],
        conversation_id,
        check_shard: DELETION_SHARD,
        check_at: conversation_id,
      };
      await plane.table.write({ kind: "put", item: { ...keys.deletion(conversation_id), v: 1, ...note } });
    }
    // The clock is read at the start, and before each run.
    await passHour(slowed(12));
    expect(readLog()).toMatchObject({ deleted: 1, failed: 0 });
    await passHour();
    expect(readLog()).toMatchObject({ deleted: 119, failed: 0 });
  });

  it("leaves a later run as the latest of its environment", async () => {
    const { uid } = (await user.post("/agent/environments", { name: "Build", team: true })).body;
    await endedRun({ config: { environment_id: uid } });
    passDays(2);
    const later = await endedRun({ config: { environment_id: uid } });
    await passHour();
    expect(readLog()).toMatchObject({ deleted: 1, failed: 0 });
    expect((await user.get(`/agent/environments/${uid}`)).body.last_task_created.id).toBe(later);
    passDays(2);
    await passHour();
    expect((await user.get(`/agent/environments/${uid}`)).body).not.toHaveProperty("last_task_created");
    expect(await statusOf(await endedRun({ config: { environment_id: uid } }))).toBe(200);
  });

  it("leaves files of other runs, although their requests had the same key and content", async () => {
    const request = {
      prompt: LONG,
      ...TEAM,
      attachments: [{ file_name: "a", mime_type: "text/plain", data: "dGV4dA==" }],
    };
    const submit = async () => {
      const headers = { "idempotency-key": "nightly" };
      const { body } = await user.post("/agent/runs", request, { headers });
      return end(createHarness(plane, await plane.dispatch(body.run_id)));
    };
    const first = await submit();
    passDays(1.001);
    const second = await submit();
    expect(second).not.toBe(first);
    passDays(0.5);
    await passHour();
    expect(await Promise.all([first, second].map((run) => statusOf(run)))).toEqual([404, 200]);
    expect((await user.get(`/agent/runs/${second}/conversation`)).body.steps[0].messages[0].content[0].text).toBe(LONG);
    expect(plane.files.files.size).toBe(3);
  });

  it("leaves the prompt of a schedule, which its other runs have too", async () => {
    const { id } = await makeSchedule(plane, { prompt: LONG, team: true });
    await fireAt(plane, id, "2026-05-19T02:30:00.000Z");
    const first = await end(await resolved(await nextExecution(plane)));
    await fireAt(plane, id, "2026-05-20T02:30:00.000Z");
    const second = await end(await resolved(await nextExecution(plane)));
    plane.clock.now = Date.parse("2026-05-20T12:00:00.000Z");
    await passHour();
    expect(await Promise.all([first, second].map((run) => statusOf(run)))).toEqual([404, 200]);
    const { recent_runs } = (await user.get(`/agent/schedules/${id}`)).body;
    expect(recent_runs.map(({ run_id }: { run_id: string }) => run_id)).toEqual([second]);
    expect((await user.get(`/agent/runs/${second}/conversation`)).body.steps[0].messages[0].content[0].text).toBe(LONG);
    expect((await user.get(`/agent/schedules/${id}`)).body.prompt).toBe(LONG);
  });
});

/** Lets a harness make its first call. */
async function resolved(harness: Harness): Promise<Harness> {
  expect((await harness.resolve()).status).toBe(200);
  return harness;
}

/** Ends a run and continues it with a follow-up; returns the harness of the next execution. */
async function restart(harness: Harness): Promise<Harness> {
  await end(harness);
  await user.post(`/agent/runs/${harness.run_id}/followups`, { message: LONG });
  return resolved(await nextExecution(plane));
}
