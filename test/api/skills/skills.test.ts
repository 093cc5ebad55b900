import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createClient } from "../../support/client.ts";
import { createRun } from "../../support/execution.ts";
import { createSkillControlPlane, ids, names, type SkillControlPlane, shop, skill } from "../../support/skills.ts";
import { storeEnvironmentRepositories } from "../../support/stored-repositories.ts";

const MINUTE = 60_000;
let plane: SkillControlPlane["plane"];
let github: SkillControlPlane["github"];
let user: SkillControlPlane["user"];
let bo: SkillControlPlane["bo"];
let onGithub: SkillControlPlane["onGithub"];
let environment: SkillControlPlane["environment"];
let list: SkillControlPlane["list"];
let paths: SkillControlPlane["paths"];
beforeEach(async () => {
  ({ plane, github, user: user, bo, onGithub, environment, list, paths } = await createSkillControlPlane());
});
afterEach(() => github[Symbol.asyncDispose]());

describe("GET /agent", () => {
  // @contract skills.list: GET /agent lists the skills of the caller's environments' repositories as agents with a name and variants.
  // @contract skills.variant: A variant has its id, description, base_prompt, source and environments.
  // @contract skills.sort: They are sorted by name, or by their last run.
  // @contract skills.places: A skill is a folder with a SKILL.md among the skills of the directories that agents use.
  it("lists the skills of the repositories of the caller's environments, by name", async () => {
    onGithub("acme/shop");
    const made = await environment("Shop", [{ url: "https://github.com/acme/shop.git" }]);
    const { body, headers } = await list();
    const environments = [{ uid: made.uid, name: "Shop" }];
    expect(body).toEqual({
      agents: [
        {
          name: "release",
          variants: [
            {
              id: "acme/shop:.claude/skills/release/SKILL.md",
              description: "Makes a release",
              base_prompt: "Tag it.",
              source: { owner: "acme", name: "shop", skill_path: ".claude/skills/release/SKILL.md" },
              environments,
              last_run_timestamp: null,
            },
          ],
        },
        {
          name: "review",
          variants: [
            {
              id: "acme/shop:.agents/skills/review/SKILL.md",
              description: "Does review",
              base_prompt: "Do review.",
              source: { owner: "acme", name: "shop", skill_path: ".agents/skills/review/SKILL.md" },
              environments,
              last_run_timestamp: null,
            },
          ],
        },
      ],
    });
    expect(headers["age"]).toBe("0");
    expect(github.seen[0]).toMatchObject({ path: "/repos/acme/shop/git/trees/HEAD?recursive=1", userAgent: "runyard" });
  });

  it("returns an empty list without requests if there are no environments", async () => {
    const { body, headers } = await list();
    expect(body).toEqual({ agents: [] });
    expect(headers["age"]).toBeUndefined();
    expect(github.seen).toEqual([]);
  });

  it("sorts the variants of a skill by id, capital letters first", async () => {
    const file = (name: string) => ({ files: { [`.agents/skills/${name}/SKILL.md`]: skill("review", "Reviews") } });
    onGithub("acme/shop", file("a"));
    onGithub("acme/zed", file("b"));
    onGithub("acme/api", file("c"));
    const urls = ["acme/shop", "Acme/zed", "acme/api"].map((name) => ({ url: `https://github.com/${name}` }));
    await environment(
      "All",
      urls.map((repository, index) => ({ ...repository, path: `${index}` })),
    );
    const [review] = (await list()).body.agents;
    expect(review.variants.map(({ id }: { id: string }) => id)).toEqual([
      "Acme/zed:.agents/skills/b/SKILL.md",
      "acme/api:.agents/skills/c/SKILL.md",
      "acme/shop:.agents/skills/a/SKILL.md",
    ]);
  });

  // @contract skills.list
  // @contract skills.variant
  it("groups skills of one name, and lists a repository of several environments once", async () => {
    onGithub("acme/shop");
    onGithub("acme/web", { files: { ".warp/skills/review/SKILL.md": skill("review", "Of the web") } });
    const one = await environment("One", [{ url: "https://github.com/acme/shop" }]);
    const two = await environment("Two", [
      { url: "git@github.com:Acme/Shop.git", path: "a" },
      { url: "https://github.com/acme/web", path: "b" },
    ]);
    const response = await list();
    expect(names(response)).toEqual(["release", "review"]);
    const [, review] = response.body.agents;
    expect(review.variants.map(({ id }: { id: string }) => id.toLowerCase())).toEqual([
      "acme/shop:.agents/skills/review/skill.md",
      "acme/web:.warp/skills/review/skill.md",
    ]);
    expect(review.variants[0].environments.map(({ uid }: { uid: string }) => uid).sort()).toEqual(
      [one.uid, two.uid].sort(),
    );
    expect(paths().filter((path) => path.includes("trees"))).toHaveLength(2);
  });

  // @contract skills.sees: They are from the repositories of the environments that the caller sees.
  it("includes the repositories of team, personal and shared environments only", async () => {
    onGithub("acme/shop");
    onGithub("acme/own", { files: { ".agents/skills/own/SKILL.md": skill("own") } });
    onGithub("beta/theirs", { files: { ".agents/skills/theirs/SKILL.md": skill("theirs") } });
    await environment("Shop", [{ url: "https://github.com/acme/shop" }]);
    await environment("Own", [{ url: "https://github.com/acme/own" }], user, { team: false });
    const theirs = await environment("Theirs", [{ url: "https://github.com/beta/theirs" }], bo);
    expect(names(await list())).toEqual(["own", "release", "review"]);
    expect(names(await list("", createClient(plane, (await plane.agent()).key)))).toEqual(["release", "review"]);
    expect(names(await list("", bo))).toEqual(["theirs"]);
    const { link } = (await bo.post(`/agent/environments/${theirs.uid}/share`, { link: true })).body;
    const token = new URL(link).searchParams.get("link") ?? "";
    expect(names(await list(`?link=${token}`))).toEqual(["own", "release", "review", "theirs"]);
    await bo.post(`/agent/environments/${theirs.uid}/share`, { user_uid: plane.user });
    expect(names(await list())).toEqual(["own", "release", "review", "theirs"]);
  });

  it("reads a repository at the refs of its environments, each skill once", async () => {
    onGithub("acme/shop", { ...shop, branches: { "feature/x": { ".agents/skills/next/SKILL.md": skill("next") } } });
    await environment("Next", [{ url: "https://github.com/acme/shop", ref: "feature/x" }]);
    expect(names(await list())).toEqual(["next"]);
    await environment("Shop", [{ url: "https://github.com/acme/shop" }]);
    expect(names(await list())).toEqual(["next", "release", "review"]);
    expect(paths()).toContain("/repos/acme/shop/git/trees/feature%2Fx?recursive=1");
  });

  it("lists executable files, but not links or directories with that name", async () => {
    const files = {
      ".agents/skills/run/SKILL.md": skill("run"),
      ".agents/skills/folder/SKILL.md/text": skill("folder"),
    };
    const links = { ".agents/skills/linked/SKILL.md": "../run/SKILL.md" };
    onGithub("acme/shop", { files, links, executables: [".agents/skills/run/SKILL.md"] });
    expect(names(await list("?repo=acme/shop&include_malformed_skills=true"))).toEqual(["run"]);
  });

  it("returns the age of the repository that was read first", async () => {
    onGithub("acme/shop");
    onGithub("acme/web", { files: { ".warp/skills/web/SKILL.md": skill("web") } });
    await environment("Shop", [{ url: "https://github.com/acme/shop" }]);
    await list();
    plane.clock.now += 5 * MINUTE;
    await environment("Web", [{ url: "https://github.com/acme/web" }]);
    expect((await list()).headers["age"]).toBe("300");
    expect((await list("?repo=acme/web")).headers["age"]).toBe("0");
  });

  // @contract skills.malformed: include_malformed_skills includes skills with an error, and describes it.
  it("excludes malformed skills, or lists them with errors on request", async () => {
    onGithub("acme/shop", {
      files: {
        ".agents/skills/good/SKILL.md": skill("good"),
        ".agents/skills/bare/SKILL.md": "Just text",
        ".agents/skills/broken/SKILL.md": "---\nname: [broken\ndescription: a\n---\n",
        ".agents/skills/nameless/SKILL.md": "---\ndescription: Something\n---\nHi",
        ".agents/skills/huge/SKILL.md": "x".repeat(262_145),
        ".agents/skills/binary/SKILL.md": Buffer.from([0xff, 0xfe]),
      },
    });
    await environment("Shop", [{ url: "https://github.com/acme/shop" }]);
    expect(names(await list())).toEqual(["good"]);
    expect(names(await list("?include_malformed_skills=false"))).toEqual(["good"]);
    const { body } = await list("?include_malformed_skills=true");
    const errors = Object.fromEntries(
      body.agents.map((agent: { name: string; variants: { error?: string }[] }) => [
        agent.name,
        agent.variants[0]?.error,
      ]),
    );
    expect(errors).toEqual({
      good: undefined,
      bare: expect.stringMatching(/^line 1: there is no front matter/),
      broken: expect.stringMatching(/^line [23]: the front matter is not YAML/),
      nameless: "line 1: name is missing",
      huge: "SKILL.md is larger than 262144 bytes",
      binary: "SKILL.md is not UTF-8",
    });
  });

  // @contract general.lists.skills
  it("returns the list page by page", async () => {
    const files = Object.fromEntries(
      ["c", "a", "B", "d"].map((name) => [`.agents/skills/${name}/SKILL.md`, skill(name)]),
    );
    onGithub("acme/shop", { files });
    await environment("Shop", [{ url: "https://github.com/acme/shop" }]);
    const first = await list("?limit=3");
    expect(names(first)).toEqual(["a", "B", "c"]);
    expect(first.body.page_info.has_next_page).toBe(true);
    const second = await list(`?limit=3&cursor=${first.body.page_info.next_cursor}`);
    expect(names(second)).toEqual(["d"]);
    expect(second.body.page_info).toEqual({ has_next_page: false });
    expect((await user.get(`/agent?sort_by=last_run&cursor=${first.body.page_info.next_cursor}`)).status).toBe(400);
  });

  // @contract skills.sort
  // @contract skills.last-run: last_run_timestamp is null, or the time when a run last began with the skill.
  it("returns when a skill last ran, for any form of its name, and sorts by that time", async () => {
    onGithub("acme/shop");
    await environment("Shop", [{ url: "https://github.com/acme/shop" }]);
    await createRun(plane, { prompt: "x", skill: "shop:review" });
    plane.clock.now += MINUTE;
    await createRun(plane, { prompt: "x", skill: "acme/shop:.agents/skills/review/SKILL.md" });
    const times = async (client = user) =>
      Object.fromEntries(
        (await list("?sort_by=last_run", client)).body.agents.map(
          (agent: { name: string; variants: { last_run_timestamp: string }[] }) => [
            agent.name,
            agent.variants[0]?.last_run_timestamp,
          ],
        ),
      );
    expect(Object.entries(await times())).toEqual([
      ["review", "2026-05-18T19:01:00.000Z"],
      ["release", null],
    ]);
    plane.clock.now += MINUTE;
    await createRun(plane, { prompt: "x", skill: "Acme/Shop:release", team: false });
    expect(Object.entries(await times())).toEqual([
      ["release", "2026-05-18T19:02:00.000Z"],
      ["review", "2026-05-18T19:01:00.000Z"],
    ]);
    // A personal run is visible only to its creator.
    expect(await times(createClient(plane, (await plane.person("Mia")).key))).toMatchObject({ release: null });
  });

  // @contract skills.repo
  // @contract skills.refresh
  it.each([
    ["refresh=yes", "refresh"],
    ["include_malformed_skills=1", "include_malformed_skills"],
    ["sort_by=age", "sort_by"],
    ["limit=0", "limit"],
    ["repo=shop", "repo"],
    ["repo=acme/shop/x", "repo"],
    ["repo=acme/..", "repo"],
    ["repo=ftp://git.test/a/b", "repo"],
    ["repo=https://user:pass@git.test/a/b", "repo"],
    ["repo=a/b&repo=c/d", "repo"],
  ])("returns 400 naming the parameter for ?%s", async (query, path) => {
    const response = await user.get(`/agent?${query}`);
    expect(response).toMatchObject({ status: 400, body: { error_code: "invalid_request", errors: [{ path }] } });
    expect(github.seen).toEqual([]);
  });
});

