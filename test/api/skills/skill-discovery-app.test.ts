import { generateKeyPairSync } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { findOwner } from "#shared/github/installation-store.ts";
import { githubApp } from "#shared/skills/github-app.ts";
import { claimInstallation } from "../../support/claim-installation.ts";
import { GithubAppStandIn } from "../../support/github-app-stand-in.ts";
import { createSkillControlPlane, names, type SkillControlPlane, shop } from "../../support/skills.ts";
import { storeEnvironmentRepositories } from "../../support/stored-repositories.ts";

const MINUTE = 60_000;
let plane: SkillControlPlane["plane"];
let github: SkillControlPlane["github"];
let user: SkillControlPlane["user"];
let bo: SkillControlPlane["bo"];
let onGithub: SkillControlPlane["onGithub"];
let list: SkillControlPlane["list"];
let app: GithubAppStandIn;
/** The value of the private key's parameter. */
let key: string | undefined;
let logged: string[];

beforeEach(async () => {
  ({ plane, github, user: user, bo, onGithub, list } = await createSkillControlPlane());
  const now = () => plane.clock.now;
  app = new GithubAppStandIn(now);
  github.app = app;
  key = app.privateKey;
  const settings = { id: app.id, privateKey: async () => key, ownerOf: findOwner(plane.table, plane.team) };
  plane.repositories.githubApp = githubApp(settings, { apiUrl: github.url, fetch, now });
  onGithub("acme/shop", { ...shop, tokens: ["ours"] });
  onGithub("acme/vault", { ...shop, tokens: [] });
  github.goodTokens.add("ours");
  logged = [];
  vi.mocked(process.stdout.write).mockImplementation((line) => logged.push(String(line)) > 0);
});
afterEach(async () => {
  vi.mocked(process.stdout.write).mockReturnValue(true);
  await github[Symbol.asyncDispose]();
});

/** Discovers the shop's skills. */
const discover = async () => names(await list("?repo=acme/shop&refresh=true"));
const found = ["release", "review"];
/** The credentials of the requests to GitHub for the shop's files. */
const listCredentials = () =>
  github.seen.filter(({ path }) => path.includes("/git/")).map(({ authorization }) => authorization);
const complaints = () => logged.filter((line) => line.includes("the GitHub App issues no token"));

describe("a repository with the GitHub App installed", () => {
  it("is read with a token for that repository only, which can only read files", async () => {
    app.install(["acme/shop", "acme/vault"], { permissions: { contents: "read", metadata: "read", issues: "write" } });
    expect(await discover()).toEqual(found);
    expect(app.issued).toMatchObject([{ repositories: ["acme/shop"], permissions: { contents: "read" } }]);
    expect(Object.keys(app.issued[0]?.permissions ?? {})).toEqual(["contents"]);
    expect(new Set(listCredentials())).toEqual(new Set([`Bearer ${app.issued[0]?.token}`]));
  });

  it("is read with its URL's credential if any, or else the App's token, or else the deployment's", async () => {
    app.install(["acme/shop"]);
    plane.repositories.githubToken = "ours";
    await discover();
    expect(listCredentials()).not.toContain("Bearer ours");
    github.seen.length = 0;
    const { uid } = (await user.post("/agent/environments", { name: "Shop" })).body;
    await storeEnvironmentRepositories(plane, uid, [{ url: "https://x-access-token:ours@github.com/acme/shop" }]);
    await list();
    expect(new Set(github.seen.map(({ authorization }) => authorization))).toEqual(new Set(["Bearer ours"]));
  });

  it("is read conditionally with the same token until shortly before its expiry, and then with a new one", async () => {
    app.install(["acme/shop"]);
    await discover();
    plane.clock.now += 54 * MINUTE;
    github.seen.length = 0;
    expect(await discover()).toEqual(found);
    expect(github.seen.map(({ status }) => status)).toEqual([304]);
    plane.clock.now += 2 * MINUTE;
    github.seen.length = 0;
    expect(await discover()).toEqual(found);
    expect(app.issued).toHaveLength(2);
    // The ETag does not apply to another token, but the files are still cached.
    expect(github.seen.map(({ path, status }) => `${status} ${path.replace(/\d{5,}/, "ID")}`)).toEqual([
      "200 /repos/acme/shop/installation",
      "201 /app/installations/ID/access_tokens",
      "200 /repos/acme/shop/git/trees/HEAD?recursive=1",
    ]);
  });

  it("is shown to members of the installation's team only, also after it was discovered for them", async () => {
    app.install(["acme/shop"]);
    expect(await discover()).toEqual(found);
    expect(await bo.get("/agent?repo=acme/shop")).toMatchObject({ status: 404 });
    await claimInstallation(plane, plane.otherTeam);
    expect(names(await list("?repo=acme/shop&refresh=true", bo))).toEqual(found);
    const { body } = await list("?repo=acme/shop&refresh=true");
    expect(body.unavailable[0].error).toMatch(/install .* App for acme\/shop and claim the installation, or set one/);
  });

  it("has a token of its own", async () => {
    app.install(["acme/shop", "acme/vault"]);
    await discover();
    await list("?repo=acme/vault");
    expect(app.issued.map(({ repositories }) => repositories)).toEqual([["acme/shop"], ["acme/vault"]]);
  });

  it("is found by its old name after it was renamed", async () => {
    onGithub("acme/old", { files: {}, movedTo: "acme/shop" });
    app.install(["acme/shop"]);
    expect(names(await list("?repo=acme/old"))).toEqual(found);
    expect(app.issued).toMatchObject([{ repositories: ["acme/shop"] }]);
  });

  it.each([
    ["behind by a minute", -MINUTE],
    ["ahead by a minute", MINUTE],
  ])("is read even if GitHub's clock is %s", async (_, ahead) => {
    app.ahead = ahead;
    app.install(["acme/shop"]);
    expect(await discover()).toEqual(found);
    expect(complaints()).toEqual([]);
  });

  it("is read with a new token after the App was removed and installed again", async () => {
    app.install(["acme/shop"]);
    await discover();
    app.uninstall();
    const { body } = await list("?repo=acme/shop&refresh=true");
    expect(body.unavailable[0].error).toMatch(/^GitHub does not accept the token: Bad credentials/);
    app.install(["acme/shop"]);
    expect(await discover()).toEqual(found);
  });

  it("leaves no token, assertion or key in the log, the table or the bucket", async () => {
    app.install(["acme/shop"]);
    await discover();
    key = `${app.privateKey.slice(0, 300)}…`;
    plane.clock.now += 60 * MINUTE;
    await user.get("/agent?repo=acme/shop&refresh=true");
    const output = JSON.stringify([logged, plane.table.all(), [...plane.files.files]]);
    for (const secret of ["ghs_made", "eyJ", "PRIVATE KEY", app.privateKey.slice(40, 80)]) {
      expect(output).not.toContain(secret);
    }
    expect(complaints()).toHaveLength(1);
  });
});

