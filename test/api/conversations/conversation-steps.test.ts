import { beforeEach, describe, expect, it } from "vitest";
import { appendMessages } from "#functions/harness/append-messages.ts";
import { readSteps } from "#shared/conversations/conversation.ts";
import { composeTranscript } from "#shared/conversations/transcript.ts";
import { keys } from "#shared/table/keys.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, httpEvent, type TestControlPlane } from "../../support/control-plane.ts";
import { type Harness, said, workingRun } from "../../support/execution.ts";

let plane: TestControlPlane;
let user: Client;
let harness: Harness;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
  harness = await workingRun(plane);
});

const at = (seconds: number) => new Date(plane.clock.now + seconds * 1000).toISOString();
const append = (first_sequence: number, messages: readonly object[]) =>
  harness.support("messages", { execution_id: harness.execution_id, first_sequence, messages });

describe("a step of a conversation", () => {
  it("starts with the user's message, and is complete with the agent's last one", async () => {
    const created = at(0);
    plane.clock.now += 1_000;
    const [started, first, last] = [at(10), at(20), at(30)];
    await append(1, [
      { ...said("one"), timestamp: first },
      { ...said("two"), timestamp: last },
      { role: "user", content: [{ type: "text", text: "more" }], timestamp: started },
      said("without a time"),
    ]);
    await user.post(`/agent/runs/${harness.run_id}/followups`, { message: "later" });
    const { steps } = (await user.get(`/agent/runs/${harness.run_id}/conversation`)).body;
    expect(steps).toMatchObject([
      { id: `${harness.run_id}:1`, started_at: created, completed_at: last },
      { id: `${harness.run_id}:2`, started_at: started },
    ]);
    expect(steps[1]).not.toHaveProperty("completed_at");
    expect(steps[0].messages[0]).toMatchObject({ role: "user", message_ids: ["prompt"], timestamp: created });
  });

  it("starts with the agent's first message if the run has no prompt", async () => {
    await append(1, [said("one"), said("two")]);
    const found = await plane.ports.runs.headAndBody(harness.run_id);
    if (found === undefined) throw new Error("there is no such run");
    const steps = await readSteps(found.head, { ...found.body, prompt: "" }, plane.ports);
    expect(steps).toMatchObject([{ id: `${harness.run_id}:1`, messages: [said("one"), said("two")] }]);
  });
});

describe("the messages of a run", () => {
  it("are counted by their bytes in UTF-8", async () => {
    const batches = [[said("é".repeat(10))], [said("😀"), said("a")]];
    let bytes = 0;
    for (const [index, messages] of batches.entries()) {
      expect((await append(index + 1, messages)).status).toBe(200);
      bytes += Buffer.byteLength(JSON.stringify(messages));
      expect(await plane.table.get(keys.head(harness.run_id))).toMatchObject({ message_bytes: bytes });
    }
    expect(await plane.table.get(keys.head(harness.run_id))).toMatchObject({ messages: 3 });
  });

  it("are not stored if their file cannot be stored", async () => {
    const messages = [said("m".repeat(100_000))];
    const body = { execution_id: harness.execution_id, first_sequence: 1, messages };
    const before = structuredClone(plane.table.all());
    const put = () => Promise.reject(new Error("no bucket"));
    const event = httpEvent({ key: harness.key, body });
    const response = await appendMessages.handle(event, { ...plane.ports, files: { ...plane.ports.files, put } });
    expect(response).toMatchObject({ statusCode: 500 });
    expect(plane.table.all()).toEqual(before);
  });
});

describe("the final message of a run", () => {
  it("has at most 256 KiB in its response", async () => {
    const block = (letter: string) => ({ type: "text", text: letter.repeat(200_000) });
    await append(1, [{ role: "assistant", content: [block("a"), block("b")] }]);
    const { text } = (await user.get(`/agent/runs/${harness.run_id}/response`)).body;
    const whole = `${"a".repeat(200_000)}\n${"b".repeat(262_144 - 200_001)}`;
    expect(text.slice(0, 262_144)).toBe(whole);
    expect(text.slice(262_144)).toMatch(/^\n\[cut here/);
  });
});

describe("the transcript of a run", () => {
  it("has the last event even if it is the only one of the last page", async () => {
    for (let number = 1; number <= 197; number++) {
      await harness.event({ event_uuid: `e${number}`, event_name: "agent_started", timestamp: at(0) });
    }
    await harness.finish();
    await composeTranscript(harness.run_id, plane.ports);
    const { headers } = await user.get(`/agent/runs/${harness.run_id}/transcript`);
    const lines = (await plane.download(headers["location"] ?? "")).trim().split("\n");
    expect(lines).toHaveLength(203);
    expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ sequence: 201, event_type: "run_succeeded" });
  });

  it.each([
    ["lambda", false],
    ["process", false],
    ["microvm", true],
  ] as const)("in a sandbox of %s leaves the run to the reaper: %j", async (provider, isChecked) => {
    plane.offered.splice(0, 1, provider);
    const { run_id, finish } = await workingRun(plane);
    await finish();
    await composeTranscript(run_id, plane.ports);
    const head = await plane.table.get(keys.head(run_id));
    expect(head).toMatchObject({ transcript_events: 4 });
    expect(["stops" in (head ?? {}), "check_at" in (head ?? {})]).toEqual([isChecked, isChecked]);
  });
});
