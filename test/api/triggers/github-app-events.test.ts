import { beforeEach, describe, expect, it } from "vitest";
import { installationStore } from "#shared/github/installation-store.ts";
import { claimInstallation } from "../../support/claim-installation.ts";
import { type Client, createClient, request } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { signed } from "../../support/hooks.ts";

const SECRET = "the-secret-of-the-app";
const OWN = "the-secret-of-the-trigger";
const ID = 2_000_001;
const OPENED = {
  action: "opened",
  installation: { id: ID },
  repository: { full_name: "acme/shop", private: true },
  issue: {
    number: 12,
    title: "Checkout fails",
    body: "It says 500.",
    html_url: "https://github.com/acme/shop/issues/12",
  },
  sender: { id: 1, login: "ann", type: "User" },
};

let plane: TestControlPlane;
let user: Client;
let bo: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
  bo = createClient(plane, plane.otherKey);
  plane.repositories.appWebhookSecret = SECRET;
});

const create = async (client = user, more: object = {}): Promise<string> => {
  const trigger = {
    name: "issues",
    kind: "github",
    prompt: "Look at {{ event.text }}.",
    allow: { anyone: true },
    ...more,
  };
  const { status, body } = await client.post("/agent/triggers", trigger);
  expect(status, JSON.stringify(body)).toBe(201);
  return body.uid;
};
const send = (payload: object, event = "issues", id = "delivery-1", secret = SECRET) => {
  const body = JSON.stringify(payload);
  const headers = signed.github(secret, body, event, id);
  return request(plane, "POST", "/hooks/github-app", { key: undefined, body, headers });
};
const deliveries = async (uid: string, client = user) =>
  (await client.get(`/agent/triggers/${uid}/deliveries`)).body.deliveries;
const claimed = () => installationStore(plane.table).get(ID);

describe("POST /hooks/github-app", () => {
  it("delivers an event once to each trigger of the kind github of the team that owns the installation", async () => {
    await claimInstallation(plane, plane.team);
    const takers = [await create(), await create()];
    const plain = await create(user, { kind: "webhook", allow: undefined });
    const foreign = await create(bo);
    const { status, body } = await send(OPENED);
    expect(status).toBe(200);
    expect(body).toEqual({ delivery_id: expect.any(String) });
    for (const uid of takers) {
      expect(await deliveries(uid)).toMatchObject([
        { delivery_id: body.delivery_id, external_id: "delivery-1", event_type: "issues", outcome: "started" },
      ]);
    }
    expect(await deliveries(plain)).toEqual([]);
    expect(await deliveries(foreign, bo)).toEqual([]);
    expect((await bo.get("/agent/runs")).body.runs).toEqual([]);
  });

  it("stores a repeated event as a duplicate of each trigger, and an event that a trigger lacks for this trigger", async () => {
    await claimInstallation(plane, plane.team);
    const first = await create();
    await send(OPENED);
    const second = await create();
    plane.clock.now += 1000;
    await send(OPENED);
    const outcomes = async (uid: string) => (await deliveries(uid)).map(({ outcome }: { outcome: string }) => outcome);
    expect(await outcomes(first)).toEqual(["duplicate", "started"]);
    expect(await outcomes(second)).toEqual(["started"]);
  });

  it("accepts and ignores events of an installation that no team has", async () => {
    const uid = await create();
    expect(await send(OPENED)).toMatchObject({ status: 200 });
    expect(await send({ zen: "Keep it logically awesome." }, "ping")).toMatchObject({ status: 200 });
    expect(await deliveries(uid)).toEqual([]);
  });

  it("returns the 401 of other hooks for a wrong signature, and where there is no App", async () => {
    await claimInstallation(plane, plane.team);
    const uid = await create();
    const body = JSON.stringify(OPENED);
    const other = await request(plane, "POST", `/hooks/${uid}`, { key: undefined, body, headers: {} });
    const texts = ({ status, body: { title, detail } }: typeof other) => ({ status, title, detail });
    const refused = texts(other);
    expect(refused.status).toBe(401);
    expect(texts(await send(OPENED, "issues", "1", "another-secret"))).toEqual(refused);
    plane.repositories.appWebhookSecret = undefined;
    expect(texts(await send(OPENED, "issues", "1", ""))).toEqual(refused);
    expect(texts(await send(OPENED))).toEqual(refused);
    expect(await deliveries(uid)).toEqual([]);
  });

  it("returns 400 for a verified body that is no JSON object", async () => {
    const headers = signed.github(SECRET, "[]", "issues", "1");
    const sent = await request(plane, "POST", "/hooks/github-app", { key: undefined, body: "[]", headers });
    expect(sent).toMatchObject({ status: 400 });
  });

  it("does not take the installation of a payload to a trigger's own URL as a credential", async () => {
    await claimInstallation(plane, plane.team);
    const uid = await create(user, { secret: OWN, allow: {} });
    const body = JSON.stringify(OPENED);
    await request(plane, "POST", `/hooks/${uid}`, {
      key: undefined,
      body,
      headers: signed.github(OWN, body, "issues", "1"),
    });
    expect(await deliveries(uid)).toMatchObject([{ outcome: "ignored", reason: "author" }]);
  });
});

describe("events about an installation", () => {
  const of = (action: string, more: object = {}) => ({
    action,
    installation: { id: ID, account: { id: 7, login: "acme", type: "Organization" }, repository_selection: "all" },
    sender: { id: 1, login: "ann", type: "User" },
    ...more,
  });

  it("have a deleted installation belong to no team", async () => {
    await claimInstallation(plane, plane.team);
    await send(of("deleted"), "installation");
    expect(await claimed()).toBeUndefined();
    expect((await user.get("/agent/github/installations")).body.installations).toEqual([]);
    expect(await send(of("deleted"), "installation", "delivery-2")).toMatchObject({ status: 200 });
  });

  it("change its account and its repositories, and claim none", async () => {
    await send(of("created"), "installation");
    expect(await claimed()).toBeUndefined();
    await claimInstallation(plane, plane.team);
    await send(of("added"), "installation_repositories", "delivery-2");
    expect(await claimed()).toMatchObject({ team_uid: plane.team, repository_selection: "all" });
    const account = { id: 7, login: "acme-inc", type: "Organization" };
    await send(of("renamed", { account }), "installation_target", "delivery-3");
    expect(await claimed()).toMatchObject({ team_uid: plane.team, account });
  });
});
