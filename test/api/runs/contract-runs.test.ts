import { createHash } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { StartDeferred } from "#shared/sandbox/sandbox.ts";
import { TimelineType } from "#shared/wire/event.ts";
import { RunState } from "#shared/wire/run.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type ResponseBody, type TestControlPlane } from "../../support/control-plane.ts";
import { consume, createHarness, createRun, deliver, nextExecution, workingRun } from "../../support/execution.ts";
import { readTimeline } from "../../support/look.ts";

let plane: TestControlPlane;
let user: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
});

const read = async (id: string): Promise<ResponseBody["body"]> => (await user.get(`/agent/runs/${id}`)).body;

describe("RunState", () => {
  // @contract runs.state.list: A run is QUEUED, PENDING, CLAIMED, INPROGRESS, SUCCEEDED, FAILED, ERROR, BLOCKED or CANCELLED, and nothing else.
  it("contains exactly the documented states", () => {
    expect(RunState.options.toSorted()).toEqual(
      ["QUEUED", "PENDING", "CLAIMED", "INPROGRESS", "SUCCEEDED", "FAILED", "ERROR", "BLOCKED", "CANCELLED"].toSorted(),
    );
  });
});

describe("a run", () => {
  // @contract runs.item.root: root_run_id is always there.
  // @contract runs.item.finished: finished_at is null until the run has ended.
  it("names the root of its tree, and says when it has ended", async () => {
    const root = await workingRun(plane);
    const child = await createRun(plane, { prompt: "child", parent_run_id: root.run_id });
    const grandchild = await createRun(plane, { prompt: "grandchild", parent_run_id: child });
    for (const id of [root.run_id, child, grandchild])
      expect(await read(id)).toMatchObject({ root_run_id: root.run_id, finished_at: null });
    plane.clock.now += 2_000;
    await root.finish();
    expect(await read(root.run_id)).toMatchObject({ finished_at: "2026-05-18T19:00:02.000Z" });
  });

  // @contract runs.request.metadata-immutable: Nothing changes a run's metadata.
  it("keeps its metadata after a follow-up and its end", async () => {
    const metadata = { ticket: "T-1", "a.b": "c" };
    const harness = await workingRun(plane, { prompt: "hello", metadata });
    await user.post(`/agent/runs/${harness.run_id}/followups`, { message: "more", metadata: { ticket: "T-2" } });
    await harness.beat(1);
    await harness.finish();
    expect((await read(harness.run_id)).metadata).toEqual(metadata);
    expect((await user.put(`/agent/runs/${harness.run_id}`, { metadata: {} })).status).toBe(405);
  });

  // @contract runs.item.session-link
  // @contract runs.item.session-link-none: It is absent without a web app.
  it("has a session_link in every state, and never without a web app", async () => {
    const id = await createRun(plane);
    const link = `https://runyard.test/runs/${id}`;
    expect(await read(id)).toMatchObject({ state: "QUEUED", session_link: link });
    const harness = createHarness(plane, await plane.dispatch(id));
    expect(await read(id)).toMatchObject({ state: "PENDING", session_link: link });
    await harness.resolve();
    expect(await read(id)).toMatchObject({ state: "INPROGRESS", session_link: link });
    await harness.finish(false);
    expect(await read(id)).toMatchObject({ state: "FAILED", session_link: link });
    await user.post(`/agent/runs/${id}/followups`, { message: "again" });
    expect(await read(id)).toMatchObject({ state: "QUEUED", session_link: link });
    await user.post(`/agent/runs/${id}/cancel`);
    expect(await read(id)).toMatchObject({ state: "CANCELLED", session_link: link });
    const { getRun } = await import("#functions/runs/get-run.ts");
    const withoutWeb = { ...plane.ports, webUrl: undefined };
    const response = await plane.call({ handle: (event) => getRun.handle(event, withoutWeb) }, { path: { runId: id } });
    expect(response).toMatchObject({ status: 200, body: { state: "CANCELLED" } });
    expect(response.body).not.toHaveProperty("session_link");
  });

  // @contract runs.list.updated-at
  it("changes updated_at with an artifact and with its end", async () => {
    const harness = await workingRun(plane);
    plane.clock.now += 1_000;
    const { report, target } = await createFile(harness);
    expect((await read(harness.run_id)).updated_at).toBe("2026-05-18T19:00:00.000Z");
    await plane.upload(target.upload.url, CONTENT);
    await report();
    expect((await read(harness.run_id)).updated_at).toBe("2026-05-18T19:00:01.000Z");
    plane.clock.now += 1_000;
    await harness.finish();
    expect((await read(harness.run_id)).updated_at).toBe("2026-05-18T19:00:02.000Z");
  });
});

