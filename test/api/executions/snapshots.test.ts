import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createRun, deliver, type Harness, nextExecution, startedRun, workingRun } from "../../support/execution.ts";
import { readState, readTimeline, setState } from "../../support/look.ts";
import { reap } from "../../support/reaper.ts";
import { withWriteInBetween } from "../../support/write-conflicts.ts";

const toFile = (content: string, filename = "workspace.tar.gz") => ({
  filename,
  mime_type: "application/gzip",
  size_bytes: content.length,
  sha256: createHash("sha256").update(content).digest("hex"),
});

const upload = (harness: Harness, generation: string, content: string) =>
  harness.support("upload-snapshot", { mode: "checkpoint", generation, files: [toFile(content)] });
const commit = (harness: Harness, generation: string, files = ["workspace.tar.gz"]) =>
  harness.support("commit-snapshot", { generation, files });

/** Creates a checkpoint with one file, like a harness. */
async function saved(
  plane: TestControlPlane,
  harness: Harness,
  generation: string,
  content = "the workspace",
): Promise<void> {
  const { body } = await upload(harness, generation, content);
  await plane.upload(body.uploads[0].url, content);
  expect(await commit(harness, generation)).toMatchObject({ status: 200, body: { generation } });
}

const readTexts = async (plane: TestControlPlane, runId: string): Promise<string[]> => {
  const { body } = await createClient(plane).get(`/agent/runs/${runId}/conversation`);
  const messages: { content: { text: string }[] }[] = body.steps.flatMap(
    (step: { messages: unknown[] }) => step.messages,
  );
  return messages.map(({ content }) => content[0]?.text ?? "");
};

describe("a run that ended during a turn", () => {
  const act = { type: "action", id: "a1", category: "command", name: "run_command", input: { command: "make" } };

  it.each<[string, { message?: string }]>([
    ["CANCELLED", {}],
    ["ERROR", {}],
    ["ERROR", { message: "try again" }],
    ["FAILED", { message: "try again" }],
  ])("begins that turn again when it is %s and gets the follow-up %j", async (state, body) => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const first = await workingRun(plane);
    await first.messages(1, "before");
    await user.post(`/agent/runs/${first.run_id}/followups`, { message: "and this" });
    await saved(plane, first, "turn-1");
    await first.beat(1);
    const messages = [{ role: "assistant", content: [act] }];
    const { execution_id } = first;
    expect(await first.support("messages", { execution_id, first_sequence: 2, messages })).toMatchObject({
      status: 200,
    });
    if (state === "CANCELLED") await user.post(`/agent/runs/${first.run_id}/cancel`);
    else await first.finish(state !== "FAILED");
    if (state === "ERROR") await setState(plane, first.run_id, state);
    expect(await readTexts(plane, first.run_id), "until it continues").toHaveLength(3);
    expect((await user.post(`/agent/runs/${first.run_id}/followups`, body)).status).toBe(200);
    const { context } = (await (await nextExecution(plane)).resolve()).body;
    expect(context).toMatchObject({
      checkpoint: { generation: "turn-1" },
      messages: [{ content: [{ text: "before" }] }],
      own_messages: 1,
      next_sequence: 3,
      followups: [
        { number: 1, message: "and this" },
        { number: 2, message: body.message ?? "Go on from where you stopped." },
      ],
    });
    expect(await readTexts(plane, first.run_id)).toEqual(["hello", "before"]);
  });
});

describe("a run whose setup failed", () => {
  const failSetup = (harness: Harness) =>
    harness.support("finish-task", { success: false, summary: "no skill", error_code: "environment_setup_failed" });

  it("begins with its prompt again when it gets a follow-up", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const first = await workingRun(plane);
    await first.messages(1, "no skill");
    expect((await failSetup(first)).status).toBe(200);
    expect(await readState(plane, first.run_id)).toBe("FAILED");
    await user.post(`/agent/runs/${first.run_id}/followups`, { message: "try again" });
    const { context } = (await (await nextExecution(plane)).resolve()).body;
    expect(context).toMatchObject({ messages: [], own_messages: 0, next_sequence: 2 });
    expect(context.followups).toMatchObject([{ number: 1, message: "try again" }]);
    expect(await readTexts(plane, first.run_id)).toEqual(["hello"]);
  });

  it("begins with the follow-up whose setup failed, after the turns before it", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const first = await workingRun(plane);
    await first.messages(1, "done");
    await first.finish();
    await user.post(`/agent/runs/${first.run_id}/followups`, { message: "and this" });
    const second = await nextExecution(plane);
    await second.resolve();
    await second.messages(2, "no skill");
    await second.beat(1);
    expect((await failSetup(second)).status).toBe(200);
    await user.post(`/agent/runs/${first.run_id}/followups`, { message: "try again" });
    expect((await (await nextExecution(plane)).resolve()).body.context).toMatchObject({
      messages: [{ content: [{ text: "done" }] }],
      own_messages: 1,
      followups: [{ message: "and this" }, { message: "try again" }],
    });
  });
});

