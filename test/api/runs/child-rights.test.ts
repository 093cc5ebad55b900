import { beforeEach, describe, expect, it } from "vitest";
import { refuseBeyond, withinRun } from "#shared/runs/child-rights.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createHarness, workingRun } from "../../support/execution.ts";

let plane: TestControlPlane;
let user: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
});

const OWN = "https://github.com/acme/own.git";
const OTHER = "https://github.com/acme/other.git";

async function environment(name: string, body: object = {}, by: Client = user): Promise<string> {
  return (await by.post("/agent/environments", { name, ...body })).body.uid;
}

/** The configuration that a run shows. */
const getConfig = async (runId: string) => (await user.get(`/agent/runs/${runId}`)).body.agent_config;

describe("a child created with a run's key", () => {
  it("gets the run's environment, named or not, instead of a default", async () => {
    const [own, other] = [await environment("own", { setup_commands: ["make"] }), await environment("other")];
    await user.put(`/agent/teams/${plane.team}`, { settings: { default_environment_id: other } });
    const parent = await workingRun(plane, { prompt: "p", config: { environment_id: own } });
    for (const config of [{}, { environment_id: own }]) {
      const { status, body } = await parent.client.post("/agent/runs", { prompt: "child", config });
      expect(status).toBe(200);
      expect((await getConfig(body.run_id)).environment_id).toBe(own);
      const child = createHarness(plane, await plane.dispatch(body.run_id));
      expect((await child.resolve()).body.context.setup_commands).toEqual(["make"]);
    }
  });

  it("has no environment if the run has none", async () => {
    const parent = await workingRun(plane);
    const other = await environment("other");
    await user.put(`/agent/teams/${plane.team}`, { settings: { default_environment_id: other } });
    const { body } = await parent.client.post("/agent/runs", { prompt: "child" });
    expect((await getConfig(body.run_id)).environment_id).toBeUndefined();
  });

  it("gets the defaults of the team that owns the run, whichever team its caller names", async () => {
    const beta = createClient(plane, plane.otherKey);
    const defaults = [await environment("alpha"), await environment("beta", {}, beta)];
    await user.put(`/agent/teams/${plane.team}`, { settings: { default_environment_id: defaults[0] } });
    await beta.put(`/agent/teams/${plane.otherTeam}`, { settings: { default_environment_id: defaults[1] } });
    const both = createClient(plane, (await plane.person("Max", [plane.team, plane.otherTeam])).key);
    const create = (team: string, body: object = {}) =>
      both.post("/agent/runs", { prompt: "p", ...body }, { headers: { "x-team-uid": team } });
    const parent_run_id = (await create(plane.otherTeam)).body.run_id;
    const child = await create(plane.team, { parent_run_id });
    expect(child.status).toBe(200);
    expect((await both.get(`/agent/runs/${child.body.run_id}`)).body).toMatchObject({
      scope: { uid: plane.otherTeam },
      agent_config: { environment_id: defaults[1] },
    });
  });

  it("may have an environment that is visible only to the run's creator", async () => {
    const mine = await environment("mine", { team: false });
    const parent = await workingRun(plane, { prompt: "p", config: { environment_id: mine } });
    const { status, body } = await parent.client.post("/agent/runs", { prompt: "child" });
    expect(status).toBe(200);
    expect((await getConfig(body.run_id)).environment_id).toBe(mine);
  });

  it("limits its own children to its own configuration", async () => {
    const own = await environment("own");
    const parent = await workingRun(plane, { prompt: "p", config: { environment_id: own } });
    const { body } = await parent.client.post("/agent/runs", { prompt: "child" });
    const child = createHarness(plane, await plane.dispatch(body.run_id));
    await child.resolve();
    const grandchild = await child.client.post("/agent/runs", { prompt: "c", config: { environment_id: own } });
    expect(grandchild.status).toBe(200);
    const foreign = { prompt: "c", config: { environment_id: await environment("other") } };
    expect((await child.client.post("/agent/runs", foreign)).status).toBe(403);
  });

  it("gets the environment of the key's run even below a descendant for which a person set another one", async () => {
    const [own, other] = [await environment("own"), await environment("other")];
    const parent = await workingRun(plane, { prompt: "p", config: { environment_id: own } });
    const richer = { prompt: "c", parent_run_id: parent.run_id, config: { environment_id: other } };
    const parent_run_id = (await user.post("/agent/runs", richer)).body.run_id;
    const request = { prompt: "c", parent_run_id, config: { environment_id: other } };
    expect((await parent.client.post("/agent/runs", request)).status).toBe(403);
    const { body } = await parent.client.post("/agent/runs", { prompt: "c", parent_run_id });
    expect((await getConfig(body.run_id)).environment_id).toBe(own);
  });

  it("may have the run's repositories, at any ref", async () => {
    const parent = await workingRun(plane, { prompt: "p", config: { repositories: [{ url: OWN }] } });
    const config = { repositories: [{ url: OWN, ref: "feature", path: "there" }] };
    const { status, body } = await parent.client.post("/agent/runs", { prompt: "child", config });
    expect(status).toBe(200);
    expect((await getConfig(body.run_id)).repositories).toEqual(config.repositories);
  });

  it("cannot have more than the run: returns 403 naming the member, and stores nothing", async () => {
    const [own, other] = [await environment("own"), await environment("other")];
    const foreign = await environment("theirs", {}, createClient(plane, plane.otherKey));
    const parent = await workingRun(plane, {
      prompt: "p",
      config: { environment_id: own, repositories: [{ url: OWN }] },
    });
    const agent = await plane.agent();
    const before = structuredClone(plane.table.all());
    for (const [member, body] of [
      ["config.environment_id", { config: { environment_id: other } }],
      ["config.environment_id", { config: { environment_id: foreign } }],
      ["config.environment_id", { config: { environment_id: "0193a4b0-0000-7000-8000-000000000000" } }],
      ["config.repositories[1]", { config: { repositories: [{ url: OWN }, { url: OTHER }] } }],
      ["config.session_sharing", { config: { session_sharing: { public_access: "VIEWER" } } }],
      [
        "config.harness_auth_secrets.claude_auth_secret_name",
        { config: { harness_auth_secrets: { claude_auth_secret_name: "TOKEN" } } },
      ],
      ["agent_identity_uid", { agent_identity_uid: agent.uid }],
    ] as const) {
      const response = await parent.client.post("/agent/runs", { prompt: "child", ...body });
      expect(response, member).toMatchObject({ status: 403, body: { error_code: "not_authorized" } });
      expect(response.body.detail).toContain(`${member}: `);
    }
    expect(plane.table.all()).toEqual(before);
  });

  it("is not limited if a person creates it", async () => {
    const parent = await workingRun(plane);
    const other = await environment("other");
    const body = { prompt: "c", parent_run_id: parent.run_id, config: { environment_id: other } };
    const { status, body: child } = await user.post("/agent/runs", body);
    expect(status).toBe(200);
    expect((await getConfig(child.run_id)).environment_id).toBe(other);
  });

  it("runs on the run's worker, and on none if the run uses none", () => {
    const checkWorker = (worker_host: string, own?: string) => () =>
      refuseBeyond({ config: { worker_host } }, { config: own === undefined ? {} : { worker_host: own } });
    expect(checkWorker("laptop")).toThrow("config.worker_host: a run's children work where the run itself does");
    expect(checkWorker("laptop", "desktop")).toThrow("config.worker_host: ");
    expect(checkWorker("laptop", "laptop")).not.toThrow();
    expect(withinRun({ config: { name: "n" } }, { config: { worker_host: "laptop" } })).toEqual({
      config: { name: "n", worker_host: "laptop" },
    });
  });

  it("accepts the names of the service's own sandboxes", async () => {
    const parent = await workingRun(plane);
    const created = await parent.client.post("/agent/runs", { prompt: "c", config: { worker_host: "hosted" } });
    expect(created.status).toBe(200);
  });
});
