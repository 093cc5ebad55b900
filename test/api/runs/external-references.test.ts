import { beforeEach, describe, expect, it } from "vitest";
import { isEndedHead } from "#shared/records/run-head.ts";
import { deleteRun } from "#shared/retention/delete-run.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { deliver, type Harness, workingRun } from "../../support/execution.ts";

const ISSUE = "https://tracker.test/T-1?view=all";
const REFERENCE = { reference_type: "issue", url: ISSUE };

let plane: TestControlPlane;
let user: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
});

const find = (url: string, client = user) =>
  client.get(`/agent/run-by-external-reference?url=${encodeURIComponent(url)}`);
const refer = (harness: Harness, data: object = REFERENCE, artifact_type = "EXTERNAL_REFERENCE") =>
  harness.support("report-artifact", { artifact_type, data });

describe("GET /agent/run-by-external-reference", () => {
  // @contract reference.newest: The newest visible run is found.
  it("returns the newest visible run that has reported exactly this URL", async () => {
    const first = await workingRun(plane);
    await refer(first);
    expect(await find(ISSUE)).toMatchObject({ status: 200, body: { run_id: first.run_id } });
    plane.clock.now += 1;
    const second = await workingRun(plane);
    await refer(second);
    await refer(second, { ...REFERENCE, title: "again" });
    await refer(first, { ...REFERENCE, title: "later, by the older run" });
    expect((await find(ISSUE)).body).toEqual({ run_id: second.run_id });
    for (const url of ["https://tracker.test/T-1", `${ISSUE}&x=1`, ISSUE.toUpperCase()]) {
      expect((await find(url)).status, url).toBe(404);
    }
  });

  it("finds the run that opened a pull request", async () => {
    const harness = await workingRun(plane);
    const url = "https://github.com/acme/shop/pull/7";
    await refer(harness, { url, branch: "fix" }, "PULL_REQUEST");
    expect((await find(url)).body).toEqual({ run_id: harness.run_id });
  });

  // @contract reference.visible: A run of others is 404.
  it("returns 404 for runs of others, and 403 to a run's key", async () => {
    const theirs = await workingRun(plane, { prompt: "theirs" }, plane.otherKey);
    await refer(theirs);
    expect((await find(ISSUE)).status).toBe(404);
    const personal = await workingRun(plane, { prompt: "mine", team: false });
    await refer(personal);
    expect((await find(ISSUE)).body).toEqual({ run_id: personal.run_id });
    const agent = createClient(plane, (await plane.agent()).key);
    expect((await find(ISSUE, agent)).status).toBe(404);
    expect((await find(ISSUE, personal.client)).status).toBe(403);
  });

  // @contract reference.url: No url is 400.
  it.each(["", "?url=", "?url=a&url=b", `?url=${"a".repeat(2_049)}`])("returns 400 for the query %j", async (query) => {
    expect(await user.get(`/agent/run-by-external-reference${query}`)).toMatchObject({
      status: 400,
      body: { errors: [{ path: "url" }] },
    });
  });

  it("finds no run that was deleted, and then the one before", async () => {
    const first = await workingRun(plane);
    await refer(first);
    plane.clock.now += 1;
    const second = await workingRun(plane);
    await refer(second);
    await second.finish();
    await deliver(plane);
    const run = await plane.ports.runs.headAndBody(second.run_id);
    if (run === undefined || !isEndedHead(run.head)) throw new Error("the run has not ended");
    await deleteRun(run.head, run.body, plane.ports);
    expect((await find(ISSUE)).body).toEqual({ run_id: first.run_id });
    const references = plane.table.all().filter(({ pk }) => pk.startsWith("REFERENCE#"));
    expect(references.map(({ sk }) => sk)).toEqual([`RUN#${first.run_id}`]);
  });
});

describe("GET /agent/artifacts/{artifactUid}/download", () => {
  // @contract runs.artifact.download-plan: The download of a PLAN is its Markdown.
  it("redirects to the Markdown of a plan, and returns its URL with redirect=false", async () => {
    const harness = await workingRun(plane);
    const { body } = await refer(harness, { title: "Fix", content: "# Fix\n" }, "PLAN");
    const path = `/agent/artifacts/${body.artifact_uid}/download`;
    const { status, headers } = await user.get(path);
    expect(status).toBe(302);
    expect(await plane.download(String(headers["location"]))).toBe("# Fix\n");
    const link = await user.get(`${path}?redirect=false`);
    expect(link).toMatchObject({ status: 200, body: { expires_at: expect.any(String) } });
    expect(await plane.download(link.body.download_url)).toBe("# Fix\n");
    expect((await createClient(plane, plane.otherKey).get(path)).status).toBe(404);
  });

  // @contract runs.artifact.download-none: An artifact without a body is 404.
  it("returns 404 for an artifact without content", async () => {
    const harness = await workingRun(plane);
    const reference = await refer(harness);
    const pull = await refer(harness, { url: "https://github.com/acme/shop/pull/7", branch: "fix" }, "PULL_REQUEST");
    for (const { body } of [reference, pull]) {
      expect((await user.get(`/agent/artifacts/${body.artifact_uid}/download`)).status).toBe(404);
    }
  });
});

describe("GET /agent/conversations/{conversationId}/transcript", () => {
  // @contract runs.transcript.conversation: A conversation's transcript is that of its latest run.
  it("redirects to the transcript of the conversation's latest run", async () => {
    const first = await workingRun(plane);
    const path = `/agent/conversations/${first.run_id}/transcript`;
    expect(await user.get(path)).toMatchObject({ status: 404, body: { retryable: false } });
    await first.finish();
    await deliver(plane);
    const { status, headers } = await user.get(path);
    expect(status).toBe(302);
    const ofRun = await user.get(`/agent/runs/${first.run_id}/transcript`);
    expect(headers["location"]).toBe(ofRun.headers["location"]);
    plane.clock.now += 1;
    const second = await workingRun(plane, { prompt: "go on", conversation_id: first.run_id });
    expect((await user.get(path)).status, "the latest run has none yet").toBe(404);
    await second.finish();
    await deliver(plane);
    const link = await user.get(`${path}?redirect=false`);
    expect(link.body.download_url).toContain(second.run_id);
    expect((await user.get(`/agent/conversations/${second.run_id}/transcript`)).status).toBe(404);
    expect((await createClient(plane, plane.otherKey).get(path)).status).toBe(404);
  });
});
