import { afterEach, describe, expect, it, vi } from "vitest";
import {
  type Environment,
  getSetupOutcome,
  parseEnvironment,
  parseLastRun,
  toEnvironmentItem,
  toLinkedItem,
} from "#shared/environments/environment.ts";
import { toTrialRequest } from "#shared/environments/environment-trial.ts";
import { refuseBlockedRepositories, refuseBlockedServers } from "#shared/environments/outward-urls.ts";
import { changedRepositories, githubPart, parseGithubUrl, refuseDisks } from "#shared/environments/repositories.ts";
import { copySetup, type EnvironmentReader, mayUse, withEnvironment } from "#shared/environments/run-environment.ts";
import type { Principal } from "#shared/principals/principal.ts";
import { parseRunHead, type RunHead } from "#shared/records/run-head.ts";
import { keys } from "#shared/table/keys.ts";
import { createTestControlPlane } from "../../support/control-plane.ts";
import { createRun } from "../../support/execution.ts";

const ADA = { type: "user", uid: "ada", display_name: "Ada", email: "ada@runyard.test" } as const;
const environment = (changes: Partial<Environment> = {}): Environment => ({
  uid: "e1",
  owner: { type: "Team", uid: "alpha" },
  name: "Shop",
  created_at: 0,
  updated_at: 0,
  creator: ADA,
  last_editor: ADA,
  guests: new Set(),
  ...changes,
});
const personal = environment({ owner: { type: "User", uid: "ada" } });
const shared = environment({ owner: { type: "User", uid: "zoe" }, guests: new Set(["ada"]) });

/** A person who is in these teams. */
const person = (uid: string, ...teams: string[]): Principal => ({
  kind: "personal",
  user: { uid, displayName: uid, email: `${uid}@runyard.test` },
  teams: teams.map((team) => ({ uid: team, role: "member" })),
  activeTeam: undefined,
  teamItem: undefined,
  credential: { kind: "key", hash: "", usedAt: undefined, expiresAt: undefined },
});

describe("mayUse", () => {
  const alpha = { type: "Team", uid: "alpha" } as const;
  const beta = { type: "Team", uid: "beta" } as const;
  const user = { type: "User", uid: "ada" } as const;
  const nobody = { user: undefined };
  const cases: readonly [string, EnvironmentReader, Environment, boolean][] = [
    ["a run of the team that owns it", { owner: alpha, ...nobody }, environment(), true],
    ["a run of another team", { owner: beta, ...nobody }, environment(), false],
    [
      "a run of a person with the team's uid",
      { owner: { type: "User", uid: "alpha" }, ...nobody },
      environment(),
      false,
    ],
    ["a child of a run in it", { owner: beta, ...nobody, inherited: "e1" }, environment(), true],
    ["a child of a run in another environment", { owner: beta, ...nobody, inherited: "e2" }, environment(), false],
    [
      "a personal run of a member",
      { owner: user, user: "ada", principal: person("ada", "alpha") },
      environment(),
      true,
    ],
    ["a personal run of another person", { owner: user, user: "ada", principal: person("ada") }, environment(), false],
    ["a team's run of its owner", { owner: alpha, user: "ada" }, personal, true],
    ["a team's run of another person", { owner: alpha, user: "bo" }, personal, false],
    ["a team's run of no person", { owner: alpha, ...nobody }, personal, false],
    [
      "a team's run of a person whose uid is that of the owning team",
      { owner: beta, user: "alpha" },
      environment(),
      false,
    ],
    ["a run of a guest", { owner: beta, user: "ada" }, shared, true],
    ["a run of someone who is no guest", { owner: beta, user: "bo" }, shared, false],
  ];
  it.each(cases)("returns for %s", (_, reader, one, expected) => {
    expect(mayUse(reader, one)).toBe(expected);
  });
});

