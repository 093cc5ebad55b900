import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSkillControlPlane, ids, names, type SkillControlPlane, shop, skill } from "../../support/skills.ts";

const MINUTE = 60_000;
let plane: SkillControlPlane["plane"];
let github: SkillControlPlane["github"];
let user: SkillControlPlane["user"];
let onGithub: SkillControlPlane["onGithub"];
let environment: SkillControlPlane["environment"];
let list: SkillControlPlane["list"];
let paths: SkillControlPlane["paths"];
beforeEach(async () => {
  ({ plane, github, user: user, onGithub, environment, list, paths } = await createSkillControlPlane());
});
afterEach(() => github[Symbol.asyncDispose]());

describe("GitHub's rate limit", () => {
  it.each([
    ["the hourly one", { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1779132600" }, 403, "1800"],
    ["the secondary one", { "retry-after": "90", "x-ratelimit-remaining": "12" }, 403, "90"],
    ["429", { "retry-after": "7" }, 429, "7"],
    ["one without an end", {}, 429, "60"],
    ["one that ends in a year", { "retry-after": "31536000" }, 429, "3600"],
  ])("returns 503 with Retry-After for a repository that was never read: %s", async (_, headers, status, wait) => {
    github.instead = { status, headers, body: { message: "You have exceeded a secondary rate limit." } };
    const response = await user.get("/agent?repo=acme/shop");
    expect(response).toMatchObject({ status: 503, body: { error_code: "resource_unavailable", retryable: true } });
    expect(response.headers["retry-after"]).toBe(wait);
  });

  it("in the middle of a repository postpones the rest, and keeps what was read", async () => {
    const files = Object.fromEntries(
      Array.from({ length: 12 }, (_, index) => [`.agents/skills/s${index}/SKILL.md`, skill(`s${index}`)]),
    );
    onGithub("acme/shop", { files });
    await environment("Shop", [{ url: "https://github.com/acme/shop" }]);
    github.remaining = 7;
    github.resetAt = plane.clock.now / 1000 + 600;
    const first = await list();
    expect(names(first)).toHaveLength(6);
    expect(first.body.unavailable).toHaveLength(1);
    plane.clock.now += 10 * MINUTE;
    github.remaining = undefined;
    github.seen.length = 0;
    const second = await list();
    expect(names(second)).toHaveLength(12);
    expect(second.body).not.toHaveProperty("unavailable");
    expect(paths().filter((path) => path.includes("/blobs/"))).toHaveLength(6);
  });
});

describe("a repository with more files than GitHub lists at once", () => {
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`a${index}.txt`, ""]));

  it("is read through the trees of its skill folders", async () => {
    onGithub("acme/shop", { files: { ...many, ...shop.files }, links: shop.links ?? {}, mostEntries: 20 });
    expect(names(await list("?repo=acme/shop"))).toEqual(["release", "review"]);
    expect(paths().filter((path) => path.includes("/trees/")).length).toBeLessThanOrEqual(2 + 2 * 3);
  });

  it("is read skill by skill if even a skill folder is too large", async () => {
    const skills = Object.fromEntries(["one", "two"].map((name) => [`.agents/skills/${name}/SKILL.md`, skill(name)]));
    const data = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`.agents/skills/one/data/${index}`, ""]));
    onGithub("acme/shop", { files: { ...many, ...skills, ...data }, mostEntries: 20 });
    expect(names(await list("?repo=acme/shop"))).toEqual(["one", "two"]);
  });
});

