import webhooks from "@octokit/webhooks-examples";
import * as v from "valibot";
import { beforeEach, describe, expect, it } from "vitest";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createHooks, sign, signed } from "../../support/hooks.ts";
import github from "./github-events.json" with { type: "json" };

/** The package's types describe no module that has the payloads as such. */
const Examples = v.array(v.object({ name: v.string(), examples: v.array(v.record(v.string(), v.unknown())) }));
const examples = v.parse(Examples, webhooks);

const SECRET = "a-secret-of-the-other-system";
const PROMPT = "Look at {{ event.text }}.";

let plane: TestControlPlane;
let user: Client;
let hooks: ReturnType<typeof createHooks>;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
  hooks = createHooks(plane);
});

const create = async (body: object) => (await hooks.create({ secret: SECRET, prompt: PROMPT, ...body })).body.uid;
const preview = async (uid: string, payload: object, headers: Record<string, string> = {}) =>
  (await user.post(`/agent/triggers/${uid}/test`, { payload, headers })).body;
/** The outcomes of the deliveries to a trigger, oldest first. */
const outcomes = async (uid: string) =>
  (await hooks.deliveries(uid))
    .map(({ outcome, reason }: Record<string, string>) => (reason === undefined ? outcome : `${outcome} ${reason}`))
    .reverse();

/** The outcome, or why the event is ignored. */
const toColumn = ({ outcome = "", reason, detail = "" }: Record<string, string>): string =>
  outcome !== "ignored" ? outcome : reason === "event" ? reason : detail.includes("fork") ? "fork" : "bot";

describe("the events of GitHub", () => {
  it("have the action, author, thread and outcome of the table, each of GitHub's examples", {
    timeout: 60_000,
  }, async () => {
    await user.put(`/agent/teams/${plane.team}`, { settings: { queue_limit: 10_000 } });
    const uid = await create({ kind: "github", allow: { anyone: true } });
    const expected = new Map(Object.entries(github));
    expect(examples.flatMap(({ examples: all }) => all)).toHaveLength(329);
    for (const { name, examples: payloads } of examples) {
      for (const [index, payload] of payloads.entries()) {
        plane.clock.now += 60_000;
        const body = JSON.stringify(payload);
        const id = `${name}-${index}`;
        const sent = await hooks.send(uid, body, signed.github(SECRET, body, name, id));
        expect(sent.status, id).toBe(200);
        const { event } = await preview(uid, JSON.parse(body), { "x-github-event": name });
        const [delivery] = (await user.get(`/agent/triggers/${uid}/deliveries?limit=1`)).body.deliveries;
        const shown = [event.action, event.author.name, event.thread, toColumn(delivery)];
        expect(shown, id).toEqual(expected.get(name)?.[index]);
      }
    }
  });

  it("are ignored where nothing proves that their author has write access", async () => {
    const uid = await create({ kind: "github" });
    const sender = { id: 1, login: "ada", type: "User" };
    const payload = { sender, comment: { body: "Hi", author_association: "OWNER" }, issue: { number: 7 } };
    const repository = { full_name: "o/r", id: 1 };
    const tested = await preview(
      uid,
      { ...payload, repository, action: "created" },
      { "X-GitHub-Event": "issue_comment" },
    );
    expect(tested).toMatchObject({
      outcome: "ignored",
      reason: "author",
      detail: expect.stringContaining("ada"),
      event: {
        type: "issue_comment",
        action: "created",
        text: "Hi",
        author: { id: "1", name: "ada", kind: "person" },
        repository: "o/r",
        thread: "o/r#7",
      },
    });
    const body = JSON.stringify({ ...payload, repository });
    await hooks.send(uid, body, signed.github(SECRET, body, "issue_comment", "1"));
    plane.clock.now += 1000;
    await hooks.send(uid, body, signed.github(SECRET, body, "issue_comment", "1"));
    expect(await outcomes(uid)).toEqual(["ignored author", "duplicate"]);
    expect(await hooks.runs()).toEqual([]);
  });

  it("start runs where a bot causes them that the trigger names, and never of a fork's CI", async () => {
    const uid = await create({ kind: "github", allow: { bots: ["dependabot[bot]"], anyone: true } });
    const repository = { id: 1, full_name: "o/r" };
    const by = (login: string) => ({ sender: { login, type: "Bot" }, repository });
    const push = { "x-github-event": "push" };
    expect(await preview(uid, by("Dependabot[bot]"), push)).toMatchObject({ outcome: "started" });
    expect(await preview(uid, by("renovate[bot]"), push)).toMatchObject({ reason: "author" });
    const ci = (id: number) => ({
      sender: { login: "ada", type: "User" },
      repository,
      workflow_run: { head_repository: { id } },
    });
    const run = { "x-github-event": "workflow_run" };
    expect(await preview(uid, ci(1), run)).toMatchObject({ outcome: "started" });
    expect(await preview(uid, ci(2), run)).toMatchObject({ reason: "author" });
    expect(await preview(uid, by("dependabot[bot]"), { "x-github-event": "ping" })).toMatchObject({ reason: "event" });
  });

  it("are equal by id or by body, except dispatches, which are equal by id", async () => {
    const uid = await create({ kind: "github", allow: { anyone: true } });
    const send = (event: string, id: string, text: string) => {
      const body = JSON.stringify({ sender: { type: "User" }, text });
      return hooks.send(uid, body, signed.github(SECRET, body, event, id));
    };
    for (const [event, id, text] of [
      ["push", "1", "a"],
      ["push", "1", "b"],
      ["push", "2", "a"],
      ["push", "3", "c"],
      ["workflow_dispatch", "4", "d"],
      ["workflow_dispatch", "5", "d"],
      ["repository_dispatch", "5", "e"],
    ] as const) {
      plane.clock.now += 1000;
      await send(event, id, text);
    }
    const expected = ["started", "duplicate", "duplicate", "started", "started", "started", "duplicate"];
    expect(await outcomes(uid)).toEqual(expected);
  });
});