describe("an expired execution", () => {
  // @contract runs.transitions.checkpoint: The next execution then continues from the last checkpoint.
  it("is followed by one that continues from the checkpoint; later events are kept and marked", async () => {
    const plane = await createTestControlPlane();
    const first = await workingRun(plane);
    await first.messages(1, "before");
    await saved(plane, first, "turn-1");
    await first.messages(2, "after", "and more");
    await first.shutDown({ error: { category: "oom", message: "out of memory" } });
    const second = await nextExecution(plane);
    const { context } = (await second.resolve()).body;
    expect(context).toMatchObject({
      next_sequence: 4,
      own_messages: 1,
      messages: [{ content: [{ text: "before" }] }],
      checkpoint: { generation: "turn-1", files: [{ filename: "workspace.tar.gz", size_bytes: 13 }] },
    });
    expect(await plane.download(context.checkpoint.files[0].download_url)).toBe("the workspace");
    await second.messages(4, "again");
    await second.finish();
    expect(await readTexts(plane, first.run_id)).toEqual(["hello", "before", "again"]);
    const { events } = (await createClient(plane).get(`/agent/runs/${first.run_id}/events`)).body;
    const batches = events.filter(({ type }: { type: string }) => type === "messages");
    expect(batches.map(({ data }: { data: { superseded?: true } }) => data.superseded)).toEqual([
      undefined,
      true,
      undefined,
    ]);
    await deliver(plane);
    const { headers } = await createClient(plane).get(`/agent/runs/${first.run_id}/transcript`);
    const transcript = (await plane.download(headers["location"] ?? "")).trim().split("\n");
    const marked = transcript.map((line) => JSON.parse(line)).filter((line) => line.superseded === true);
    expect(marked.map(({ content }) => content[0].text)).toEqual(["after", "and more"]);
    expect((await createClient(plane).get(`/agent/runs/${first.run_id}/response`)).body.text).toBe("again");
    const next = await startedRun(plane, { prompt: "more", conversation_id: first.run_id });
    const { messages } = (await next.resolve()).body.context;
    expect(messages.map(({ content }: { content: { text: string }[] }) => content[0]?.text)).toEqual([
      "hello",
      "before",
      "again",
    ]);
  });

  // @contract runs.transitions.checkpoint
  it("is followed by one that starts over and gets its follow-ups again if it has no checkpoint", async () => {
    const plane = await createTestControlPlane();
    const first = await workingRun(plane);
    await first.messages(1, "one");
    await createClient(plane).post(`/agent/runs/${first.run_id}/followups`, { message: "and this" });
    await first.beat(1);
    await first.messages(2, "two");
    await first.shutDown({ error: { category: "crash", message: "gone" } });
    const second = await nextExecution(plane);
    const { context } = (await second.resolve()).body;
    expect(context).toMatchObject({ messages: [], own_messages: 0, next_sequence: 3 });
    expect(context).not.toHaveProperty("checkpoint");
    expect(context.followups).toMatchObject([{ number: 1, message: "and this" }]);
    await second.messages(3, "three");
    await second.shutDown({ error: { category: "crash", message: "gone" } });
    const third = await nextExecution(plane);
    expect((await third.resolve()).body.context).toMatchObject({ messages: [], next_sequence: 4 });
    await third.messages(4, "four");
    await third.beat(1);
    await third.finish();
    expect(await readState(plane, first.run_id)).toBe("SUCCEEDED");
    expect(await readTexts(plane, first.run_id)).toEqual(["hello", "four"]);
  });

  it("is followed by one that gets exactly the follow-ups after the checkpoint again", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const sendFollowup = (message: string) =>
      createClient(plane).post(`/agent/runs/${harness.run_id}/followups`, { message });
    await sendFollowup("one");
    await harness.beat(1);
    await saved(plane, harness, "g");
    await sendFollowup("two");
    await harness.beat(2);
    await harness.shutDown({ error: { category: "crash", message: "gone" } });
    const next = await nextExecution(plane);
    expect((await next.resolve()).body.context.followups).toMatchObject([{ number: 2 }]);
  });

  it.each([
    ["SUCCEEDED", "done"],
    ["FAILED", "this went wrong. ".repeat(1_000)],
    ["BLOCKED", "which one?"],
  ])("is followed by one that repeats only what came after the run was %s with a response", async (state, response) => {
    const plane = await createTestControlPlane();
    const first = await workingRun(plane);
    await first.messages(1, response);
    const blocked = state === "BLOCKED" ? { blocked: true } : {};
    await first.support("finish-task", { success: state === "SUCCEEDED", summary: "the end", ...blocked });
    expect(await readState(plane, first.run_id)).toBe(state);
    await createClient(plane).post(`/agent/runs/${first.run_id}/followups`, { message: "and this" });
    const second = await nextExecution(plane);
    await second.resolve();
    await second.messages(2, "half of it");
    await second.beat(1);
    await second.shutDown({ error: { category: "crash", message: "gone" } });
    const { context } = (await (await nextExecution(plane)).resolve()).body;
    expect(context).toMatchObject({
      messages: [{ content: [{ text: response }] }],
      own_messages: 1,
      next_sequence: 3,
      followups: [{ number: 1, message: "and this" }],
    });
    expect(context).not.toHaveProperty("checkpoint");
    expect(await readTexts(plane, first.run_id)).toEqual(["hello", response]);
  });

  it("keeps the files of its checkpoint for the follow-ups of the ended run", async () => {
    const plane = await createTestControlPlane();
    const first = await workingRun(plane);
    await first.messages(1, "done");
    await saved(plane, first, "turn-1");
    await first.finish();
    await createClient(plane).post(`/agent/runs/${first.run_id}/followups`, { message: "and this" });
    const second = await nextExecution(plane);
    expect((await second.resolve()).body.context.checkpoint).toMatchObject({ generation: "turn-1" });
    await second.messages(2, "half of it");
    await second.shutDown({ error: { category: "crash", message: "gone" } });
    expect((await (await nextExecution(plane)).resolve()).body.context).toMatchObject({
      checkpoint: { generation: "turn-1" },
      messages: [{ content: [{ text: "done" }] }],
    });
  });

  it("is counted from zero again after a checkpoint, but not after a report of one", async () => {
    const plane = await createTestControlPlane();
    const crash = { error: { category: "crash", message: "gone" } };
    const first = await workingRun(plane);
    await first.shutDown(crash);
    const second = await nextExecution(plane);
    await second.resolve();
    await second.event({ event_uuid: "c", event_name: "checkpoint_saved", timestamp: "2026-05-18T19:00:00Z" });
    await second.shutDown(crash);
    const third = await nextExecution(plane);
    await third.resolve();
    await saved(plane, third, "g");
    await third.shutDown(crash);
    await (await nextExecution(plane)).shutDown(crash);
    expect(await readState(plane, first.run_id), "two losses since the checkpoint").toBe("QUEUED");
    await (await nextExecution(plane)).shutDown(crash);
    expect(await readState(plane, first.run_id)).toBe("ERROR");
  });
});

