import { afterAll, beforeAll, expect, test } from "vitest";
import { Repository } from "../harness/support/repository.ts";
import { client } from "../support/api-client.ts";
import { GithubStandIn } from "../support/github-stand-in.ts";
import { startService, type TestService } from "../support/service.ts";

let github: GithubStandIn;
let service: TestService;

beforeAll(async () => {
  github = await GithubStandIn.start();
  service = await startService({ environment: { RUNYARD_GITHUB_API_URL: github.url } });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await github[Symbol.asyncDispose]();
});

const skill = (name: string, body: string) => `---\nname: ${name}\ndescription: Does ${name}\n---\n\n${body}\n`;

test("skills are discovered on GitHub and, by a sandbox, in any git repository, and a run starts from one of them", async () => {
  using tools = new Repository("tools", { ".claude/skills/greet/SKILL.md": skill("greet", "```sh\necho hello\n```") });
  github.repositories.set("acme/shop", { files: { ".agents/skills/review/SKILL.md": skill("review", "Look.") } });
  const { call, create, ended, outputs } = client(service);
  const repositories = [{ url: "https://github.com/acme/shop" }, { url: tools.url }];
  const environment = await call("POST", "/agent/environments", { name: "Workshop", repositories });
  expect(environment.status).toBe(201);

  const first = await call("GET", "/agent");
  expect(first.body).not.toHaveProperty("unavailable");
  expect(first.body.agents.map(({ name }: { name: string }) => name)).toEqual(["greet", "review"]);
  const [{ id, last_run_timestamp }] = first.body.agents[0].variants;
  expect(last_run_timestamp).toBeNull();

  const run = await create("", { skill: id, config: { repositories: [{ url: tools.url }] } });
  expect(await ended(run)).toMatchObject({ state: "SUCCEEDED" });
  expect(await outputs(run)).toEqual(["hello\n"]);

  tools.commit({ ".claude/skills/later/SKILL.md": skill("later", "Later.") });
  const again = await call("GET", "/agent?refresh=true&sort_by=last_run");
  expect(again.body.agents.map(({ name }: { name: string }) => name)).toEqual(["greet", "later", "review"]);
  expect(again.body.agents[0].variants[0].last_run_timestamp).not.toBeNull();
  expect(github.seen.map(({ status }) => status)).toEqual([200, 200, 304]);
  expect(await call("GET", "/agent?repo=acme/none")).toMatchObject({ status: 404 });
  expect(await call("GET", "/agent/connected-self-hosted-workers")).toMatchObject({ body: { workers: [] } });
}, 180_000);