describe("the events of GitLab", () => {
  it("show comments on merge requests, and are equal by Idempotency-Key or by body", async () => {
    const uid = await create({ kind: "gitlab", allow: { anyone: true } });
    const payload = {
      object_kind: "note",
      user: { id: 5, username: "ada" },
      project: { path_with_namespace: "group/sub/shop" },
      object_attributes: { action: "create", note: "Fix this" },
      merge_request: { iid: 12 },
    };
    expect((await preview(uid, payload)).event).toEqual({
      type: "note",
      action: "create",
      text: "Fix this",
      author: { id: "5", name: "ada", kind: "person" },
      repository: "group/sub/shop",
      thread: "group/sub/shop!12",
      payload,
    });
    const bot = { ...payload, user: { username: "project_7_bot_8ab" } };
    expect(await preview(uid, bot)).toMatchObject({ outcome: "ignored", reason: "author" });
    const pipeline = {
      object_kind: "pipeline",
      user: payload.user,
      merge_request: { source_project_id: 1, target_project_id: 2 },
    };
    expect(await preview(uid, pipeline)).toMatchObject({ outcome: "ignored", reason: "author" });
    for (const [key, event, text] of [
      ["a", "1", "x"],
      ["b", "1", "y"],
      ["a", "2", "z"],
      [undefined, "3", "y"],
    ] as const) {
      plane.clock.now += 1000;
      const headers = {
        "x-gitlab-token": SECRET,
        "x-gitlab-event-uuid": event,
        ...(key && { "idempotency-key": key }),
      };
      await hooks.send(uid, JSON.stringify({ ...payload, text }), headers);
    }
    expect(await outcomes(uid)).toEqual(["started", "followed_up", "duplicate", "duplicate"]);
  });
});

describe("the events of Slack", () => {
  const message = { type: "app_mention", user: "U1", text: "<@U0> help", channel: "C1", ts: "1.2", team: "T1" };
  const callback = (event: object = {}, body: object = {}) => ({
    type: "event_callback",
    team_id: "T1",
    event_id: "Ev1",
    is_ext_shared_channel: false,
    event: { ...message, ...event },
    ...body,
  });

  it("start runs only for people of the team, in channels that are not shared", async () => {
    const uid = await create({ kind: "slack" });
    expect((await preview(uid, callback({ thread_ts: "1.1" }))).event).toMatchObject({
      type: "app_mention",
      text: "<@U0> help",
      author: { id: "U1", name: "U1", kind: "person" },
      thread: "T1/C1/1.1",
    });
    expect(await preview(uid, callback())).toMatchObject({ outcome: "started" });
    for (const [event, body] of [
      [{ bot_id: "B1" }],
      [{ subtype: "message_changed" }],
      [{ user_team: "T2" }],
      [{ team: "T2" }],
      [{ user: undefined }],
      [{}, { is_ext_shared_channel: true }],
      [{}, { is_ext_shared_channel: undefined }],
    ]) {
      const tested = await preview(uid, callback(event, body));
      expect(tested, JSON.stringify([event, body])).toMatchObject({ outcome: "ignored", reason: "author" });
    }
  });

  it("are equal by team, channel and time of the message, which comes twice where it is a mention", async () => {
    const uid = await create({ kind: "slack" });
    for (const payload of [
      callback(),
      callback({ type: "message" }, { event_id: "Ev2" }),
      callback({ ts: "1.3" }, { event_id: "Ev3" }),
      callback({ type: "reaction_added", channel: undefined, ts: undefined }, { event_id: "Ev4" }),
      callback({ type: "reaction_added", channel: undefined, ts: undefined, text: "x" }, { event_id: "Ev4" }),
    ]) {
      plane.clock.now += 1000;
      const body = JSON.stringify(payload);
      await hooks.send(uid, body, signed.slack(SECRET, body, Math.floor(plane.clock.now / 1000)));
    }
    expect(await outcomes(uid)).toEqual(["started", "duplicate", "started", "started", "duplicate"]);
  });
});