describe("the end of a slice", () => {
  // @contract runs.transitions.slices: A long run is executed in slices: each ends at a checkpoint and goes back to QUEUED.
  it("queues the run again in its slot, ahead of waiting runs, and does not count as a loss", async () => {
    const plane = await createTestControlPlane();
    await createClient(plane).put(`/agent/teams/${plane.team}`, { settings: { concurrency_limit: 1 } });
    const first = await workingRun(plane);
    const waiting = await createRun(plane);
    await deliver(plane);
    await first.messages(1, "so far");
    await saved(plane, first, "slice-1");
    const over = { error: { category: "slice_ended", message: "the time is over" } };
    expect((await first.shutDown(over)).status).toBe(200);
    expect((await first.beat()).status).toBe(401);
    const second = await nextExecution(plane);
    expect(second.run_id).toBe(first.run_id);
    expect(await readState(plane, waiting)).toBe("QUEUED");
    expect((await second.resolve()).body.context).toMatchObject({ own_messages: 1, next_sequence: 2 });
    await second.finish();
    await deliver(plane);
    expect(await readState(plane, waiting)).toBe("PENDING");
    expect(await readTimeline(plane, first.run_id)).toEqual([
      "run_created",
      "run_pending",
      "worker_container_ready",
      "checkpoint_saved",
      "run_queued",
      "run_pending",
      "worker_container_ready",
      "run_succeeded",
    ]);
  });

  it("is refused, and changes nothing, if the run has a new execution meanwhile", async () => {
    const plane = await createTestControlPlane();
    const first = await workingRun(plane);
    await saved(plane, first, "slice-1");
    let second: Harness | undefined;
    const reply = await withWriteInBetween(
      plane,
      (write) => write.kind === "update" && write.set?.["sliced"] === true,
      async () => {
        plane.clock.now += 31_000;
        await reap(plane);
        second = await nextExecution(plane);
        await second.resolve();
      },
      () => first.shutDown({ error: { category: "slice_ended", message: "the time is over" } }),
    );
    expect(reply).toMatchObject({ status: 401, body: { detail: expect.stringContaining("execution") } });
    expect(await readState(plane, first.run_id)).toBe("INPROGRESS");
    expect((await second?.beat())?.status).toBe(200);
  });

  it("continues the run from an empty workspace", async () => {
    const plane = await createTestControlPlane();
    const first = await workingRun(plane);
    await first.messages(1, "so far");
    const snapshot = { mode: "checkpoint", generation: "slice-1", files: [] };
    expect(await first.support("upload-snapshot", snapshot)).toMatchObject({ status: 200, body: { uploads: [] } });
    expect((await commit(first, "slice-1", [])).status).toBe(200);
    await first.shutDown({ error: { category: "slice_ended", message: "the time is over" } });
    const second = await nextExecution(plane);
    expect((await second.resolve()).body.context).toMatchObject({
      checkpoint: { generation: "slice-1", files: [] },
      messages: [{ content: [{ text: "so far" }] }],
      own_messages: 1,
      next_sequence: 2,
    });
    expect(await readTimeline(plane, first.run_id)).not.toContain("execution_lost");
  });

  it("counts as a loss without its own checkpoint", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const over = { error: { category: "slice_ended", message: "the time is over" } };
    await harness.shutDown(over);
    const countLosses = async () =>
      (await readTimeline(plane, harness.run_id)).filter((type) => type === "execution_lost").length;
    expect(await countLosses()).toBe(1);
    const second = await nextExecution(plane);
    await second.resolve();
    await saved(plane, second, "own");
    await second.shutDown(over);
    expect(await countLosses(), "with its own checkpoint").toBe(1);
    const third = await nextExecution(plane);
    await third.resolve();
    await third.shutDown(over);
    expect(await countLosses(), "with an earlier execution's checkpoint").toBe(2);
  });
});