describe("withEnvironment", () => {
  const repositories = [{ url: "https://git.test/a" }];
  const own = [{ url: "https://git.test/own" }];
  it.each([
    ["adds both", {}, { repositories, worker_host: "rack" }, { repositories, worker_host: "rack" }],
    [
      "keeps those of the run",
      { repositories: own, worker_host: "lab" },
      {},
      { repositories: own, worker_host: "lab" },
    ],
    ["keeps its worker", { worker_host: "lab" }, {}, { repositories, worker_host: "lab" }],
    ["keeps its repositories", { repositories: own }, {}, { repositories: own, worker_host: "rack" }],
  ])("%s", (_, config, __, expected) => {
    const request = { prompt: "a", config: { name: "n", ...config } };
    const result = withEnvironment(request, environment({ repositories, worker_host: "rack" }));
    expect(result).toEqual({ prompt: "a", config: { name: "n", ...expected } });
  });

  it("returns the request itself where the environment adds nothing, or there is none", () => {
    const request = { config: { name: "n" } };
    expect(withEnvironment(request, environment())).toBe(request);
    expect(withEnvironment(request, undefined)).toBe(request);
    expect(withEnvironment({}, environment({ worker_host: "rack" }))).toEqual({ config: { worker_host: "rack" } });
  });
});

it("copySetup copies the commands, the image and the variables, as far as the environment has them", () => {
  expect(copySetup(undefined)).toEqual({});
  expect(copySetup(environment())).toEqual({});
  const setup = { setup_commands: ["make"], docker_image: "node:24", variables: { A: "b" } };
  expect(copySetup(environment({ ...setup, worker_host: "rack" }))).toEqual(setup);
});

it("toTrialRequest requests a run in the environment's scope that only sets it up", () => {
  expect(toTrialRequest(environment({ name: "x".repeat(400) }))).toEqual({
    title: `Set up ${"x".repeat(293)}`,
    prompt: "Set up the environment and do nothing else.\n\n```sh\ntrue\n```",
    config: { environment_id: "e1", model_id: "local/runbook" },
    team: true,
  });
  expect(toTrialRequest(personal).team).toBe(false);
});

describe("an environment", () => {
  it("is read with the people that it is shared with", () => {
    const { guests: _, ...stored } = environment({ description: "d", worker_host: "rack", link_hash: "h" });
    const item = { ...stored, pk: "p", sk: "s", v: 1, guests: 2, "guest:ada": 1, "guest:bo": 2, "xguest:zoe": 3 };
    expect(parseEnvironment(item)).toEqual({ ...stored, guests: new Set(["ada", "bo"]) });
  });

  it("has a latest run only after one was created in it", () => {
    const run = { run_id: "r", title: "t", created_at: 1 };
    expect(parseLastRun(undefined)).toBeUndefined();
    expect(parseLastRun({ pk: "p", sk: "s", v: 1 })).toBeUndefined();
    expect(parseLastRun({ pk: "p", sk: "s", v: 1, ...run })).toEqual(run);
    const outcome = { setup_failed: true, setup_at: 2 };
    expect(parseLastRun({ pk: "p", sk: "s", v: 1, ...run, ...outcome })).toEqual({ ...run, ...outcome });
  });

  it("is shown with the members that it has, and its latest run as it was recorded", () => {
    const profile = { type: "user", uid: "ada", display_name: "Ada", email: "ada@runyard.test" };
    const bare = {
      uid: "e1",
      config: { name: "Shop", github_repos: [], setup_commands: [] },
      last_updated: "1970-01-01T00:00:00.000Z",
      setup_failed: false,
      last_task_run_timestamp: null,
      scope: { type: "Team", uid: "alpha" },
      creator: profile,
      last_editor: profile,
    };
    expect(toEnvironmentItem(environment(), undefined, undefined)).toEqual(bare);
    const config = {
      description: "d",
      docker_image: "node:24",
      setup_commands: ["make"],
      variables: { A: "b" },
      worker_host: "rack",
    };
    const repositories = [{ url: "https://u:secret@github.com/acme/shop", ref: "main" }];
    const full = environment({ ...config, repositories, secrets: ["A", "B"], updated_at: 1_000 });
    expect(toEnvironmentItem(full, { run_id: "r", title: "t", created_at: 2_000 }, undefined)).toEqual({
      ...bare,
      config: {
        ...config,
        name: "Shop",
        github_repos: [{ owner: "acme", repo: "shop" }],
        repositories: [{ url: "https://***@github.com/acme/shop", ref: "main" }],
        secrets: [{ name: "A" }, { name: "B" }],
      },
      last_updated: "1970-01-01T00:00:01.000Z",
      last_task_run_timestamp: "1970-01-01T00:00:02.000Z",
    });
  });

  it("is shown by its link without its latest run and without email addresses", () => {
    const item = toEnvironmentItem(
      environment({ last_editor: { type: "user", uid: "bo" } }),
      { run_id: "r", title: "t", created_at: 0 },
      undefined,
    );
    const { last_task_run_timestamp: _, ...rest } = item;
    expect(toLinkedItem(item)).toStrictEqual({
      ...rest,
      creator: { uid: "ada", display_name: "Ada" },
      last_editor: { uid: "bo" },
    });
  });
});

