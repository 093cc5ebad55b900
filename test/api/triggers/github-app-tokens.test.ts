import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createInstallationTokens, type InstallationTokens } from "#shared/github/installation-tokens.ts";
import { GithubAppStandIn } from "../../support/github-app-stand-in.ts";
import { createSkillControlPlane, type SkillControlPlane, shop } from "../../support/skills.ts";

const MINUTE = 60_000;
const REQUEST = { installation: 2_000_001, repository: "acme/shop", permissions: { contents: "write" } };

let plane: SkillControlPlane["plane"];
let github: SkillControlPlane["github"];
let app: GithubAppStandIn;
let key: string | undefined;
let tokens: InstallationTokens;
beforeEach(async () => {
  let onGithub: SkillControlPlane["onGithub"];
  ({ plane, github, onGithub } = await createSkillControlPlane());
  const now = () => plane.clock.now;
  app = new GithubAppStandIn(now);
  github.app = app;
  key = app.privateKey;
  for (const name of ["acme/shop", "acme/vault"]) onGithub(name, { ...shop, tokens: [] });
  app.install(["acme/shop", "acme/vault"], { permissions: { contents: "write", issues: "write" } });
  tokens = createInstallationTokens({ id: app.id, privateKey: async () => key }, { apiUrl: github.url, fetch, now });
});
afterEach(async () => await github[Symbol.asyncDispose]());

describe("a token of an installation", () => {
  it("opens one repository with the permissions of the request", async () => {
    const token = await tokens(REQUEST);
    expect(app.issued).toMatchObject([{ token, repositories: ["acme/shop"], permissions: { contents: "write" } }]);
    expect(Object.keys(app.issued[0]?.permissions ?? {})).toEqual(["contents"]);
  });

  it("is used again for the same request only", async () => {
    const token = await tokens(REQUEST);
    expect(await tokens(REQUEST)).toBe(token);
    const others = [
      await tokens({ ...REQUEST, repository: "acme/vault" }),
      await tokens({ ...REQUEST, permissions: { issues: "write" } }),
    ];
    expect(new Set([token, ...others]).size).toBe(3);
  });

  it("is replaced five minutes before it expires", async () => {
    const token = await tokens(REQUEST);
    plane.clock.now += 54 * MINUTE;
    expect(await tokens(REQUEST)).toBe(token);
    plane.clock.now += MINUTE;
    expect(await tokens(REQUEST)).not.toBe(token);
  });

  it("is replaced where it was issued too early, and where GitHub has refused it", async () => {
    const first = await tokens(REQUEST);
    expect(await tokens(REQUEST, { issuedFrom: plane.clock.now })).toBe(first);
    const second = await tokens(REQUEST, { issuedFrom: plane.clock.now + 1, refused: "another" });
    expect(second).not.toBe(first);
    const third = await tokens(REQUEST, { refused: second });
    expect(third).not.toBe(second);
    expect(await tokens(REQUEST, { refused: second })).toBe(third);
  });

  it("is not issued where the App has no private key, or no such installation", async () => {
    await expect(tokens({ ...REQUEST, installation: 99 })).rejects.toThrow("GitHub shows no");
    key = undefined;
    await expect(tokens(REQUEST)).rejects.toThrow("the GitHub App: its private key is not in its parameter");
  });
});