describe("POST /harness-support/upload-snapshot and commit-snapshot", () => {
  it("are invisible until the commit, and can be repeated", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const handoff = async () =>
      (await createClient(plane).get(`/agent/runs/${harness.run_id}/handoff/attachments`)).body.attachments;
    const first = await upload(harness, "g", "hello");
    expect(first.body.uploads).toHaveLength(1);
    expect((await upload(harness, "g", "hello")).body).toEqual(first.body);
    expect(await commit(harness, "g"), "nothing is uploaded yet").toMatchObject({
      status: 409,
      body: { retryable: false },
    });
    await plane.upload(first.body.uploads[0].url, "hello");
    expect(await handoff()).toEqual([]);
    expect((await commit(harness, "g")).status).toBe(200);
    const before = structuredClone(plane.table.all());
    expect((await commit(harness, "g")).status).toBe(200);
    expect(plane.table.all()).toEqual(before);
    expect(await handoff()).toMatchObject([{ filename: "workspace.tar.gz", mime_type: "application/gzip" }]);
  });

  // @contract runs.handoff.files: They are the snapshot files of the latest ended execution.
  it("keep an execution's final upload, without a generation, readable after its end", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const files = [toFile("notes", "notes.md"), toFile("never", "never.md")];
    const { body } = await harness.support("upload-snapshot", { files });
    await plane.upload(body.uploads[0].url, "notes");
    const path = `/agent/runs/${harness.run_id}/handoff/attachments`;
    expect((await createClient(plane).get(path)).body.attachments).toEqual([]);
    await harness.finish();
    expect((await createClient(plane).get(path)).body.attachments).toMatchObject([{ filename: "notes.md" }]);
  });

  it.each(["size_bytes", "sha256"])(
    "accept a file without its %s, and keep what was uploaded at the commit",
    async (name) => {
      const plane = await createTestControlPlane();
      const harness = await workingRun(plane);
      const described: Record<string, unknown> = toFile("hello");
      delete described[name];
      const request = () =>
        harness.support("upload-snapshot", { mode: "checkpoint", generation: "g", files: [described] });
      const { status, body } = await request();
      expect([status, body.uploads]).toMatchObject([200, [{ method: "POST" }]]);
      expect(await commit(harness, "g"), "nothing is uploaded yet").toMatchObject({ status: 409 });
      await plane.upload(body.uploads[0].url, "hello, world");
      expect((await commit(harness, "g")).status).toBe(200);
      await plane.upload((await request()).body.uploads[0].url, "replaced");
      expect((await commit(harness, "g")).status).toBe(200);
      await harness.shutDown({ error: { category: "crash", message: "gone" } });
      const { checkpoint } = (await (await nextExecution(plane)).resolve()).body.context;
      expect(checkpoint.files).toMatchObject([{ filename: "workspace.tar.gz", size_bytes: 12 }]);
      expect(await plane.download(checkpoint.files[0].download_url)).toBe("hello, world");
    },
  );

  it("list a final file without its size, once it is uploaded", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const files = ["a.md", "b.md"].map((filename) => ({ filename, mime_type: "text/markdown" }));
    const { body } = await harness.support("upload-snapshot", { files });
    await plane.upload(body.uploads[1].url, "notes");
    await harness.finish();
    const { attachments } = (await createClient(plane).get(`/agent/runs/${harness.run_id}/handoff/attachments`)).body;
    expect(attachments).toMatchObject([{ filename: "b.md" }]);
    expect(await plane.download(attachments[0].download_url)).toBe("notes");
  });

  it("are those of the last execution once the run has ended", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const first = await workingRun(plane);
    await saved(plane, first, "g");
    await first.finish();
    const path = `/agent/runs/${first.run_id}/handoff/attachments`;
    expect((await user.get(path)).body.attachments).toHaveLength(1);
    await user.post(`/agent/runs/${first.run_id}/followups`, { message: "more" });
    const second = await nextExecution(plane);
    await second.resolve();
    expect((await user.get(path)).body.attachments, "of the execution that has ended").toHaveLength(1);
    await second.beat(1);
    await second.finish();
    expect((await user.get(path)).body.attachments, "the last one has left none").toEqual([]);
  });

  it.each([
    ["a checkpoint without a name", { mode: "checkpoint", files: [toFile("a")] }, "generation"],
    ["a name with two underscores", { mode: "checkpoint", generation: "a__b", files: [toFile("a")] }, "generation"],
    ["no file", { generation: "g", files: [] }, "files"],
    ["no file of the legacy mode", { mode: "legacy", generation: "g", files: [] }, "files"],
    ["a file with a path", { generation: "g", files: [toFile("a", "../a")] }, "files[0].filename"],
    ["two files of one name", { generation: "g", files: [toFile("a"), toFile("b")] }, "files"],
    [
      "more than 2 GiB",
      { generation: "g", files: [{ ...toFile("a"), size_bytes: 2 ** 31 }, toFile("b", "b")] },
      "files",
    ],
  ])("reject %s with a 400 that names it, and store nothing", async (_, body, path) => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const before = structuredClone(plane.table.all());
    const response = await harness.support("upload-snapshot", body);
    expect(response).toMatchObject({ status: 400, body: { errors: [{ path }] } });
    expect(plane.table.all()).toEqual(before);
  });

  it("reject other files under an existing name, a commit of a missing file, and an expired execution", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    await upload(harness, "g", "hello");
    expect((await upload(harness, "g", "other")).status).toBe(409);
    expect(await commit(harness, "none")).toMatchObject({ status: 400, body: { errors: [{ path: "generation" }] } });
    expect(await commit(harness, "g", ["b"])).toMatchObject({ status: 400, body: { errors: [{ path: "files[0]" }] } });
    await harness.shutDown({ error: { category: "crash", message: "gone" } });
    expect((await upload(harness, "late", "hello")).status).toBe(401);
    expect((await commit(harness, "g")).status).toBe(401);
  });
});
