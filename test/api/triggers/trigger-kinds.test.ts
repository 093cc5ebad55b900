import { beforeEach, describe, expect, it } from "vitest";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createHooks, sign, signed } from "../../support/hooks.ts";

const SECRET = "a-secret-of-the-other-system";
const PROMPT = "Look at {{ event.text }} in {{ event.repository }}.";

let plane: TestControlPlane;
let hooks: ReturnType<typeof createHooks>;
beforeEach(async () => {
  plane = await createTestControlPlane();
  hooks = createHooks(plane);
});

const createUid = async (body: object) => {
  const { status, body: trigger } = await hooks.create({ secret: SECRET, prompt: PROMPT, ...body });
  expect(status).toBe(201);
  return trigger.uid;
};
const seconds = () => Math.floor(plane.clock.now / 1000);

describe("a trigger of a kind or with a preset", () => {
  it.each([
    ["verification", { kind: "github", verification: { scheme: "bearer" } }],
    ["preset", { kind: "slack", preset: "linear" }],
    ["verification", { kind: "webhook", preset: "sentry", verification: { scheme: "bearer" } }],
    ["prompt", { kind: "github", prompt: undefined }],
    ["secret", { kind: "slack", secret: undefined }],
    ["secret", { kind: "webhook", preset: "pagerduty", secret: undefined }],
    ["secret", { kind: "gitlab", secret: "whsec_not in base64 at all" }],
  ])("refuses %s of %j", async (path, body) => {
    const response = await hooks.create({ secret: SECRET, prompt: PROMPT, ...body });
    expect(response).toMatchObject({ status: 400, body: { errors: [{ path }] } });
  });

  it("has the verification and the prompt of its preset", async () => {
    const { body: trigger } = await hooks.create({ kind: "webhook", preset: "jira" });
    expect(trigger).toMatchObject({
      preset: "jira",
      verification: { scheme: "hmac", header: "X-Hub-Signature", prefix: "sha256=" },
      prompt: expect.stringContaining("{{ event.text }}"),
    });
    expect((await hooks.create({ kind: "github", prompt: PROMPT })).body).not.toHaveProperty("verification");
  });

  it("needs a secret of the other system to replace one that it has made", async () => {
    const uid = await createUid({ kind: "slack" });
    const path = `/agent/triggers/${uid}/rotate-secret`;
    const user = (await import("../../support/client.ts")).createClient(plane);
    expect((await user.post(path, {})).body.errors).toEqual([
      { path: "secret", message: "is required: slack makes it" },
    ]);
    expect((await user.post(path, { secret: "another-secret-of-slack" })).status).toBe(200);
  });
});