describe("POST /agent/runs/{runId}/cancel", () => {
  // @contract runs.cancel.order
  // @contract runs.cancel.type
  it("returns 422 for a run that is executed elsewhere, whether PENDING or not", async () => {
    const headers = { "x-run-source": "GITHUB_ACTION" };
    const { body } = await user.post("/agent/runs", { prompt: "hello" }, { headers });
    const path = `/agent/runs/${body.run_id}/cancel`;
    const refused = { status: 422, body: { error_code: "operation_not_supported", retryable: false } };
    expect(await user.post(path)).toMatchObject(refused);
    await plane.dispatch(body.run_id);
    expect(await read(body.run_id)).toMatchObject({ state: "PENDING", is_run_type_cancellable: false });
    expect(await user.post(path)).toMatchObject(refused);
    expect((await user.post(`${path}?force=false`)).status).toBe(422);
    expect((await user.post(`${path}?force=true`)).status).toBe(200);
    expect(await user.post(path)).toMatchObject({ status: 400, body: { error_code: "invalid_request" } });
    expect(await read(body.run_id)).toMatchObject({ state: "CANCELLED", is_run_type_cancellable: false });
  });
});

describe("POST /agent/runs/{runId}/followups", () => {
  // @contract runs.followups.mode: It may have a mode.
  it("accepts the known modes and no others", async () => {
    const id = await createRun(plane);
    const send = (body: unknown) => user.post(`/agent/runs/${id}/followups`, body);
    for (const mode of ["normal", "plan", "orchestrate"]) {
      expect(await send({ message: "more", mode })).toMatchObject({ status: 200, body: {} });
    }
    expect(await send({ message: "more", mode: "fast" })).toMatchObject({
      status: 400,
      body: { errors: [{ path: "mode" }] },
    });
  });

  // @contract runs.followups.no-conversation: A run that ended before it began starts with its prompt, then the message.
  it("restarts a run that never began, with its prompt and then the message", async () => {
    const id = await createRun(plane, { prompt: "the prompt" });
    plane.failures.push(new Error("no such function"));
    await consume(plane, "runs", id);
    await consume(plane, "runs-dead", id);
    plane.sent.length = 0;
    expect((await user.post(`/agent/runs/${id}/followups`, { message: "and this" })).status).toBe(200);
    const run = await read(id);
    expect(run).toMatchObject({ state: "QUEUED", started_at: null });
    expect(run).not.toHaveProperty("status_message");
    const next = await nextExecution(plane);
    expect((await next.resolve()).body).toMatchObject({
      prompt: "the prompt",
      context: { messages: [], next_sequence: 1, followups: [{ number: 1, message: "and this" }] },
    });
  });
});

describe("POST /agent/runs/{runId}/followups after a cancel", () => {
  // @contract runs.followups.cancelled: After a cancel only the message is executed; the cancelled instruction stays in the conversation as cancelled.
  it("executes only the message, and keeps the cancelled prompt in the conversation", async () => {
    const id = await createRun(plane, { prompt: "the prompt" });
    await user.post(`/agent/runs/${id}/cancel`);
    await deliver(plane);
    expect((await user.post(`/agent/runs/${id}/followups`, { message: "and this" })).status).toBe(200);
    const { prompt, context } = (await (await nextExecution(plane)).resolve()).body;
    expect(prompt).toBe("");
    expect(context).toMatchObject({
      messages: [{ role: "user", content: [{ text: "the prompt" }] }, { role: "system" }],
      next_sequence: 2,
      followups: [{ number: 1, message: "and this" }],
    });
  });
});

describe("GET /agent/runs/{runId}/timeline", () => {
  // @contract runs.timeline.types: The kinds of events of a run are those of the contract.
  it("contains every kind of timeline event", () => {
    const kinds = [
      ...["run_created", "run_queued", "run_pending", "run_claimed", "worker_container_ready"],
      ...["setup_environment_resolution", "setup_repo_clone", "setup_commands", "setup_mcp_servers"],
      ...["setup_skill_loading", "agent_started", "followup_received", "checkpoint_saved", "execution_lost"],
      ...["run_succeeded", "run_failed", "run_errored", "run_blocked", "run_cancelled", "run_stopped"],
      ...["run_interrupted", "run_idle", "artifact_created", "branch_pushed", "network_blocked"],
      ...["approval_requested", "approved", "denied"],
    ];
    expect(TimelineType.options.toSorted()).toEqual(kinds.toSorted());
  });

  // @contract runs.timeline.queued: run_queued records a return to the queue.
  it("has run_queued for a postponed start", async () => {
    const id = await createRun(plane);
    plane.failures.push(new StartDeferred("throttled"));
    await consume(plane, "runs", id);
    expect(await readTimeline(plane, id)).toEqual(["run_created", "run_pending", "run_queued"]);
  });

  // @contract runs.timeline.failed: run_failed and run_errored record failures.
  it("has run_failed and run_errored for failures", async () => {
    const failed = await workingRun(plane);
    await failed.finish(false, "it went wrong");
    expect((await readTimeline(plane, failed.run_id)).at(-1)).toBe("run_failed");
    const errored = await createRun(plane);
    await consume(plane, "runs-dead", errored);
    expect((await readTimeline(plane, errored)).at(-1)).toBe("run_errored");
  });
});