describe("GET /agent?repo=", () => {
  // @contract skills.repo: repo names one repository; a malformed one is 400.
  it("lists one repository, in an environment or not", async () => {
    onGithub("acme/shop");
    onGithub("acme/web", { files: { ".github/skills/deploy/SKILL.md": skill("deploy") } });
    const made = await environment("Shop", [{ url: "https://github.com/acme/shop" }]);
    const own = await list("?repo=ACME/shop");
    expect(own.body.agents[0].variants[0].environments).toEqual([{ uid: made.uid, name: "Shop" }]);
    expect(ids(own)).toEqual(["acme/shop:.claude/skills/release/SKILL.md", "acme/shop:.agents/skills/review/SKILL.md"]);
    const other = await list("?repo=acme/web");
    expect(other.body.agents[0].variants[0]).toMatchObject({
      id: "acme/web:.github/skills/deploy/SKILL.md",
      environments: [],
    });
    expect(ids(await list(`?repo=${encodeURIComponent("https://github.com/acme/web.git")}`))).toEqual(ids(other));
  });

  it("returns 404 for a repository that GitHub does not show, and caches that for a minute", async () => {
    const missing = await user.get("/agent?repo=acme/none");
    expect(missing).toMatchObject({ status: 404, body: { error_code: "resource_not_found" } });
    expect(missing.body.detail).toMatch(/^repo: GitHub shows no acme\/none/);
    expect((await user.get("/agent?repo=acme/none")).status).toBe(404);
    expect(github.seen).toHaveLength(1);
    onGithub("acme/none");
    plane.clock.now += MINUTE;
    expect((await user.get("/agent?repo=acme/none")).status).toBe(200);
  });

  it("lists the readable skills of a repository for which an environment names a missing ref", async () => {
    onGithub("acme/shop");
    const made = await environment("Gone", [{ url: "https://github.com/acme/shop", ref: "gone" }]);
    await environment("Shop", [{ url: "https://github.com/acme/shop" }]);
    const response = await list("?repo=acme/shop");
    expect(names(response)).toEqual(["release", "review"]);
    expect(response.body.unavailable).toMatchObject([
      { owner: "acme", name: "shop", environments: [{ uid: made.uid, name: "Gone" }] },
    ]);
  });

  it("returns 403 external_authentication_required if the token is not accepted", async () => {
    onGithub("acme/shop");
    plane.repositories.githubToken = "expired";
    const response = await user.get("/agent?repo=acme/shop");
    expect(response).toMatchObject({
      status: 403,
      body: { error_code: "external_authentication_required", retryable: false },
    });
    expect(response.body.detail).toContain("Bad credentials");
    expect(response.body.detail).not.toContain("expired");
  });

  it("returns 403 external_authentication_required if GitHub refuses the repository to the token", async () => {
    const message =
      "Resource protected by organization SAML enforcement. You must grant your token access to this organization.";
    github.instead = { status: 403, body: { message, documentation_url: "https://docs.github.com/articles" } };
    const response = await user.get("/agent?repo=acme/shop");
    expect(response).toMatchObject({ status: 403, body: { error_code: "external_authentication_required" } });
    expect(response.body.detail).toContain("SAML");
  });

  it.each([
    ["5xx", { status: 502, body: "<html>" }],
    ["an unexpected response", { status: 200, body: { message: "hello" } }],
    ["a response that is too large", { status: 200, body: "x".repeat(9 * 1024 * 1024) }],
    ["a redirect to another host", { status: 302, headers: { location: "https://elsewhere.test/" } }],
  ])("returns its own error when GitHub sends %s", async (_, instead) => {
    github.instead = instead;
    const response = await user.get("/agent?repo=acme/shop");
    expect([404, 503]).toContain(response.status);
    expect(JSON.stringify(response.body)).not.toContain("<html>");
  });

  // @contract errors.retry-after.503: A 503 has Retry-After in seconds.
  it("returns 503 with Retry-After when GitHub cannot be reached", async () => {
    plane.repositories.githubUrl = "http://127.0.0.1:1";
    const response = await user.get("/agent?repo=acme/shop");
    expect(response).toMatchObject({ status: 503, body: { error_code: "resource_unavailable", retryable: true } });
    expect(response.body.title).toBe("The request cannot be served for now");
    expect(response.headers["retry-after"]).toBe("60");
  });

  it("follows a renamed repository, and treats one without a commit as empty", async () => {
    onGithub("acme/old", { files: {}, movedTo: "acme/shop" });
    onGithub("acme/shop");
    onGithub("acme/new", { files: {}, empty: true });
    expect(names(await list("?repo=acme/old"))).toEqual(["release", "review"]);
    expect((await list("?repo=acme/new")).body).toEqual({ agents: [] });
  });

  it("sends the deployment's token, or the credential in the repository's URL, and separates their results", async () => {
    onGithub("acme/secret", { ...shop, tokens: ["theirs"] });
    onGithub("acme/shop");
    github.goodTokens.add("ours").add("theirs");
    plane.repositories.githubToken = "ours";
    const { uid } = await environment("Secret", []);
    await storeEnvironmentRepositories(plane, uid, [{ url: "https://x-access-token:theirs@github.com/acme/secret" }]);
    expect(names(await list())).toEqual(["release", "review"]);
    expect(new Set(github.seen.map(({ authorization }) => authorization))).toEqual(new Set(["Bearer theirs"]));
    expect((await bo.get("/agent?repo=acme/secret")).status).toBe(404);
    expect(github.seen.at(-1)?.authorization).toBe("Bearer ours");
  });
});