describe("parseGithubUrl", () => {
  const repo = { owner: "acme", repo: "shop" };
  it.each([
    "https://github.com/acme/shop",
    "https://github.com/acme/shop.git",
    "https://github.com/acme/shop/",
    "https://www.github.com/acme/shop.git/",
    "https://user:token@github.com/acme/shop",
    "HTTPS://GITHUB.COM/acme/shop",
    "ssh://git@github.com/acme/shop.git",
    "ssh://git@github.com:22/acme/shop",
    "git@github.com:acme/shop.git",
  ])("recognizes %s", (url) => {
    expect(parseGithubUrl(url)).toEqual(repo);
  });

  it.each([
    "https://git.test/acme/shop",
    "https://github.com.evil.test/acme/shop",
    "https://evil.test/github.com/acme/shop",
    "https://github.com/acme",
    "https://github.com/acme/shop/tree/main",
    "https://a/b@github.com/acme/shop",
    "xhttps://github.com/acme/shop",
    "http://github.com/acme/shop",
    "git@github.com:acme",
  ])("returns nothing for %s", (url) => {
    expect(parseGithubUrl(url)).toBeUndefined();
  });

  it("keeps a name with a dot", () => {
    expect(parseGithubUrl("https://github.com/acme/shop.js.git")).toEqual({ owner: "acme", repo: "shop.js" });
  });
});

describe("changedRepositories", () => {
  const before = [
    { url: "https://github.com/acme/shop", ref: "main", path: "shop" },
    { url: "https://github.com/acme/web" },
    { url: "https://git.test/tools" },
  ];
  const shop = { owner: "ACME", repo: "shop" };

  it("keeps what the request leaves out, and replaces all by repositories", () => {
    expect(changedRepositories({}, before)).toBeUndefined();
    expect(changedRepositories({ repositories: null, github_repos: null }, before)).toBeUndefined();
    expect(changedRepositories({ repositories: [] }, before)).toEqual([]);
  });

  it("replaces those on GitHub by github_repos, and keeps branch and path of those that stay", () => {
    const api = { owner: "acme", repo: "api" };
    expect(changedRepositories({ github_repos: [api, shop] }, before)).toEqual([
      before[0],
      before[2],
      { url: "https://github.com/acme/api" },
    ]);
    expect(githubPart(before)).toEqual([
      { owner: "acme", repo: "shop" },
      { owner: "acme", repo: "web" },
    ]);
  });

  it("accepts ten repositories and refuses more", () => {
    const list = (count: number) => Array.from({ length: count }, (_, index) => ({ owner: "acme", repo: `r${index}` }));
    expect(changedRepositories({ github_repos: list(10) }, [])).toHaveLength(10);
    expect(() => changedRepositories({ github_repos: list(11) }, [])).toThrow(
      expect.objectContaining({ errors: [expect.objectContaining({ path: "github_repos" })] }),
    );
  });
});