describe("the events of systems with a preset", () => {
  it("show what was written, by whom and in which thread", async () => {
    const linear = await create({ kind: "webhook", preset: "linear" });
    const comment = {
      type: "Comment",
      action: "create",
      actor: { id: "u", name: "Ada", type: "user" },
      data: { body: "Fix", issueId: "i1" },
    };
    expect(await preview(linear, comment)).toMatchObject({
      outcome: "started",
      event: { type: "Comment", action: "create", text: "Fix", author: { name: "Ada", kind: "person" }, thread: "i1" },
    });
    const app = { ...comment, actor: { name: "Bot", type: "OauthClient" } };
    expect(await preview(linear, app)).toMatchObject({ outcome: "ignored", reason: "author" });

    const jira = await create({ kind: "webhook", preset: "jira" });
    const created = {
      webhookEvent: "comment_created",
      comment: { body: "Fix", author: { accountId: "a", displayName: "Ada", accountType: "atlassian" } },
      issue: { key: "SHOP-1" },
    };
    expect(await preview(jira, created)).toMatchObject({
      outcome: "started",
      event: { type: "comment_created", text: "Fix", author: { id: "a", kind: "person" }, thread: "SHOP-1" },
    });
    const customer = { ...created, comment: { author: { accountType: "customer" } } };
    expect(await preview(jira, customer)).toMatchObject({ outcome: "ignored", reason: "author" });

    const sentry = await create({ kind: "webhook", preset: "sentry" });
    const alert = { action: "created", data: { issue: { id: "77", title: "TypeError" } } };
    expect(await preview(sentry, alert, { "Sentry-Hook-Resource": "issue" })).toMatchObject({
      outcome: "started",
      event: { type: "issue", action: "created", text: "TypeError", thread: "77" },
    });

    const pagerduty = await create({ kind: "webhook", preset: "pagerduty" });
    const incident = { event: { id: "e1", event_type: "incident.triggered", data: { id: "Q1", title: "Disk full" } } };
    expect(await preview(pagerduty, incident)).toMatchObject({
      outcome: "started",
      event: { type: "incident", action: "triggered", text: "Disk full", thread: "Q1" },
    });
  });

  it.each([
    ["linear", "linear-signature", "linear-delivery", "LINEAR"],
    ["jira", "x-hub-signature", "x-atlassian-webhook-identifier", "JIRA"],
    ["sentry", "sentry-hook-signature", "request-id", "CUSTOM_WEBHOOK"],
  ] as const)("are equal by the id or the body of %s", async (preset, header, idHeader, source) => {
    const uid = await create({ kind: "webhook", preset, allow: { anyone: true } });
    for (const [id, text] of [
      ["1", "a"],
      ["1", "b"],
      ["2", "a"],
      ["2", "c"],
    ] as const) {
      const user = { accountType: "atlassian", type: "user" };
      const body = JSON.stringify({ text, webhookTimestamp: plane.clock.now, user, actor: user });
      const prefix = preset === "jira" ? "sha256=" : "";
      await hooks.send(uid, body, { [header]: prefix + sign(SECRET, body), [idHeader]: id });
    }
    expect((await outcomes(uid)).toSorted()).toEqual(["duplicate", "duplicate", "started", "started"]);
    expect(await hooks.runs()).toMatchObject([{ source }, { source }]);
  });

  it("are equal by the id in the signed body of PagerDuty", async () => {
    const uid = await create({ kind: "webhook", preset: "pagerduty" });
    for (const [id, title] of [
      ["e1", "a"],
      ["e1", "b"],
      ["e2", "a"],
    ] as const) {
      const body = JSON.stringify({ event: { id, event_type: "incident.triggered", data: { title } } });
      await hooks.send(uid, body, { "x-pagerduty-signature": `v1=${sign(SECRET, body)}` });
    }
    expect((await outcomes(uid)).toSorted()).toEqual(["duplicate", "started", "started"]);
  });
});
