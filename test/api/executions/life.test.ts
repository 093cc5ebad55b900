import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane } from "../../support/control-plane.ts";
import { createHarness, deliver, said } from "../../support/execution.ts";

const CONTENT = "the report\n";
const file = {
  artifact_type: "FILE",
  data: {
    filepath: "out/report.md",
    filename: "report.md",
    mime_type: "text/markdown",
    size_bytes: CONTENT.length,
    sha256: createHash("sha256").update(CONTENT).digest("hex"),
    title: "Report",
  },
};

describe("a run from its prompt to its transcript", () => {
  // @contract runs.state.lived: A run is QUEUED while it waits, PENDING while its sandbox starts, INPROGRESS while its agent works.
  // @contract runs.state.succeeded: It ends SUCCEEDED when the agent has completed its work.
  // @contract runs.transitions.first
  // @contract runs.idempotency.optional: A create needs no Idempotency-Key.
  // @contract runs.request.title-made: An absent title is derived from the first line of the prompt.
  // @contract runs.request.local
  // @contract runs.response.ids: The response has run_id, and task_id of the same value, and the state.
  // @contract runs.config.defaults: idle_timeout_minutes is 10 and computer_use_enabled false by default.
  // @contract runs.item.started-at: started_at is null until the agent begins, then a time.
  // @contract runs.item.source: source is present.
  // @contract runs.item.execution-location: execution_location is REMOTE for the service's sandboxes, LOCAL if the caller executes the run.
  // @contract runs.item.session-link: session_link is {web_url}/runs/{run_id} in every state from the creation on.
  // @contract runs.item.profiles: creator and executor are profiles with type, uid and, if known, display_name and email.
  // @contract runs.item.conversation: conversation_id names the conversation.
  // @contract runs.item.sandbox: is_sandbox_running shows whether a sandbox of the service works for the run.
  // @contract runs.item.run-time
  // @contract runs.item.artifacts: artifacts lists the run's artifacts.
  // @contract runs.source.default
  // @contract runs.get.response: GET /agent/runs/{runId} returns the run.
  // @contract runs.timeline.response: The timeline has events of event_uuid, run_id, event_type and occurred_at.
  // @contract runs.timeline.order: It is chronological.
  // @contract runs.timeline.setup: Setup events have their duration and outcome.
  // @contract runs.conversation.queued: A QUEUED run's conversation is its prompt.
  // @contract runs.conversation.both: The run's conversation and the conversation by its id are the same.
  // @contract runs.transcript.redirect: A transcript is a 302 to a time-limited URL of JSON Lines.
  // @contract runs.transcript.404: It is 404 while the run has none.
  // @contract runs.artifact.item: An artifact in a run has artifact_type, created_at and data.
  // @contract runs.artifact.get-file: GET of a FILE returns download_url, expires_at, content_type, filepath, filename and the rest.
  it("is created, executed and finished, and records every step", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);

    const created = await user.post("/agent/runs", {
      prompt: "# Say hello\n\nplease",
      config: { base_prompt: "be kind" },
    });
    expect(created.status).toBe(200);
    expect(created.body).toEqual({ run_id: created.body.run_id, task_id: created.body.run_id, state: "QUEUED" });
    const id: string = created.body.run_id;
    expect((await user.get(`/agent/runs/${id}`)).body).toMatchObject({
      run_id: id,
      task_id: id,
      title: "Say hello",
      state: "QUEUED",
      prompt: "# Say hello\n\nplease",
      created_at: "2026-05-18T19:00:00.000Z",
      updated_at: "2026-05-18T19:00:00.000Z",
      started_at: null,
      source: "API",
      execution_location: "REMOTE",
      is_sandbox_running: false,
      is_run_type_cancellable: true,
      conversation_id: id,
      creator: { type: "user", uid: plane.user, display_name: "Ada", email: "ada@runyard.test" },
      executor: { type: "user", uid: plane.user },
      scope: { type: "Team", uid: plane.team },
      agent_config: {
        model_id: "local/runbook",
        base_prompt: "be kind",
        computer_use_enabled: false,
        idle_timeout_minutes: 10,
      },
      artifacts: [],
    });
    expect((await user.get(`/agent/runs/${id}/conversation`)).body).toMatchObject({
      conversation_id: id,
      steps: [{ messages: [{ role: "user", content: [{ type: "text", text: "# Say hello\n\nplease" }] }] }],
    });
    const early = await user.get(`/agent/runs/${id}/transcript`);
    expect(early).toMatchObject({ status: 404, body: { retryable: false } });

    plane.clock.now += 1_000;
    await deliver(plane);
    const [envelope] = plane.started;
    if (envelope === undefined) throw new Error("no sandbox was started");
    expect(envelope).toMatchObject({ version: 1, run_id: id, base_url: "https://runyard.test/api/v1" });
    expect((await user.get(`/agent/runs/${id}`)).body.state).toBe("PENDING");

    plane.clock.now += 1_000;
    const harness = createHarness(plane, envelope);
    const resolved = await harness.resolve();
    expect(resolved.status).toBe(200);
    expect(resolved.body).toMatchObject({
      prompt: "# Say hello\n\nplease",
      system_prompt: "be kind",
      context: {
        run_id: id,
        execution_id: envelope.execution_id,
        conversation_id: id,
        mode: "normal",
        agent_config: { model_id: "local/runbook" },
        attachments: [],
        messages: [],
        next_sequence: 1,
        followups: [],
      },
    });
    expect((await harness.resolve()).status, "the same instance may repeat the request").toBe(200);
    const second = createHarness(plane, envelope);
    for (const response of [
      await second.resolve(),
      await second.beat(),
      await second.messages(1, "mine"),
      await second.finish(),
    ]) {
      expect(response.status, "another instance is refused").toBe(409);
      expect(response.body).toMatchObject({ error_code: "conflict", retryable: false });
    }
    expect((await user.get(`/agent/runs/${id}`)).body).toMatchObject({
      state: "INPROGRESS",
      started_at: "2026-05-18T19:00:02.000Z",
      is_sandbox_running: true,
      session_link: `https://runyard.test/runs/${id}`,
    });

    const event = {
      event_uuid: "setup-1",
      event_name: "setup_repo_clone",
      timestamp: "2026-05-18T19:00:01.123456+00:00",
      payload: { latency_ms: 250, is_error: false, detail: "cloned" },
    };
    expect((await harness.event(event)).body).toEqual({});
    expect((await harness.event(event)).status, "a repeated event gets the same response").toBe(200);

    plane.clock.now += 1_000;
    expect((await harness.messages(1, "one", "two")).body).toEqual({ next_sequence: 3, watched: false });
    expect((await harness.messages(1, "one", "two")).body, "repeated messages are stored once").toEqual({
      next_sequence: 3,
      watched: false,
    });
    expect((await harness.messages(2, "two", "three")).body, "only the new part of an overlap is stored").toEqual({
      next_sequence: 4,
      watched: false,
    });
    const gap = await harness.messages(6, "six");
    expect(gap.status).toBe(400);
    expect(gap.body.errors).toMatchObject([{ path: "first_sequence" }]);

    const target = await harness.support("report-artifact", file);
    expect(target.body.upload).toMatchObject({ method: "PUT" });
    const uid: string = target.body.artifact_uid;
    expect((await user.get(`/agent/runs/${id}`)).body.artifacts, "a file is invisible until it is uploaded").toEqual(
      [],
    );
    expect((await user.get(`/agent/artifacts/${uid}`)).status).toBe(404);
    await plane.upload(target.body.upload.url, CONTENT);
    expect((await harness.support("report-artifact", file)).body).toEqual({ artifact_uid: uid });
    expect((await harness.support("report-artifact", file)).body, "a committed file stays committed").toEqual({
      artifact_uid: uid,
    });
    expect((await user.get(`/agent/artifacts/${uid}`)).body).toMatchObject({
      artifact_uid: uid,
      artifact_type: "FILE",
      data: {
        content_type: "text/markdown",
        filename: "report.md",
        filepath: "out/report.md",
        size_bytes: CONTENT.length,
      },
    });

    plane.clock.now += 1_000;
    expect((await harness.finish(true, "said hello")).body).toEqual({});
    expect((await harness.beat()).status, "the key is revoked when the run ends").toBe(401);
    const pending = await user.get(`/agent/runs/${id}/transcript`);
    expect(pending).toMatchObject({ status: 404, body: { retryable: true }, headers: { "retry-after": "1" } });
    await deliver(plane);

    expect((await user.get(`/agent/runs/${id}`)).body).toMatchObject({
      state: "SUCCEEDED",
      run_time: "PT2.000S",
      is_sandbox_running: false,
      artifacts: [{ artifact_type: "FILE", data: { artifact_uid: uid, title: "Report" } }],
    });
    const response = await user.get(`/agent/runs/${id}/response`);
    expect(response.body).toMatchObject({
      text: "three",
      state: "SUCCEEDED",
      artifacts: [{ data: { artifact_uid: uid } }],
    });

    const conversation = await user.get(`/agent/runs/${id}/conversation`);
    const texts = conversation.body.steps.flatMap((step: { messages: { content: { text: string }[] }[] }) =>
      step.messages.map(({ content }) => content[0]?.text),
    );
    expect(texts).toEqual(["# Say hello\n\nplease", "one", "two", "three"]);
    expect((await user.get(`/agent/conversations/${id}`)).body).toEqual(conversation.body);

    const timeline = (await user.get(`/agent/runs/${id}/timeline`)).body.events;
    expect(timeline.map(({ event_type }: { event_type: string }) => event_type)).toEqual([
      "run_created",
      "run_pending",
      "worker_container_ready",
      "setup_repo_clone",
      "artifact_created",
      "run_succeeded",
    ]);
    const times = timeline.map(({ occurred_at }: { occurred_at: string }) => occurred_at);
    expect(times).toEqual(times.toSorted());
    expect(timeline[3]).toMatchObject({
      event_uuid: "setup-1",
      run_id: id,
      execution_id: envelope.execution_id,
      payload: { duration_ms: 250, is_error: false, detail: "cloned" },
    });

    const events = (await user.get(`/agent/runs/${id}/events`)).body;
    expect(events.events.map(({ sequence }: { sequence: number }) => sequence)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(events).toMatchObject({ next: 8, ended: true });
    expect(events.events[4]).toMatchObject({
      type: "messages",
      data: { first_sequence: 1, messages: [said("one"), said("two")] },
    });

    const transcript = await user.get(`/agent/runs/${id}/transcript`);
    expect(transcript.status).toBe(302);
    expect(transcript.body).toBe("");
    expect((await user.get(`/agent/runs/${id}/transcript?redirect=true`)).status).toBe(302);
    expect(await user.get(`/agent/runs/${id}/transcript?redirect=false`)).toMatchObject({
      status: 200,
      body: {
        download_url: transcript.headers["location"],
        expires_at: "1970-01-01T00:00:00.000Z",
      },
    });
    const lines = (await plane.download(transcript.headers["location"] ?? ""))
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines[0]).toMatchObject({ type: "run", run_id: id, title: "Say hello" });
    expect(lines.filter(({ type }) => type === "message").map(({ content }) => content[0].text)).toEqual(texts);
    expect(lines.filter(({ type }) => type === "event").map(({ event_type }) => event_type)).toHaveLength(
      timeline.length,
    );
  });

  // @contract errors.ends.failed: An error caused by the caller ends a run in FAILED, with its code in status_message.
  // @contract runs.state.failed: It ends FAILED if the caller or the agent caused the failure.
  // @contract runs.item.status-failed
  // @contract runs.item.status-sentence
  it("ends FAILED with one sentence and its code if the harness reports it", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const { body } = await user.post("/agent/run", { prompt: "fail" });
    const harness = createHarness(plane, await plane.dispatch(body.run_id));
    await harness.resolve();
    const summary = `step 3: \`make test\` ended\n\twith ${"x".repeat(2_000)}`;
    expect(
      (await harness.support("finish-task", { success: false, summary, error_code: "environment_setup_failed" }))
        .status,
    ).toBe(200);
    const run = (await user.get(`/agent/runs/${body.run_id}`)).body;
    expect(run).toMatchObject({
      state: "FAILED",
      status_message: { error_code: "environment_setup_failed", retryable: false },
    });
    expect(run.status_message.message).toMatch(/^step 3: `make test` ended with x+…$/);
    expect([...run.status_message.message]).toHaveLength(1_024);
    await deliver(plane);
    expect((await user.get(`/agent/runs/${body.run_id}/transcript`)).status).toBe(302);
  });

  // @contract runs.transitions.through: A run whose end arrives before its first call passes INPROGRESS within one transaction.
  it("passes through INPROGRESS if its end is reported before its first call", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const { body } = await user.post("/agent/runs", { prompt: "quick" });
    const harness = createHarness(plane, await plane.dispatch(body.run_id));
    expect((await harness.finish()).status).toBe(200);
    const { events } = (await user.get(`/agent/runs/${body.run_id}/timeline`)).body;
    expect(events.map(({ event_type }: { event_type: string }) => event_type)).toEqual([
      "run_created",
      "run_pending",
      "worker_container_ready",
      "run_succeeded",
    ]);
    expect((await user.get(`/agent/runs/${body.run_id}`)).body).toMatchObject({
      state: "SUCCEEDED",
      started_at: "2026-05-18T19:00:00.000Z",
    });
  });
});