describe("GET /agent/runs/{runId}/conversation", () => {
  // @contract runs.conversation.roles
  // @contract runs.conversation.blocks
  // @contract runs.conversation.categories
  // @contract runs.conversation.result-states: A result is running, completed, failed or denied.
  it("accepts each role, block, category and result state, and returns them as sent", async () => {
    const harness = await workingRun(plane);
    const categories = ["command", "files", "search", "integration", "documents", "computer", "review", "skill"];
    const states = ["running", "completed", "failed", "denied"];
    const actions = categories.map((category, index) => ({
      type: "action",
      id: `a${index}`,
      category,
      name: "run_command",
      input: { command: "make" },
      message_id: `m${index}`,
    }));
    const results = categories.map((category, index) => ({
      type: "action_result",
      action_id: `a${index}`,
      category,
      name: "run_command",
      state: states[index % states.length],
      output: { stdout: "done" },
    }));
    const messages = [
      { role: "assistant", content: [{ type: "text", text: "I begin", message_id: "m" }, ...actions] },
      { role: "tool", content: results },
      { role: "system", content: [{ type: "event", name: "note", data: { a: [1] } }], request_id: "r-1" },
      { role: "user", content: [{ type: "text", text: "go on" }], message_ids: ["m-1"] },
    ];
    const batch = { execution_id: harness.execution_id, first_sequence: 1, messages };
    expect(await harness.support("messages", batch)).toMatchObject({ status: 200, body: { next_sequence: 5 } });
    const { conversation_id, steps } = (await user.get(`/agent/runs/${harness.run_id}/conversation`)).body;
    expect(conversation_id).toBe(harness.run_id);
    const shown = steps.flatMap(({ id, messages, steps }: ResponseBody["body"]) => {
      expect({ id, steps }).toEqual({ id: expect.any(String), steps: [] });
      return messages;
    });
    expect(shown.slice(1)).toMatchObject(messages);
    const wrong = { ...results[0], state: "skipped" };
    const refused = await harness.support("messages", {
      ...batch,
      first_sequence: 5,
      messages: [{ role: "tool", content: [wrong] }],
    });
    expect(refused.status).toBe(400);
  });
});

describe("an artifact", () => {
  // @contract runs.artifact.item
  // @contract runs.artifact.file: Data of a FILE has artifact_uid, filepath, filename, mime_type and, if known, description, size_bytes and title.
  // @contract runs.artifact.get-file
  it("is returned for a file with the run and by its uid", async () => {
    const harness = await workingRun(plane);
    const { report, target } = await createFile(harness);
    await plane.upload(target.upload.url, CONTENT);
    await report();
    const uid: string = target.artifact_uid;
    const metadata = { filepath: "out/report.md", filename: "report.md", title: "Report", description: "What changed" };
    expect((await read(harness.run_id)).artifacts).toEqual([
      {
        artifact_type: "FILE",
        created_at: "2026-05-18T19:00:00.000Z",
        data: { artifact_uid: uid, mime_type: "text/markdown", size_bytes: CONTENT.length, ...metadata },
      },
    ]);
    const { body } = await user.get(`/agent/artifacts/${uid}`);
    expect(body).toEqual({
      artifact_uid: uid,
      artifact_type: "FILE",
      created_at: "2026-05-18T19:00:00.000Z",
      data: {
        download_url: expect.stringMatching(/^https:/),
        expires_at: expect.stringMatching(/Z$/),
        content_type: "text/markdown",
        size_bytes: CONTENT.length,
        ...metadata,
      },
    });
    expect(await plane.download(body.data.download_url)).toBe(CONTENT);
  });
});

const CONTENT = "the report\n";

/** Reports a file as the harness, without uploading it. */
async function createFile(harness: Awaited<ReturnType<typeof workingRun>>) {
  const data = {
    filepath: "out/report.md",
    filename: "report.md",
    mime_type: "text/markdown",
    size_bytes: CONTENT.length,
    sha256: createHash("sha256").update(CONTENT).digest("hex"),
    title: "Report",
    description: "What changed",
  };
  const report = () => harness.support("report-artifact", { artifact_type: "FILE", data });
  return { report, target: (await report()).body };
}
