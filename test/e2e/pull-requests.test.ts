import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { client } from "../support/api-client.ts";
import { type GitServer, git, startGitServer } from "../support/git-server.ts";
import { startService, type TestService } from "../support/service.ts";

const SECRET = "a-secret-of-the-other-system";
const TOKEN = "glpat-that-writes";

let server: GitServer;
let service: TestService;
let api: ReturnType<typeof client>;
beforeAll(async () => {
  server = await startGitServer(TOKEN);
  service = await startService({ environment: { RUNYARD_GITLAB_API_URL: `${server.url}/api/v4` } });
  api = client(service);
  expect((await api.call("POST", "/agent/secrets", { name: "gitlab", value: TOKEN })).status).toBe(201);
});
afterAll(async () => {
  expect(await service.stop()).toBe(0);
  await service[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

/** A mention in a merge request of the branch `fix`, from the project itself or from a fork. */
async function mention(prompt: string, { iid, source = 42 }: { readonly iid: number; readonly source?: number }) {
  const url = `file://${server.repository}`;
  const created = await api.call("POST", "/agent/triggers", {
    ...{ name: "mentions", kind: "gitlab", secret: SECRET, credential: "gitlab", allow: { anyone: true }, prompt },
    agent_config: { repositories: [{ url }] },
  });
  expect(created.status).toBe(201);
  const { uid, ingress_url } = created.body;
  const event = {
    object_kind: "note",
    user: { id: 5, username: "ada" },
    project: { id: 42, path_with_namespace: "acme/shop", web_url: url, default_branch: "main" },
    object_attributes: { id: iid, note: "@runyard fix it", noteable_type: "MergeRequest" },
    merge_request: {
      iid,
      source_branch: "fix",
      source_project_id: source,
      target_project_id: 42,
      url: `https://gitlab.test/${iid}`,
    },
  };
  const headers = { "content-type": "application/json", "x-gitlab-token": SECRET };
  expect((await fetch(ingress_url, { method: "POST", headers, body: JSON.stringify(event) })).status).toBe(200);
  const read = async () => (await api.call("GET", `/agent/triggers/${uid}/deliveries`)).body.deliveries[0];
  await expect.poll(async () => (await read())?.outcome, { timeout: 60_000 }).toBe("started");
  const { run_id } = await read();
  return { run: await api.ended(run_id), timeline: await api.timeline(run_id) };
}

const COMMIT = `\`\`\`sh
git checkout --quiet fix && echo two > shop.txt
git -c user.name=a -c user.email=a@example.com commit --quiet --all --message two
git -c user.name=a -c user.email=a@example.com tag v1
env | grep -c glpat || true
\`\`\``;

describe("a run of a merge request", () => {
  test("works on its branch, and the service pushes its commits there, with a token that the run does not have", async () => {
    const before = await server.refs();
    const { run, timeline } = await mention(COMMIT, { iid: 7 });
    expect(run.state).toBe("SUCCEEDED");
    const refs = await server.refs();
    expect({ ...refs, "refs/heads/fix": before["refs/heads/fix"] }).toEqual(before);
    expect(await git(server.repository, "show", "fix:shop.txt")).toBe("two");
    const pushed = timeline.filter(({ event_type }) => event_type === "branch_pushed");
    expect(pushed).toMatchObject([{ payload: { branch: "fix", commit: refs["refs/heads/fix"] } }]);
    expect(JSON.stringify(await api.call("GET", `/agent/runs/${run.run_id}/conversation`))).not.toContain(TOKEN);
  });

  test("pushes nothing for a fork, and says so", async () => {
    await git(server.repository, "update-ref", "refs/merge-requests/8/head", "fix");
    const before = await server.refs();
    const { timeline } = await mention("```sh\necho three > shop.txt\n```", { iid: 8, source: 43 });
    expect(await server.refs()).toEqual(before);
    expect(timeline[0]?.payload).toMatchObject({ detail: expect.stringContaining("can push nowhere") });
    expect(timeline.map(({ event_type }) => event_type)).not.toContain("branch_pushed");
  });
});