describe("a repository without the GitHub App installed", () => {
  it("is read with the deployment's token, or anonymously without one, and nothing is logged", async () => {
    plane.repositories.githubToken = "ours";
    expect(await discover()).toEqual(found);
    expect(new Set(listCredentials())).toEqual(new Set(["Bearer ours"]));
    github.seen.length = 0;
    onGithub("acme/shop");
    plane.repositories.githubToken = undefined;
    expect(await discover()).toEqual(found);
    expect(new Set(listCredentials())).toEqual(new Set([undefined]));
    expect(complaints()).toEqual([]);
  });

  it("returns 404 with the remedy, and is read as soon as the App is installed", async () => {
    const refused = await user.get("/agent?repo=acme/vault");
    expect(refused).toMatchObject({ status: 404, body: { error_code: "resource_not_found" } });
    expect(refused.body.detail).toMatch(
      /private.*install this deployment's GitHub App for acme\/vault and claim the installation, or set one$/,
    );
    plane.repositories.githubToken = "ours";
    const again = await user.get("/agent?repo=acme/vault&refresh=true");
    expect(again.body.detail).toMatch(
      /token may not read it: install .* App for acme\/vault and claim the installation, or set another$/,
    );
    app.install(["acme/vault"]);
    expect(names(await list("?repo=acme/vault&refresh=true"))).toEqual(found);
  });

  it("mentions no App if the deployment has none", async () => {
    plane.repositories.githubApp = undefined;
    const { body } = await user.get("/agent?repo=acme/vault");
    expect(body.detail).toMatch(/there is no token: set one$/);
  });
});

describe("a misconfigured GitHub App", () => {
  const other = (type: "pkcs1" | "pkcs8") =>
    generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ type, format: "pem" }).toString();
  const elliptic = () =>
    generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" }).toString();

  beforeEach(() => {
    app.install(["acme/shop"]);
    plane.repositories.githubToken = "ours";
  });

  it.each([
    ["its key is missing", () => undefined, "its private key is not in its parameter"],
    ["its key is malformed", () => "hunter2", "its parameter does not hold a private key in PEM"],
    ["its key has another type", elliptic, "its private key is not an RSA key"],
    [
      "its key is another App's",
      () => other("pkcs8"),
      "GitHub responds with 401: A JSON web token could not be decoded",
    ],
  ])("is logged if %s, and the token is used", async (_, made, reason) => {
    key = made();
    expect(await discover()).toEqual(found);
    expect(new Set(listCredentials())).toEqual(new Set(["Bearer ours"]));
    expect(complaints().map((line) => JSON.parse(line))).toMatchObject([
      { level: "error", app: app.id, repository: "acme/shop", reason },
    ]);
  });

  it.each([
    ["knows no such App", { id: "271828" }, {}, "404: Integration not found"],
    ["has suspended it", {}, { suspended: true }, "403: This installation has been suspended"],
    ["does not let it read files", {}, { permissions: { metadata: "read" } }, "422: The permissions requested"],
  ])("is logged if GitHub %s, and the token is used", async (_, settings, installation, reason) => {
    app.uninstall();
    app.install(["acme/shop"], installation);
    const now = () => plane.clock.now;
    const ownerOf = findOwner(plane.table, plane.team);
    const made = { id: app.id, privateKey: async () => key, ownerOf, ...settings };
    plane.repositories.githubApp = githubApp(made, { apiUrl: github.url, fetch, now });
    expect(await discover()).toEqual(found);
    expect(complaints()).toHaveLength(1);
    expect(complaints()[0]).toContain(`GitHub responds with ${reason}`);
  });

  it("is not bypassed when GitHub limits requests", async () => {
    github.instead = { status: 429, headers: { "retry-after": "30" }, body: { message: "rate limit" } };
    const response = await user.get("/agent?repo=acme/shop");
    expect(response.status).toBe(503);
    expect(response.headers["retry-after"]).toBe("30");
    expect(github.seen).toHaveLength(1);
    expect(complaints()).toEqual([]);
  });
});