describe("addresses that sandboxes may not use", () => {
  afterEach(() => vi.unstubAllEnvs());
  const refusal = (path: string) => expect.objectContaining({ errors: [expect.objectContaining({ path })] });
  const [good, metadata] = [{ url: "https://git.test/a" }, { url: "https://169.254.169.254/a" }];

  it("are refused in repositories, wherever they are in the list", () => {
    expect(() => refuseBlockedRepositories([metadata, good], "config.repositories")).toThrow(
      refusal("config.repositories[0].url"),
    );
    expect(() => refuseBlockedRepositories([good, metadata], "repositories")).toThrow(refusal("repositories[1].url"));
    for (const none of [[good], [], null, undefined]) {
      expect(() => refuseBlockedRepositories(none, "repositories")).not.toThrow();
    }
  });

  it("are refused in the repositories of an environment, with their place in the request", () => {
    vi.stubEnv("STAGE", "aws");
    for (const refused of [metadata, { url: "file:///srv/a" }]) {
      expect(() => changedRepositories({ repositories: [good, refused] }, [])).toThrow(refusal("repositories[1].url"));
    }
  });

  it("are refused in MCP servers", () => {
    expect(() => refuseBlockedServers({ a: good, b: metadata, c: { command: "x" } }, "mcp_servers")).toThrow(
      refusal("mcp_servers.b.url"),
    );
    for (const none of [{ a: good, c: { command: "x" } }, {}, null, undefined]) {
      expect(() => refuseBlockedServers(none, "mcp_servers")).not.toThrow();
    }
  });

  it("include disks on AWS, and there only", () => {
    const disk = { url: "file:///srv/a" };
    vi.stubEnv("STAGE", "aws");
    expect(() => refuseDisks([disk, good], "repositories")).toThrow(refusal("repositories[0].url"));
    expect(() => refuseDisks([good, disk], "repositories")).toThrow(refusal("repositories[1].url"));
    for (const none of [[good, { url: "https://git.test/file:" }], [], null, undefined]) {
      expect(() => refuseDisks(none, "repositories")).not.toThrow();
    }
    vi.stubEnv("STAGE", "local");
    expect(() => refuseDisks([disk], "repositories")).not.toThrow();
  });
});

describe("whether the setup of an environment has failed", () => {
  const last = { run_id: "r", title: "Build", created_at: 1 };
  const readHead = async (changes: object): Promise<RunHead> => {
    const plane = await createTestControlPlane();
    const item = await plane.table.get(keys.head(await createRun(plane)));
    return parseRunHead({ pk: "", sk: "", ...item, ...changes });
  };
  const ended = { state: "FAILED", started_at: 10, ended_at: 20, status_message: { message: "no" } };
  const failed = { ...ended, status_message: { message: "no", error_code: "environment_setup_failed" } };

  it("is the outcome of an ended run that was executed, unless it was cancelled or the service failed", async () => {
    expect(getSetupOutcome(await readHead(failed))).toEqual({ failed: true, at: 20 });
    expect(getSetupOutcome(await readHead(ended))).toEqual({ failed: false, at: 20 });
    for (const state of ["CANCELLED", "ERROR"]) {
      expect(getSetupOutcome(await readHead({ ...failed, state }))).toBeUndefined();
    }
    expect(getSetupOutcome(await readHead({}))).toBeUndefined();
    const { started_at: _, ...neverStarted } = failed;
    expect(getSetupOutcome(await readHead(neverStarted))).toBeUndefined();
  });

  it("is shown by the run that ended last", async () => {
    const [good, bad] = [await readHead(ended), await readHead(failed)];
    const show = (...[stored, head]: [object | undefined, RunHead | undefined]) =>
      toEnvironmentItem(environment(), stored && { ...last, ...stored }, head).setup_failed;
    expect(show(undefined, undefined)).toBe(false);
    expect(show({}, bad)).toBe(true);
    expect(show({ setup_failed: true, setup_at: 20 }, good)).toBe(false);
    expect(show({ setup_failed: true, setup_at: 21 }, good)).toBe(true);
    expect(show({ setup_failed: false, setup_at: 21 }, bad)).toBe(false);
    expect(show({ setup_failed: true, setup_at: 5 }, undefined)).toBe(true);
  });
});
