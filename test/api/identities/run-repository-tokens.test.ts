import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createRun as createRunEndpoint } from "#functions/runs/create-run.ts";
import { findOwner } from "#shared/github/installation-store.ts";
import { githubApp } from "#shared/skills/github-app.ts";
import { claimInstallation } from "../../support/claim-installation.ts";
import { createHarness, createRun, deliver, nextExecution, startedRun } from "../../support/execution.ts";
import { GithubAppStandIn } from "../../support/github-app-stand-in.ts";
import { createSkillControlPlane, type SkillControlPlane, shop } from "../../support/skills.ts";

let plane: SkillControlPlane["plane"];
let github: SkillControlPlane["github"];
let app: GithubAppStandIn;

beforeEach(async () => {
  let onGithub: SkillControlPlane["onGithub"];
  ({ plane, github, onGithub } = await createSkillControlPlane());
  const now = () => plane.clock.now;
  app = new GithubAppStandIn(now);
  github.app = app;
  const settings = { id: app.id, privateKey: async () => app.privateKey, ownerOf: findOwner(plane.table, plane.team) };
  plane.repositories.githubApp = githubApp(settings, { apiUrl: github.url, fetch, now });
  onGithub("acme/shop", { ...shop, tokens: [] });
  onGithub("acme/vault", { ...shop, tokens: [] });
});
afterEach(async () => {
  vi.mocked(process.stdout.write).mockReturnValue(true);
  await github[Symbol.asyncDispose]();
});

const SHOP = "https://github.com/acme/shop";
const VAULT = "https://github.com/acme/vault.git";
const of = (...repositories: object[]) => ({ prompt: "hello", config: { repositories } });
interface Token {
  readonly url: string;
  readonly token: string;
  readonly expires_at: string;
}
async function readTokens(harness: Awaited<ReturnType<typeof startedRun>>): Promise<readonly Token[] | undefined> {
  const { status, body } = await harness.resolve();
  expect(status).toBe(200);
  return body.context.repository_tokens;
}

describe("the tokens of a run's repositories", () => {
  it("are created for its execution: for one repository each, read-only, for an hour", async () => {
    app.install(["acme/shop", "acme/vault"], { permissions: { contents: "read", metadata: "read", issues: "write" } });
    const tokens = await readTokens(await startedRun(plane, of({ url: SHOP }, { url: VAULT, path: "v" })));
    expect(app.issued.map(({ repositories, permissions }) => ({ repositories, permissions })).sort(byName)).toEqual([
      { repositories: ["acme/shop"], permissions: { contents: "read" } },
      { repositories: ["acme/vault"], permissions: { contents: "read" } },
    ]);
    expect(tokens?.map(({ url }) => url)).toEqual([SHOP, VAULT]);
    const hour = plane.clock.now + 3_600_000;
    expect(tokens?.map(({ token, expires_at }) => [app.isGood(token), Date.parse(expires_at) <= hour])).toEqual([
      [true, true],
      [true, true],
    ]);
  });

  it("are never shared with another run, and are new for each execution", async () => {
    app.install(["acme/shop"]);
    const first = await startedRun(plane, of({ url: SHOP }));
    const other = await startedRun(plane, of({ url: SHOP }));
    const [ones, others] = [await readTokens(first), await readTokens(other)];
    await first.shutDown({ error: { category: "test", message: "gone" } });
    const again = await readTokens(await nextExecution(plane));
    expect(new Set([ones, others, again].map((tokens) => tokens?.[0]?.token)).size).toBe(3);
  });

  it("are not created if the App is not installed, for other hosts and schemes, or if the repository names a secret", async () => {
    app.install(["acme/shop"]);
    const none = of(
      { url: VAULT },
      { url: "https://gitlab.com/acme/shop", path: "a" },
      { url: "git@github.com:acme/shop", path: "b" },
      { url: SHOP, path: "d", token_secret: "SHOP_TOKEN" },
    );
    expect(await readTokens(await startedRun(plane, none))).toBeUndefined();
    expect(app.issued).toEqual([]);
  });

  it("are not created for another team, or for a person outside of the installation's team", async () => {
    app.install(["acme/shop"]);
    const { otherKey, otherTeam, otherUser } = plane;
    const body = of({ url: SHOP });
    const personal = { ...body, team: false };
    expect(await readTokens(await startedRun(plane, body, otherKey))).toBeUndefined();
    await claimInstallation(plane, otherTeam);
    expect(await readTokens(await startedRun(plane, body))).toBeUndefined();
    expect(app.issued).toEqual([]);
    expect(await readTokens(await startedRun(plane, body, otherKey))).toMatchObject([{ url: SHOP }]);
    expect(await readTokens(await startedRun(plane, personal, otherKey))).toMatchObject([{ url: SHOP }]);
    await plane.removeMember(otherUser, otherTeam);
    expect(await readTokens(await startedRun(plane, personal, otherKey))).toBeUndefined();
  });

  it("are omitted if GitHub does not respond, because the repository may be public", async () => {
    app.install(["acme/shop"]);
    await github[Symbol.asyncDispose]();
    expect(await readTokens(await startedRun(plane, of({ url: SHOP })))).toBeUndefined();
  });

  it("are not returned to a caller who executes the run", async () => {
    app.install(["acme/shop"]);
    const { body } = await plane.call(createRunEndpoint, {
      body: { ...of({ url: SHOP }), execution_location: "LOCAL" },
    });
    const local = createHarness(plane, { ...envelope, run_id: body.run_id, key: body.run_key });
    expect(await readTokens(local)).toBeUndefined();
    expect(app.issued).toEqual([]);
  });

  it("are in no other response, no item of the table and no log line", async () => {
    const logged: string[] = [];
    vi.mocked(process.stdout.write).mockImplementation((line) => logged.push(String(line)) > 0);
    app.install(["acme/shop"]);
    const harness = await startedRun(plane, of({ url: SHOP }));
    const [token] = (await readTokens(harness)) ?? [];
    await harness.finish();
    await deliver(plane);
    expect(token?.token).toMatch(/^ghs_/);
    expect(JSON.stringify(plane.table.all()) + logged.join("")).not.toContain(token?.token);
  });

  it("are for repositories of the run's configuration only: a prompt request cannot name others", async () => {
    app.install(["acme/shop", "acme/vault"]);
    const harness = await startedRun(plane, of({ url: SHOP }));
    await harness.support("resolve-prompt", { repositories: [{ url: VAULT }], config: of({ url: VAULT }).config });
    expect(app.issued.map(({ repositories }) => repositories)).toEqual([["acme/shop"]]);
  });

  it("are not created for a run without repositories", async () => {
    await createRun(plane);
    expect(github.seen).toEqual([]);
  });
});

const envelope = { version: 1, base_url: "", model_url: "", run_id: "", execution_id: "", key: "" } as const;
const byName = (a: { repositories: readonly string[] }, b: { repositories: readonly string[] }) =>
  String(a.repositories) < String(b.repositories) ? -1 : 1;