describe("limits of discovery", () => {
  it("allow 200 skills per repository, and report the number of omitted ones", async () => {
    const files = Object.fromEntries(
      Array.from({ length: 203 }, (_, index) => [`.agents/skills/s${index}/SKILL.md`, skill(`s${index}`)]),
    );
    onGithub("acme/shop", { files });
    const { body } = await list("?repo=acme/shop");
    expect(body.agents).toHaveLength(200);
    expect(body.unavailable[0].error).toBe("it has 3 skills beyond the 200 that are listed");
  });

  it("allow 2 MiB of skills per repository, stored in the bucket, and 4 MiB per response", async () => {
    const noise = (seed: number) =>
      Array.from({ length: 30_000 }, (_, at) =>
        String.fromCharCode(0x4e00 + ((at * 7919 + seed * 104_729) % 20_000)),
      ).join("");
    const files = Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => [
        `.agents/skills/s${index}/SKILL.md`,
        `${skill("same", "One of many")}${noise(index).slice(0, 20_000)}`,
      ]),
    );
    onGithub("acme/shop", { files });
    const response = await list("?repo=acme/shop&include_malformed_skills=true");
    expect(Buffer.byteLength(JSON.stringify(response.body))).toBeLessThan(4 * 1024 * 1024);
    const errors = response.body.agents.flatMap((agent: { variants: { error?: string }[] }) =>
      agent.variants.flatMap(({ error }) => error ?? []),
    );
    expect(errors.length).toBeGreaterThan(0);
    expect(errors[0]).toMatch(/left out: the skills before it have 2097152 bytes/);
    expect([...plane.files.files.keys()].filter((file) => file.startsWith("skills/"))).toHaveLength(1);
    expect(ids(await list("?repo=acme/shop"))).toHaveLength(60 - errors.length);
  });

  it("return 400 naming repo if the environments have more than 100 repositories", async () => {
    for (let made = 0; made < 11; made++) {
      if (made === 10) expect((await user.get("/agent")).status, "100 repositories").toBe(200);
      const repositories = Array.from({ length: 10 }, (_, index) => ({ url: `https://git.test/a/${made}-${index}` }));
      await environment(`E${made}`, repositories);
    }
    expect(await user.get("/agent")).toMatchObject({ status: 400, body: { errors: [{ path: "repo" }] } });
    expect((await user.get("/agent?repo=a/3-4")).status).toBe(503);
  });
});

describe("a repository outside GitHub", () => {
  const url = "https://git.test/tools/kit.git";
  const sha = "a".repeat(40);

  it("is read by a sandbox, at its ref", async () => {
    const requests: unknown[] = [];
    plane.repositories.scan = async (request) => {
      requests.push(request);
      return {
        outcome: "found",
        files: [{ path: ".agents/skills/fix/SKILL.md", sha, text: skill("fix") }],
        left_out: 0,
      };
    };
    await environment("Tools", [{ url, ref: "main" }]);
    expect(ids(await list())).toEqual(["tools/kit:.agents/skills/fix/SKILL.md"]);
    expect(requests).toEqual([{ v: 1, kind: "scan", url, ref: "main", time_limit_ms: 15_000 }]);
    await list();
    expect(requests).toHaveLength(1);
    expect(github.seen).toEqual([]);
  });

  it("does not affect other repositories if the sandbox has no git", async () => {
    onGithub("acme/shop");
    plane.repositories.scan = async () => ({ outcome: "failed", reason: "no_git", message: "this sandbox has no git" });
    const made = await environment("Both", [{ url: "https://github.com/acme/shop" }, { url }]);
    const response = await list();
    expect(names(response)).toEqual(["release", "review"]);
    expect(response.headers["age"]).toBe("0");
    expect(response.body.unavailable).toEqual([
      {
        owner: "tools",
        name: "kit",
        environments: [{ uid: made.uid, name: "Both" }],
        error: "this deployment's sandboxes have no git, which is needed to read repositories outside GitHub",
      },
    ]);
    expect((await user.get("/agent?repo=tools/kit")).status).toBe(503);
  });

  it.each([
    ["an invalid response", "root:x:0:0"],
    ["too many files", { outcome: "found", files: Array(300).fill({ path: "a", sha }), left_out: 0 }],
    [
      "a text that is too large",
      { outcome: "found", files: [{ path: "a", sha, text: "x".repeat(262_145) }], left_out: 0 },
    ],
  ])("is unavailable if the sandbox returns %s", async (_, response) => {
    plane.repositories.scan = async () => response;
    expect((await user.get(`/agent?repo=${encodeURIComponent(url)}`)).status).toBe(503);
  });

  it("is unavailable if the sandbox fails, and returns 404 if git cannot read it", async () => {
    const repo = `/agent?repo=${encodeURIComponent(url)}&refresh=true`;
    expect((await user.get(repo)).status).toBe(503);
    plane.repositories.scan = async () => ({ outcome: "failed", reason: "unreadable", message: "fatal: not found" });
    const response = await user.get(repo);
    expect(response.status).toBe(404);
    expect(response.body.detail).toBe("repo: fatal: not found");
  });
});
