import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import * as v from "valibot";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { client, commands } from "../support/api-client.ts";
import { GithubAppStandIn } from "../support/github-app-stand-in.ts";
import { sign, signed } from "../support/hooks.ts";
import { startSystems, type TestSystems, TOKENS } from "../support/systems-stand-in.ts";
import { type CloudProcess, dropState, makeState, startCloud } from "./cloud.ts";

const START_MS = 900_000;
const APP_SECRET = "the-secret-of-the-app";
const INSTALLATION_ID = 2_000_001;
const REPOSITORY = { id: 1, full_name: "acme/shop", private: true, default_branch: "main" };
const ADA = { id: 5, login: "ada", type: "User" };

let state: string;
let cloud: CloudProcess;
let api: ReturnType<typeof client>;
let systems: TestSystems;
let app: GithubAppStandIn;

beforeAll(async () => {
  state = await makeState();
  systems = await startSystems();
  app = new GithubAppStandIn(Date.now);
  app.install(["acme/shop"], {
    permissions: { metadata: "read", issues: "write", pull_requests: "read", checks: "write" },
  });
  systems.connected.app = app;
  systems.permissions.set("acme/shop/ada", "write");
  const file = path.join(state, "github-app.json");
  const { clientId: client_id, clientSecret: client_secret, privateKey: pem } = app;
  const keys = { client_id, client_secret, pem, webhook_secret: APP_SECRET };
  await writeFile(file, JSON.stringify({ id: Number(app.id), slug: "runyard-of-acme", ...keys }), { mode: 0o600 });
  cloud = await startCloud(state, [], {
    RUNYARD_GITHUB_APP: file,
    RUNYARD_GITHUB_API_URL: systems.addresses.github,
    RUNYARD_GITLAB_API_URL: systems.addresses.gitlab,
    RUNYARD_SLACK_API_URL: systems.addresses.slack,
  });
  api = client(cloud);
  for (const [name, value] of Object.entries(TOKENS)) await api.call("POST", "/agent/secrets", { name, value });
}, START_MS);

afterAll(async () => {
  await cloud.stop();
  await systems[Symbol.asyncDispose]();
  await dropState(state);
}, START_MS);

/** Creates a trigger whose runs print a line. Returns its uid and secret. */
async function create(members: object): Promise<{ readonly uid: string; readonly secret: string }> {
  const prompt = `${commands("echo from the trigger")}\n\nAbout {{ event.text }}`;
  const { status, body } = await api.call("POST", "/agent/triggers", { name: "events", prompt, ...members });
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}

const Response = v.object({ delivery_id: v.optional(v.string()), challenge: v.optional(v.string()) });

