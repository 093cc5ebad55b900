import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { installationStore } from "#shared/github/installation-store.ts";
import { claimInstallation } from "../../support/claim-installation.ts";
import { type Client, createClient } from "../../support/client.ts";
import { GithubAppStandIn } from "../../support/github-app-stand-in.ts";
import { createSkillControlPlane, type SkillControlPlane } from "../../support/skills.ts";

const ID = 2_000_001;
const OWNER = { id: 41, organizations: { acme: { role: "admin" } } } as const;

let plane: SkillControlPlane["plane"];
let github: SkillControlPlane["github"];
let user: Client;
let bo: Client;
let app: GithubAppStandIn;
beforeEach(async () => {
  ({ plane, github, user, bo } = await createSkillControlPlane());
  const now = () => plane.clock.now;
  app = new GithubAppStandIn(now);
  github.app = app;
  app.install(["acme/shop"]);
  app.codes.set("of-the-owner", OWNER);
  plane.repositories.appClient = {
    id: app.id,
    privateKey: async () => app.privateKey,
    clientSecret: async () => app.clientSecret,
    api: { apiUrl: github.url, fetch, now },
  };
});
afterEach(async () => await github[Symbol.asyncDispose]());

/** Begins a claim. Returns its state. */
async function begin(client = user): Promise<string> {
  const { status, body } = await client.post("/agent/github/claims");
  expect(status, JSON.stringify(body)).toBe(201);
  return new URL(body.install_url).searchParams.get("state") ?? "";
}
const complete = (state: string, more: object = {}, client = user) =>
  client.post("/agent/github/installations", { installation_id: ID, state, code: "of-the-owner", ...more });
const list = async (client = user) => (await client.get("/agent/github/installations")).body.installations;

describe("POST /agent/github/claims", () => {
  it("returns GitHub's pages to install the App and to authorize it, with one state for an hour", async () => {
    const { status, body } = await user.post("/agent/github/claims");
    expect(status).toBe(201);
    const state = new URL(body.install_url).searchParams.get("state");
    expect(body).toEqual({
      install_url: `${github.url}/apps/runyard-of-acme/installations/new?state=${state}`,
      authorize_url: `${github.url}/login/oauth/authorize?client_id=${app.clientId}&state=${state}&redirect_uri=https%3A%2F%2Frunyard.test%2Fgithub`,
      expires_at: "2026-05-18T20:00:00.000Z",
    });
    expect(JSON.stringify(plane.table.all())).not.toContain(state);
  });

  it("returns 403 in a deployment without an App, and to members who are no admins", async () => {
    const member = createClient(plane, (await plane.person("Cy")).key);
    expect(await member.post("/agent/github/claims")).toMatchObject({ status: 403 });
    plane.repositories.appClient = undefined;
    const refused = await user.post("/agent/github/claims");
    expect(refused).toMatchObject({ status: 403, body: { error_code: "integration_not_configured" } });
  });
});

describe("POST /agent/github/installations", () => {
  it("has the installation belong to the team, if an owner of the organization has authorized the App", async () => {
    const { status, body } = await complete(await begin());
    expect(status, JSON.stringify(body)).toBe(201);
    expect(body).toEqual({
      installation_id: ID,
      account: { id: 7, login: "acme", type: "Organization" },
      repository_selection: "selected",
      scope: { type: "Team", uid: plane.team },
      claimed_by: expect.objectContaining({ uid: plane.user }),
      claimed_at: "2026-05-18T19:00:00.000Z",
    });
    expect(await list()).toEqual([body]);
    expect(await list(bo)).toEqual([]);
  });

  it.each([
    ["a member of the organization", { id: 42, organizations: { acme: { role: "member" } } }],
    [
      "somebody who has not accepted to be an owner",
      { id: 42, organizations: { acme: { role: "admin", state: "pending" } } },
    ],
    ["an owner of another organization", { id: 42, organizations: { globex: { role: "admin" } } }],
    ["somebody whose id is the organization's", { id: 7, organizations: {} }],
  ] as const)("returns 403 to %s", async (_, person) => {
    app.codes.set("of-another", person);
    const refused = await complete(await begin(), { code: "of-another" });
    expect(refused).toMatchObject({ status: 403, body: { error_code: "not_authorized" } });
    expect(await list()).toEqual([]);
  });

  it("accepts the installation of a personal account from this person only", async () => {
    app.install(["ann/dots"], { account: { id: 43, login: "ann", type: "User" } });
    const second = { installation_id: ID + 1 };
    expect(await complete(await begin(), second)).toMatchObject({ status: 403 });
    app.codes.set("of-ann", { id: 43, organizations: {} });
    expect(await complete(await begin(), { ...second, code: "of-ann" })).toMatchObject({ status: 201 });
  });

  it("returns 403 for a code that GitHub does not accept, and for an installation of another App", async () => {
    const state = await begin();
    expect(await complete(state, { code: "guessed" })).toMatchObject({
      status: 403,
      body: { detail: "code: GitHub does not accept it: bad_verification_code" },
    });
    expect(await complete(state, { installation_id: 99 })).toMatchObject({ status: 403 });
    expect(await complete(state)).toMatchObject({ status: 201 });
  });

  it("accepts a state once, within an hour, from the person who started the claim, for this team", async () => {
    const { key } = await plane.person("Cy", [plane.team, plane.otherTeam]);
    const admin = createClient(plane, key);
    const state = await begin();
    for (const client of [bo, admin]) expect((await complete(state, {}, client)).status).not.toBe(201);
    plane.clock.now += 3_600_000;
    const late = await complete(state);
    expect(late).toMatchObject({ status: 400, body: { errors: [{ path: "state" }] } });
    const next = await begin();
    expect(await complete(next)).toMatchObject({ status: 201 });
    app.codes.set("of-the-owner", OWNER);
    await user.delete(`/agent/github/installations/${ID}`);
    expect(await complete(next)).toMatchObject({ status: 400 });
  });

  it("returns 409 for an installation that a team has", async () => {
    await complete(await begin());
    app.codes.set("of-the-owner", OWNER);
    const taken = await complete(await begin(bo), {}, bo);
    expect(taken).toMatchObject({ status: 409, body: { error_code: "conflict", retryable: false } });
    expect(await list(bo)).toEqual([]);
  });

  it("returns 503 while GitHub does not respond, and claims nothing", async () => {
    const state = await begin();
    github.instead = { status: 502 };
    expect(await complete(state)).toMatchObject({ status: 503 });
    github.instead = undefined;
    expect(await complete(state)).toMatchObject({ status: 201 });
  });
});

describe("DELETE /agent/github/installations/{installationId}", () => {
  it("has the installation belong to no team, for its team only", async () => {
    await claimInstallation(plane, plane.team);
    expect(await bo.delete(`/agent/github/installations/${ID}`)).toMatchObject({ status: 404 });
    expect(await list()).toHaveLength(1);
    expect(await user.delete(`/agent/github/installations/${ID}`)).toMatchObject({ status: 204 });
    expect(await list()).toEqual([]);
    expect(await installationStore(plane.table).get(ID)).toBeUndefined();
    expect(await user.delete(`/agent/github/installations/${ID}`)).toMatchObject({ status: 404 });
  });
});

describe("DELETE /agent/teams/{teamUid}", () => {
  it("has the installations of the team belong to no team", async () => {
    await claimInstallation(plane, plane.otherTeam);
    const { body } = await bo.delete(`/agent/teams/${plane.otherTeam}`);
    expect(body).toBe("");
    expect(await installationStore(plane.table).get(ID)).toBeUndefined();
  });
});
