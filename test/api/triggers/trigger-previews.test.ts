import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { installationStore } from "#shared/github/installation-store.ts";
import { claimInstallation } from "../../support/claim-installation.ts";
import { type ConnectedApp, connectApp } from "../../support/connect-app.ts";
import { createHarness } from "../../support/execution.ts";
import { signed } from "../../support/hooks.ts";

const SECRET = "a-secret-of-the-other-system";
const ID = 2_000_001;

let github: ConnectedApp;
beforeEach(async () => {
  github = await connectApp();
});
afterEach(async () => github[Symbol.asyncDispose]());

const test = async (uid: string, payload: object, headers: Record<string, string> = {}) => {
  const runs = (await github.hooks.runs()).length;
  const { status, body } = await github.user.post(`/agent/triggers/${uid}/test`, { payload, headers });
  expect(status, JSON.stringify(body)).toBe(200);
  expect(await github.hooks.runs()).toHaveLength(runs);
  return body;
};

describe("a test with an event of the GitHub App", () => {
  const COMMENT = {
    action: "created",
    installation: { id: ID },
    issue: { number: 7 },
    comment: { id: 3, body: "fix it" },
    repository: { full_name: "acme/shop" },
    sender: { login: "ada", id: 5, type: "User" },
  };
  const TYPE = { "X-GitHub-Event": "issue_comment" };
  const create = async (more: object = {}): Promise<string> =>
    (await github.hooks.create({ kind: "github", prompt: "Answer {{ event.text }}", ...more })).body.uid;

  it("has the App's credential, if the team has the installation", async () => {
    const uid = await create();
    expect(await test(uid, COMMENT, TYPE)).toMatchObject({ outcome: "started", prompt: "Answer fix it" });
    const { installation: _, ...own } = COMMENT;
    expect(await test(uid, own, TYPE)).toMatchObject({ outcome: "ignored", reason: "author" });
  });

  it("is ignored where no team or another one has the installation, with the same detail", async () => {
    const uid = await create();
    await installationStore(github.plane.table).release(github.plane.team, ID);
    const detail =
      "the team does not have the installation 2000001 of the GitHub App: claim it, or send events to the trigger's URL";
    const ignored = { outcome: "ignored", reason: "event", detail };
    expect(await test(uid, COMMENT, TYPE)).toMatchObject(ignored);
    await claimInstallation(github.plane, github.plane.otherTeam);
    expect(await test(uid, COMMENT, TYPE)).toMatchObject(ignored);
  });

  it("is one to the trigger's URL where a header says so", async () => {
    const uid = await create();
    await installationStore(github.plane.table).release(github.plane.team, ID);
    const headers = { ...TYPE, "X-GitHub-Hook-Installation-Target-Type": "repository" };
    expect(await test(uid, COMMENT, headers)).toMatchObject({ outcome: "ignored", reason: "author" });
  });

  it("meets the filter of the trigger by its repository", async () => {
    const uid = await create({ filter: 'event.repository == "acme/other"' });
    expect(await test(uid, COMMENT, TYPE)).toMatchObject({ outcome: "ignored", reason: "filter" });
    const other = { ...COMMENT, repository: { full_name: "acme/other" } };
    expect(await test(uid, other, TYPE)).toMatchObject({ outcome: "started" });
  });
});

describe("a test with a button of Slack", () => {
  const create = async (followup_prompt?: string): Promise<string> => {
    const members = { kind: "slack", secret: SECRET, credential: "slack", reply: { to: "thread" }, prompt: "Look" };
    const more = followup_prompt === undefined ? {} : { followup_prompt };
    return (await github.hooks.create({ ...members, ...more, events: ["app_mention"] })).body.uid;
  };
  /** A run of a mention that asks a question. */
  async function startRun(uid: string): Promise<string> {
    const { plane, hooks, systems } = github;
    systems.users.set("U1", { id: "U1", team_id: "T1" });
    plane.clock.now += 1000;
    const event = { type: "app_mention", user: "U1", text: "hi", channel: "C1", ts: "1700000000.0001" };
    const callback = { type: "event_callback", team_id: "T1", is_ext_shared_channel: false, event };
    const body = JSON.stringify(callback);
    await hooks.send(uid, body, signed.slack(SECRET, body, Math.floor(plane.clock.now / 1000)));
    const [{ run_id }] = await hooks.deliveries(uid);
    const harness = createHarness(plane, await plane.dispatch(run_id));
    await harness.resolve();
    await harness.support("finish-task", { success: false, blocked: true, summary: "Which?" });
    return run_id;
  }
  const press = (action_id: string, value: string, more: object = {}) => ({
    type: "block_actions",
    trigger_id: "1.2.3",
    team: { id: "T1" },
    user: { id: "U1", team_id: "T1" },
    channel: { id: "C1" },
    message: { ts: "1001.0001", thread_ts: "1700000000.0001" },
    actions: [{ type: "button", action_id, value }],
    ...more,
  });
  const ANSWER = { state: { values: { runyard_answer_text: { text: { value: "the left one" } } } } };

  it("says what it would do to the run", async () => {
    const uid = await create("They say: {{ event.text }}");
    const run_id = await startRun(uid);
    expect(await test(uid, press("runyard_answer", run_id, ANSWER))).toMatchObject({
      ...{ outcome: "followed_up", run_id, prompt: "They say: the left one" },
      detail: "the button answers the run",
    });
    expect(await test(uid, press("runyard_answer", run_id))).toMatchObject({
      ...{ outcome: "ignored", reason: "event", detail: "the answer is empty", run_id },
    });
    expect(await test(uid, press("runyard_open", run_id))).toMatchObject({
      outcome: "ignored",
      reason: "event",
      run_id,
    });
    expect(await test(uid, press("runyard_stop", run_id))).toMatchObject({
      ...{ outcome: "ignored", detail: "the run has ended", run_id, prompt: "" },
    });
    expect((await github.user.get(`/agent/runs/${run_id}`)).body.state).toBe("BLOCKED");
  });

  it("is ignored for a run of another trigger, and for a person who may not", async () => {
    const uid = await create();
    const run_id = await startRun(uid);
    const detail = "the run of the button was deleted, or is of another trigger";
    expect(await test(await create(), press("runyard_answer", run_id, ANSWER))).toMatchObject({ detail });
    const bot = { user: { id: "" } };
    expect(await test(uid, press("runyard_answer", run_id, bot))).toMatchObject({
      outcome: "ignored",
      reason: "author",
    });
  });
});