describe("a repository that was discovered before", () => {
  beforeEach(async () => {
    onGithub("acme/shop", { ...shop });
    await environment("Shop", [{ url: "https://github.com/acme/shop" }]);
    await list();
    github.seen.length = 0;
  });

  it("is not requested again within ten minutes, and the response has its age", async () => {
    plane.clock.now += 9 * MINUTE;
    expect((await list()).headers["age"]).toBe("540");
    expect(github.seen).toEqual([]);
  });

  it("is requested again after that with its ETag, which costs no rate limit if unchanged", async () => {
    plane.clock.now += 10 * MINUTE;
    github.remaining = 1;
    const { headers, body } = await list();
    expect(headers["age"]).toBe("0");
    expect(body.agents).toHaveLength(2);
    expect(github.seen).toMatchObject([{ status: 304, ifNoneMatch: expect.stringMatching(/^W\//) }]);
    expect(github.remaining).toBe(1);
  });

  // @contract skills.refresh: refresh=true discovers again immediately.
  it("is requested immediately with refresh=true, and only changes are fetched", async () => {
    const files = { ...shop.files, ".agents/skills/review/SKILL.md": skill("review", "Better") };
    onGithub("acme/shop", { ...shop, files });
    plane.clock.now += 2000;
    expect(JSON.stringify((await list()).body)).not.toContain("Better");
    const { body } = await list("?refresh=true");
    expect(body.agents[1].variants[0].description).toBe("Better");
    expect(paths().map((path) => path.split("/")[5])).toEqual(["trees", "blobs"]);
  });

  it("is returned from the cache with its age while GitHub's rate limit is reached, without requests", async () => {
    plane.clock.now += 20 * MINUTE;
    github.remaining = 0;
    github.resetAt = plane.clock.now / 1000 + 1800;
    const first = await list();
    expect(first.headers["age"]).toBe("1200");
    expect(names(first)).toEqual(["release", "review"]);
    expect(first.body.unavailable).toMatchObject([{ owner: "acme", name: "shop" }]);
    expect(first.body.unavailable[0].error).toMatch(/rate limit.*as of 2026-05-18T19:00:00.000Z/);
    await list("?refresh=true");
    expect(github.seen).toHaveLength(1);
    github.remaining = undefined;
    plane.clock.now += 30 * MINUTE;
    expect((await list()).body).not.toHaveProperty("unavailable");
  });

  it("is removed from the cache after 25 days in which it could not be read", async () => {
    github.repositories.clear();
    plane.clock.now += 25 * 24 * 60 * MINUTE - 1;
    expect(names(await list())).toEqual(["release", "review"]);
    plane.clock.now += 1;
    expect((await list()).body.agents).toEqual([]);
  });

  it("is returned from the cache with a note after its removal", async () => {
    github.repositories.clear();
    plane.clock.now += MINUTE;
    const { body } = await list("?refresh=true");
    expect(body.agents).toHaveLength(2);
    expect(body.unavailable[0].error).toMatch(/^GitHub shows no acme\/shop/);
  });
});
