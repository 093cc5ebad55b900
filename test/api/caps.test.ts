import { createHash } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { RUN_CAPS } from "#shared/records/run.ts";
import { keys } from "#shared/table/keys.ts";
import { type Client, createClient } from "../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { type Harness, workingRun } from "../support/execution.ts";

let plane: TestControlPlane;
let ada: Client;
let run: Harness;
beforeEach(async () => {
  plane = await createTestControlPlane();
  ada = createClient(plane);
  run = await workingRun(plane);
});

const refused = (detail: string) => ({ status: 429, body: { error_code: "resource_unavailable", detail } });
const describeFile = (content: string) => ({
  size_bytes: content.length,
  sha256: createHash("sha256").update(content).digest("hex"),
});

/** As if so many were stored already. */
const count = (counters: Record<string, number>) =>
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
    await count({ snapshots: RUN_CAPS.snapshots - 1 });
    expect((await save("last")).status).toBe(200);
    expect(await save("more")).toMatchObject(refused(`a run stores at most ${RUN_CAPS.snapshots} snapshots`));
    expect(await head()).toMatchObject({ snapshots: RUN_CAPS.snapshots });
  });

  it("stores one more raw transcript, and returns 429 for the next one", async () => {
    const { body } = await run.support("external-conversation", { format: "claude" });
    const place = (text: string) =>
      run.support("transcript", { conversation_id: body.conversation_id, ...describeFile(text) });
    const [raw] = plane.table.all().filter(({ sk }) => sk === "RAW");
    if (raw === undefined) throw new Error("the conversation has no record");
    const set = { uploads: RUN_CAPS.transcripts - 1 };
    await plane.table.write({ kind: "update", key: { pk: raw.pk, sk: raw.sk }, set });
    expect((await place("last")).status).toBe(200);
    expect((await place("last")).status, "a repeat").toBe(200);
    const more = `a run stores at most ${RUN_CAPS.transcripts} raw transcripts`;
    expect(await place("more")).toMatchObject(refused(more));
  });

  it("stores one more message, and returns 429 for the next one", async () => {
    const first = RUN_CAPS.messages;
    await count({ messages: first - 1 });
    expect((await run.messages(first, "last")).status).toBe(200);
    expect(await run.messages(first + 1, "more")).toMatchObject({ status: 429 });
    expect(await head()).toMatchObject({ messages: first });
  });

  it("stores messages up to the last byte, and returns 429 for one byte more", async () => {
    expect((await run.messages(1, "x")).status).toBe(200);
    const bytes = (await head())?.message_bytes ?? 0;
    await count({ message_bytes: RUN_CAPS.messageBytes - bytes });
    expect((await run.messages(2, "y")).status).toBe(200);
    expect(await head()).toMatchObject({ message_bytes: RUN_CAPS.messageBytes });
    await count({ message_bytes: RUN_CAPS.messageBytes - bytes + 1 });
    expect(await run.messages(3, "z")).toMatchObject({ status: 429 });
  });

  it("gives one more notification, and returns 429 for the next one", async () => {
    await count({ notifications: RUN_CAPS.notifications - 1 });
    expect((await run.support("notify-user", { message: "last" })).status).toBe(200);
    expect(await run.support("notify-user", { message: "more" })).toMatchObject({ status: 429 });
  });
});

describe("an environment", () => {
  it("has at most 50 guests, and those it has may be named again", async () => {
    const { body } = await ada.post("/agent/environments", { name: "shared" });
    const share = (user_uid: string) => ada.post(`/agent/environments/${body.uid}/share`, { user_uid });
    const guests: string[] = [];
    for (let number = 0; number < GUESTS + 1; number++) guests.push((await plane.person(`P${number}`)).uid);
    for (const guest of guests.slice(0, GUESTS)) expect((await share(guest)).status).toBe(200);
    const detail = `an environment has at most ${GUESTS} guests; share it by link, or with a team`;
    expect(await share(guests[GUESTS] ?? "")).toMatchObject({ status: 409, body: { detail, retryable: false } });
    expect((await share(guests[0] ?? "")).status).toBe(200);
  });
});

const GUESTS = 50;
