import { createHash } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { RUN_CAPS } from "#shared/records/run.ts";
import { keys } from "#shared/table/keys.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { type Harness, workingRun } from "../../support/execution.ts";

let plane: TestControlPlane;
let user: Client;
let run: Harness;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
  run = await workingRun(plane);
});

const refused = (detail: string) => ({ status: 429, body: { error_code: "resource_unavailable", detail } });
const describeFile = (content: string) => ({
  size_bytes: content.length,
  sha256: createHash("sha256").update(content).digest("hex"),
});

/** Sets the counters, as if this many were already stored. */
const setCounters = (counters: Record<string, number>) =>
  plane.table.write({ kind: "update", key: keys.head(run.run_id), set: counters });
const head = () => plane.ports.runs.head(run.run_id);

describe("a run at its limit", () => {
  it("stores one more snapshot, and returns 429 for the next one", async () => {
    const save = async (generation: string) => {
      const file = { filename: "workspace.tar.gz", mime_type: "application/gzip", ...describeFile(generation) };
      const placed = await run.support("upload-snapshot", { mode: "checkpoint", generation, files: [file] });
      if (placed.status !== 200) return placed;
      await plane.upload(placed.body.uploads[0].url, generation);
      return run.support("commit-snapshot", { generation, files: [file.filename] });
    };
    await setCounters({ snapshots: RUN_CAPS.snapshots - 1 });
    expect((await save("last")).status).toBe(200);
    expect(await save("more")).toMatchObject(refused(`a run stores at most ${RUN_CAPS.snapshots} snapshots`));
    expect(await head()).toMatchObject({ snapshots: RUN_CAPS.snapshots });
  });

  it("stores one more raw transcript, and returns 429 for the next one", async () => {
    const { body } = await run.support("external-conversation", { format: "claude" });
    const place = (text: string) =>
      run.support("transcript", { conversation_id: body.conversation_id, ...describeFile(text) });
    await setCounters({ transcripts: RUN_CAPS.transcripts - 1 });
    expect((await place("last")).status).toBe(200);
    expect((await place("last")).status, "a repeat").toBe(200);
    const more = `a run stores at most ${RUN_CAPS.transcripts} raw transcripts`;
    expect(await place("more")).toMatchObject(refused(more));
    expect(await head()).toMatchObject({ transcripts: RUN_CAPS.transcripts });
  });

  it("stores one more message, and returns 429 for the next one", async () => {
    const first = RUN_CAPS.messages;
    await setCounters({ messages: first - 1 });
    expect((await run.messages(first, "last")).status).toBe(200);
    expect(await run.messages(first + 1, "more")).toMatchObject({ status: 429 });
    expect(await head()).toMatchObject({ messages: first });
  });

  it("stores messages up to the last byte, and returns 429 for one byte more", async () => {
    expect((await run.messages(1, "x")).status).toBe(200);
    const bytes = (await head())?.message_bytes ?? 0;
    await setCounters({ message_bytes: RUN_CAPS.messageBytes - bytes });
    expect((await run.messages(2, "y")).status).toBe(200);
    expect(await head()).toMatchObject({ message_bytes: RUN_CAPS.messageBytes });
    await setCounters({ message_bytes: RUN_CAPS.messageBytes - bytes + 1 });
    expect(await run.messages(3, "z")).toMatchObject({ status: 429 });
  });

  it("gives one more notification, and returns 429 for the next one", async () => {
    await setCounters({ notifications: RUN_CAPS.notifications - 1 });
    expect((await run.support("notify-user", { message: "last" })).status).toBe(200);
    expect(await run.support("notify-user", { message: "more" })).toMatchObject({ status: 429 });
  });

  it("stores one more client event as a whole, and returns 429 for the next one", async () => {
    await setCounters({ client_events: RUN_CAPS.clientEvents - 2 });
    plane.clock.now += 5_000;
    const times = { start_ts: "2026-05-18T18:00:00.000Z", finish_ts: "2026-05-18T18:00:01.000Z" };
    const members = { is_error: false, detail: "d", ...times, step: "clone" };
    const event = {
      event_uuid: "0199e0b2-0000-7000-8000-00000000beef",
      event_name: "agent_started",
      timestamp: "2026-05-18T18:00:00.000Z",
      payload: { latency_ms: 12.6, ...members },
    };
    for (const _ of [1, 2]) expect((await run.event(event)).status).toBe(200);
    expect(await head(), "a repeat").toMatchObject({ client_events: RUN_CAPS.clientEvents - 1 });
    const { events } = (await user.get(`/agent/runs/${run.run_id}/timeline`)).body;
    const payload = expect.objectContaining({ duration_ms: 13, ...members });
    expect(events.filter(({ event_type }: { event_type: string }) => event_type === "agent_started")).toEqual([
      expect.objectContaining({ event_uuid: event.event_uuid, occurred_at: "2026-05-18T19:00:05.000Z", payload }),
    ]);
    expect((await run.event({ ...event, event_name: "model_retry", event_uuid: "last" })).status).toBe(200);
    expect(await head()).toMatchObject({ client_events: RUN_CAPS.clientEvents, heartbeat_at: plane.clock.now });
    const more = `a run stores at most ${RUN_CAPS.clientEvents} client events`;
    expect(await run.event({ ...event, event_uuid: "another" })).toMatchObject(refused(more));
    expect((await run.event({ ...event, event_uuid: "last" })).status, "a repeat at the limit").toBe(200);
    expect(await head()).toMatchObject({ client_events: RUN_CAPS.clientEvents });
  });

  it.each([
    ["artifacts", { placed_artifacts: RUN_CAPS.artifacts }, { placed_artifacts: RUN_CAPS.artifacts - 1 }],
    ["bytes", { placed_bytes: RUN_CAPS.artifactBytes - 2 }, { placed_bytes: RUN_CAPS.artifactBytes - 3 }],
  ])("stores one more artifact, and returns 429 for more %s", async (_, full, almost) => {
    const data = { filepath: "a.txt", filename: "a.txt", mime_type: "text/plain", ...describeFile("abc") };
    const report = () => run.support("report-artifact", { artifact_type: "FILE", data });
    await setCounters(full);
    expect((await report()).status).toBe(429);
    await setCounters(almost);
    expect((await report()).status).toBe(200);
  });
});