describe("the signature of a delivery", () => {
  it("is taken as GitHub publishes it as an example, and never by SHA-1", async () => {
    const secret = "It's a Secret to Everybody";
    const uid = await createUid({ kind: "github", secret });
    const signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
    // Verified, and then refused because it is no JSON.
    expect((await hooks.send(uid, "Hello, World!", { "x-hub-signature-256": signature })).status).toBe(400);
    expect((await hooks.send(uid, "Hello, World?", { "x-hub-signature-256": signature })).status).toBe(401);
    expect((await hooks.send(uid, "Hello, World!", { "x-hub-signature": signature })).status).toBe(401);
    expect((await hooks.send(uid, "Hello, World!", { authorization: `Bearer ${secret}` })).status).toBe(401);
  });

  it("is taken as Slack publishes it as an example, within five minutes either way", async () => {
    const uid = await createUid({ kind: "slack", secret: "8f742231b10e8888abcd99yyyzzz85a5" });
    const body =
      "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
    const headers = {
      "content-type": "application/x-www-form-urlencoded",
      "x-slack-request-timestamp": "1531420618",
      "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
    };
    // A slash command has no payload: verified, and then refused.
    for (const [offset, status] of [
      [0, 400],
      [300, 400],
      [-300, 400],
      [301, 401],
      [-301, 401],
    ] as const) {
      plane.clock.now = (1531420618 + offset) * 1000;
      expect((await hooks.send(uid, body, headers)).status, `${offset} s`).toBe(status);
    }
  });

  it("is the signing token of GitLab where the secret is one, else its plain token", async () => {
    const body = JSON.stringify({ object_kind: "push", user_username: "ada" });
    const plain = await createUid({ kind: "gitlab" });
    expect((await hooks.send(plain, body, { "x-gitlab-token": SECRET })).status).toBe(200);
    expect((await hooks.send(plain, body, { "x-gitlab-token": `${SECRET}s` })).status).toBe(401);
    expect((await hooks.send(plain, body, {})).status).toBe(401);
    const secret = `whsec_${Buffer.from("a key of thirty-two bytes, I say").toString("base64")}`;
    const signing = await createUid({ kind: "gitlab", secret });
    expect((await hooks.send(signing, body, { "x-gitlab-token": secret })).status).toBe(401);
    const { createHmac } = await import("node:crypto");
    const signature = createHmac("sha256", "a key of thirty-two bytes, I say").update(`1.${seconds()}.${body}`);
    const headers = {
      "webhook-id": "1",
      "webhook-timestamp": String(seconds()),
      "webhook-signature": `v1,${signature.digest("base64")}`,
    };
    expect((await hooks.send(signing, body, headers)).status).toBe(200);
  });

  it("covers the time in the body of Linear, which is at most a minute old", async () => {
    const uid = await createUid({ kind: "webhook", preset: "linear" });
    const send = (offset: number | undefined) => {
      const time = offset === undefined ? {} : { webhookTimestamp: plane.clock.now + offset };
      const body = JSON.stringify({ type: "Issue", ...time });
      return hooks.send(uid, body, {
        "linear-signature": sign(SECRET, body),
        "linear-timestamp": `${plane.clock.now}`,
      });
    };
    for (const [offset, status] of [
      [-60_000, 200],
      [60_000, 200],
      [-60_001, 401],
      [60_001, 401],
      [undefined, 401],
    ] as const) {
      expect((await send(offset)).status, `${offset} ms`).toBe(status);
    }
  });

  it.each([
    ["jira", "x-hub-signature", "sha256="],
    ["sentry", "sentry-hook-signature", ""],
    ["pagerduty", "x-pagerduty-signature", `v1=${"0".repeat(64)},v1=`],
  ])("is taken from the header of %s", async (preset, header, prefix) => {
    const uid = await createUid({ kind: "webhook", preset });
    const body = JSON.stringify({ action: "created" });
    expect((await hooks.send(uid, body, { [header]: prefix + sign(SECRET, body) })).status).toBe(200);
    expect((await hooks.send(uid, `${body} `, { [header]: prefix + sign(SECRET, body) })).status).toBe(401);
    expect((await hooks.send(uid, body, { authorization: `Bearer ${SECRET}` })).status).toBe(401);
  });

  it("is checked before Slack's question about a new URL is answered, which is no delivery", async () => {
    const uid = await createUid({ kind: "slack", enabled: false });
    const body = JSON.stringify({ type: "url_verification", challenge: "3eZbrw1aB" });
    expect((await hooks.send(uid, body, signed.slack("wrong", body, seconds()))).status).toBe(401);
    const response = await hooks.send(uid, body, signed.slack(SECRET, body, seconds()));
    expect(response).toMatchObject({ status: 200, body: { challenge: "3eZbrw1aB" } });
    expect(await hooks.deliveries(uid)).toEqual([]);
  });
});

describe("the body of a delivery", () => {
  it("may be a form with exactly one JSON object as its payload", async () => {
    const uid = await createUid({ kind: "github", allow: { anyone: true } });
    const payload = encodeURIComponent(
      JSON.stringify({ sender: { type: "User" }, comment: { body: "Hi" }, repository: { full_name: "o/r" } }),
    );
    const send = (body: string) => {
      const headers = {
        "content-type": "application/x-www-form-urlencoded",
        ...signed.github(SECRET, body, "push", "1"),
      };
      return hooks.send(uid, body, headers);
    };
    expect((await send(`payload=${payload}&payload=${payload}`)).status).toBe(400);
    expect((await send(`other=${payload}`)).status).toBe(400);
    expect((await send("payload=%5B%5D")).status).toBe(400);
    expect((await send(`payload=${payload}`)).status).toBe(200);
    expect(await hooks.runs()).toMatchObject([{ prompt: "Look at Hi in o/r.", source: "GITHUB_WEBHOOK" }]);
  });
});