/** Delivers an event as its sender does: without a key, to the public URL. */
async function send(target: string, body: string, headers: Record<string, string>) {
  const response = await fetch(`${cloud.baseUrl}/hooks/${target}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
  });
  const { delivery_id, challenge } = v.parse(Response, await response.json());
  return { status: response.status, delivery_id, challenge };
}

/** The deliveries of a trigger once all have an outcome, newest first. */
async function decided(uid: string, count: number) {
  const list = async () => (await api.call("GET", `/agent/triggers/${uid}/deliveries`)).body.deliveries;
  const isDecided = ({ outcome }: { outcome?: string }) => outcome !== undefined;
  return vi.waitFor(
    async () => {
      const found = await list();
      expect(found.filter(isDecided), JSON.stringify(found)).toHaveLength(count);
      return found;
    },
    { timeout: 120_000, interval: 250 },
  );
}

/** Expects that an event has started a run, and that the run has executed the block of the template. */
async function expectExecuted(uid: string, source: string): Promise<string> {
  const [delivery] = await decided(uid, 1);
  expect(delivery).toMatchObject({ outcome: "started", attempts: 1 });
  const run = await api.ended(delivery.run_id);
  expect(run.status_message?.message ?? run.state).toBe("SUCCEEDED");
  expect(run).toMatchObject({ source });
  expect(await api.outputs(delivery.run_id)).toEqual(["from the trigger\n"]);
  return delivery.run_id;
}

const comment = (text: string, more: object = {}) =>
  JSON.stringify({
    action: "created",
    repository: REPOSITORY,
    sender: ADA,
    issue: { number: 7, html_url: "https://github.com/acme/shop/issues/7" },
    comment: { id: 1, body: text },
    ...more,
  });

describe.concurrent("a delivery on the emulator", () => {
  test("of a plain webhook starts a run, which is executed, and its repetition does not", async ({ expect }) => {
    const { uid, secret } = await create({ kind: "webhook", verification: { scheme: "hmac", header: "x-signature" } });
    const body = JSON.stringify({ text: "the build\n```sh\necho from the event\n```", build: 7 });
    const headers = { "x-signature": sign(secret, body) };
    expect(await send(uid, body, { "x-signature": sign("wrong", body) })).toMatchObject({ status: 401 });
    expect(await send(randomUUID(), body, headers)).toMatchObject({ status: 401 });
    const first = await send(uid, body, headers);
    expect(first).toEqual({ status: 200, delivery_id: expect.any(String) });
    await expectExecuted(uid, "CUSTOM_WEBHOOK");
    await send(uid, body, headers);
    expect(await decided(uid, 2)).toMatchObject([{ outcome: "duplicate", of: first.delivery_id }, {}]);
  });

  test("of a repository's webhook asks GitHub for the author's rights, and starts and continues a run", async ({
    expect,
  }) => {
    const { uid, secret } = await create({
      kind: "github",
      filter: 'event.text.contains("@runyard")',
      credential: "github",
      followup_prompt: commands("echo continued"),
    });
    const deliver = async (body: string, id: string) => {
      expect(await send(uid, body, signed.github(secret, body, "issue_comment", id))).toMatchObject({ status: 200 });
    };
    await deliver(comment("@runyard look at this", { issue: { number: 8 } }), "repository-1");
    const run = await expectExecuted(uid, "GITHUB_WEBHOOK");
    await deliver(comment("no mention"), "repository-2");
    await deliver(comment("@runyard", { sender: { id: 6, login: "mallory", type: "User" } }), "repository-3");
    await deliver(comment("@runyard and then", { issue: { number: 8 } }), "repository-4");
    const outcomes = (await decided(uid, 4)).map(({ external_id, outcome, reason, run_id }: Record<string, string>) => [
      external_id,
      outcome,
      reason ?? run_id,
    ]);
    expect(Object.fromEntries(outcomes.map(([id, ...rest]: string[]) => [id, rest]))).toEqual({
      "repository-1": ["started", run],
      "repository-2": ["ignored", "filter"],
      "repository-3": ["ignored", "author"],
      "repository-4": ["followed_up", run],
    });
    expect(await api.ended(run)).toMatchObject({ state: "SUCCEEDED" });
    await expect.poll(() => api.outputs(run)).toEqual(["from the trigger\n", "continued\n"]);
  });

  test("of Slack starts a run, which is executed, and its challenge is answered", async ({ expect }) => {
    const { uid } = await create({ kind: "slack", secret: "a-signing-secret-of-slack" });
    const deliver = (payload: object) => {
      const body = JSON.stringify(payload);
      return send(uid, body, signed.slack("a-signing-secret-of-slack", body, Math.floor(Date.now() / 1000)));
    };
    const question = { type: "url_verification", challenge: "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P" };
    expect(await deliver(question)).toEqual({ status: 200, challenge: question.challenge });
    const event = { type: "app_mention", user: "U1", text: "<@U9> hi", ts: "1.2", channel: "C1", event_ts: "1.2" };
    const callback = { type: "event_callback", team_id: "T1", api_app_id: "A1", event_id: "Ev1", event_time: 1 };
    const authorizations = [{ team_id: "T1", user_id: "U9", is_bot: true, enterprise_id: null }];
    const mention = { ...callback, event, authorizations, is_ext_shared_channel: false };
    expect(await deliver(mention)).toMatchObject({ status: 200 });
    await expectExecuted(uid, "SLACK");
  });
});

// After the others, since each trigger of the kind `github` receives the events of the App.
describe("an event of the GitHub App on the emulator", () => {
  test("starts a run of the team that has claimed the installation, by the token of the App", async () => {
    app.codes.set("of-the-owner", { id: 41, organizations: { acme: { role: "admin" } } });
    const { body: claim } = await api.call("POST", "/agent/github/claims");
    const code = new URL(claim.install_url).searchParams.get("state");
    const proof = { installation_id: INSTALLATION_ID, state: code, code: "of-the-owner" };
    const { status, body: claimed } = await api.call("POST", "/agent/github/installations", proof);
    expect(status, JSON.stringify(claimed)).toBe(201);
    const { uid } = await create({ kind: "github", events: ["issue_comment"] });
    const body = comment("@runyard by the App", { installation: { id: INSTALLATION_ID } });
    const headers = signed.github(APP_SECRET, body, "issue_comment", "app-1");
    const forged = { ...headers, "x-hub-signature-256": `sha256=${sign("wrong", body)}` };
    expect(await send("github-app", body, forged)).toMatchObject({ status: 401 });
    expect(await send("github-app", body, headers)).toMatchObject({ status: 200 });
    await expectExecuted(uid, "GITHUB_WEBHOOK");
  });
});