describe("a text of 32 KiB", () => {
  const INLINE = 32 * 1024;

  it.each([
    [INLINE, ["message"]],
    [INLINE + 1, ["message_file", "message_bytes"]],
  ])("of %i bytes in a follow-up is stored as %j", async (bytes, members) => {
    await user.post(`/agent/runs/${run.run_id}/followups`, { message: "m".repeat(bytes) });
    const [stored] = plane.table.all().filter(({ policy }) => policy !== undefined);
    expect(Object.keys(stored ?? {}).filter((name) => name.startsWith("message"))).toEqual(members);
  });

  it.each([
    [0, "messages"],
    [1, "messages_file"],
  ])("and %i bytes in a batch of messages is stored as %s", async (more, member) => {
    await run.messages(1, "");
    const empty = (await head())?.message_bytes ?? 0;
    await run.messages(2, "m".repeat(INLINE - empty + more));
    const stored = plane.table.all().findLast(({ sk }) => sk.startsWith("MESSAGES#"));
    expect(Object.keys(stored ?? {}).filter((name) => /^messages(_file)?$/.test(name))).toEqual([member]);
    expect(stored?.["bytes"]).toBe(INLINE + more);
    const place = new RegExp(
      `^runs/[0-9a-f]{4}/${run.run_id}/${run.execution_id}/messages/0000000002-[0-9a-f]{16}\\.json$`,
    );
    if (more > 0) expect(stored?.[member]).toMatch(place);
  });
});

describe("a heartbeat", () => {
  it("is stored eight seconds after the last one, or immediately if it confirms follow-ups", async () => {
    const started = plane.clock.now;
    plane.clock.now += 7_999;
    expect((await run.beat()).status).toBe(200);
    expect(await head()).toMatchObject({ heartbeat_at: started });
    plane.clock.now += 1;
    await run.beat();
    expect(await head()).toMatchObject({ heartbeat_at: plane.clock.now });
    await user.post(`/agent/runs/${run.run_id}/followups`, { message: "more" });
    plane.clock.now += 1;
    const { body } = await run.beat();
    expect(body.followups).toMatchObject([{ number: 1, message: "more" }]);
    expect((await run.beat(1)).body.followups).toEqual([]);
    expect(await head()).toMatchObject({ heartbeat_at: plane.clock.now, followups_stored: 1 });
    expect(await run.beat(2)).toMatchObject({
      status: 400,
      body: { errors: [{ path: "followups_stored", message: "there are 1 follow-ups" }] },
    });
  });
});

describe("an environment", () => {
  it("has at most 50 guests, and existing guests may be named again", async () => {
    const { body } = await user.post("/agent/environments", { name: "shared" });
    const share = (user_uid: string) => user.post(`/agent/environments/${body.uid}/share`, { user_uid });
    const guests: string[] = [];
    for (let number = 0; number < GUESTS + 1; number++) guests.push((await plane.person(`P${number}`)).uid);
    for (const guest of guests.slice(0, GUESTS)) expect((await share(guest)).status).toBe(200);
    const detail = `an environment has at most ${GUESTS} guests; share it by link, or with a team`;
    expect(await share(guests[GUESTS] ?? "")).toMatchObject({ status: 409, body: { detail, retryable: false } });
    expect((await share(guests[0] ?? "")).status).toBe(200);
  });
});

const GUESTS = 50;
