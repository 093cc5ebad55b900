import { beforeEach, describe, expect, it } from "vitest";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createHarness, createRun, deliver, nextExecution, startedRun, workingRun } from "../../support/execution.ts";
import { nightly } from "../../support/schedules.ts";

let plane: TestControlPlane;
let user: Client;
let bo: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
  bo = createClient(plane, plane.otherKey);
});

const VALUE = "correct horse battery staple";
const keep = async (name: string, value = VALUE, client = user) =>
  expect((await client.post("/agent/secrets", { name, value })).status).toBe(201);
const named = (...names: string[]) => names.map((name) => ({ name }));
const environment = async (secrets: string[], body: Record<string, unknown> = {}, client = user): Promise<string> => {
  const made = await client.post("/agent/environments", { name: `E ${secrets}`, secrets: named(...secrets), ...body });
  expect(made.status).toBe(201);
  return made.body.uid;
};
const identity = async (...secrets: string[]): Promise<string> =>
  (await user.post("/agent/identities", { name: `I ${secrets}`, secrets: named(...secrets) })).body.uid;
const within = (environment_id: string, more: Record<string, unknown> = {}) => ({
  prompt: "hello",
  config: { environment_id },
  ...more,
});
/** Returns the secrets of a run's execution by name: the value, or the reason why it is unavailable. */
async function readSecrets(
  body: Record<string, unknown>,
  key = plane.key,
): Promise<Record<string, string> | undefined> {
  return secretsIn(await startedRun(plane, body, key));
}
async function secretsIn(harness: Awaited<ReturnType<typeof startedRun>>): Promise<Record<string, string> | undefined> {
  const { status, body } = await harness.resolve();
  expect(status).toBe(200);
  const secrets: { name: string; value?: string; unavailable?: string }[] | undefined = body.context.secrets;
  return (
    secrets && Object.fromEntries(secrets.map(({ name, value, unavailable }) => [name, value ?? `! ${unavailable}`]))
  );
}

describe("the secrets of a run", () => {
  // @contract secrets.injected: A run gets the secrets that its environment names.
  it("come from its environment and its identity, and are returned to its execution only", async () => {
    await keep("NPM_TOKEN");
    await keep("TRACKER", "tracker's value");
    await keep("OTHER", "nobody names it");
    const uid = await environment(["NPM_TOKEN"]);
    const agent = await identity("TRACKER", "NPM_TOKEN");
    expect(await readSecrets(within(uid))).toEqual({ NPM_TOKEN: VALUE });
    expect(await readSecrets(within(uid, { agent_identity_uid: agent }))).toEqual({
      NPM_TOKEN: VALUE,
      TRACKER: "tracker's value",
    });
    expect(await readSecrets({ prompt: "hello" })).toBeUndefined();
  });

  // @contract secrets.injected
  it("are in no other response and no item of the table", async () => {
    await keep("NPM_TOKEN");
    const harness = await workingRun(plane, within(await environment(["NPM_TOKEN"])));
    await harness.finish();
    await deliver(plane);
    const path = `/agent/runs/${harness.run_id}`;
    for (const part of ["", "/timeline", "/conversation", "/events?after=0", "/response"])
      expect(JSON.stringify((await user.get(path + part)).body), part).not.toContain(VALUE);
    expect(JSON.stringify(plane.table.all())).not.toContain(VALUE);
  });

  it("are refused to every key except the current execution's", async () => {
    await keep("NPM_TOKEN");
    const uid = await environment(["NPM_TOKEN"]);
    const first = await workingRun(plane, within(uid));
    await first.shutDown({ error: { category: "test", message: "gone" } });
    const second = await nextExecution(plane);
    expect((await first.resolve()).status).toBe(401);
    expect(await secretsIn(second)).toEqual({ NPM_TOKEN: VALUE });
    const other = await workingRun(plane, within(uid));
    const byPerson = await user.post("/harness-support/resolve-prompt", {});
    expect(byPerson.status).toBe(403);
    await other.finish();
    expect((await other.resolve()).status).toBe(401);
  });

  it("have the values as of the start of an execution", async () => {
    await keep("NPM_TOKEN", "the first value");
    const body = within(await environment(["NPM_TOKEN"]));
    const waiting = await createRun(plane, body);
    await user.delete("/agent/secrets/NPM_TOKEN");
    await keep("NPM_TOKEN", "the second value");
    expect(await secretsIn(createHarness(plane, await plane.dispatch(waiting)))).toEqual({
      NPM_TOKEN: "the second value",
    });
  });

  it("are those that the environment named at the run's creation", async () => {
    await keep("NPM_TOKEN");
    await keep("TRACKER", "tracker's value");
    const uid = await environment(["NPM_TOKEN"]);
    const waiting = await createRun(plane, within(uid));
    await user.put(`/agent/environments/${uid}`, { secrets: named("TRACKER") });
    expect(await secretsIn(createHarness(plane, await plane.dispatch(waiting)))).toEqual({ NPM_TOKEN: VALUE });
  });

  it("are available to the runs of a schedule", async () => {
    await keep("NPM_TOKEN");
    await keep("TRACKER", "tracker's value");
    const agent_config = { environment_id: await environment(["NPM_TOKEN"]) };
    const { id } = (
      await user.post("/agent/schedules", { ...nightly, agent_config, agent_uid: await identity("TRACKER") })
    ).body;
    const { run_id } = (await user.post(`/agent/schedules/${id}/run`)).body;
    expect(await secretsIn(createHarness(plane, await plane.dispatch(run_id)))).toEqual({
      NPM_TOKEN: VALUE,
      TRACKER: "tracker's value",
    });
  });
});

describe("an unavailable secret", () => {
  it("is reported with its name, so that the run ends FAILED", async () => {
    await keep("NPM_TOKEN");
    expect(await readSecrets(within(await environment(["NPM_TOKEN", "ABSENT"])))).toEqual({
      NPM_TOKEN: VALUE,
      ABSENT: expect.stringMatching(/^! the team has no secret of this name/),
    });
  });

  it("is one without a value", async () => {
    await keep("NPM_TOKEN");
    plane.vault.values.clear();
    expect(await readSecrets(within(await environment(["NPM_TOKEN"])))).toEqual({
      NPM_TOKEN: expect.stringMatching(/^! /),
    });
  });

  it("is one of another team, even if that team shares the environment", async () => {
    await keep("NPM_TOKEN");
    await keep("NPM_TOKEN", "the other team's", bo);
    const uid = await environment(["NPM_TOKEN"]);
    await user.post(`/agent/environments/${uid}/share`, { user_uid: (await bo.get("/agent/me")).body.uid });
    expect(await readSecrets(within(uid), plane.otherKey)).toEqual({
      NPM_TOKEN: expect.stringMatching(/^! the environment is shared with the run's team/),
    });
  });

  it("is any secret for a run that its caller executes: no response gives a caller a value", async () => {
    await keep("NPM_TOKEN");
    const uid = await environment(["NPM_TOKEN"]);
    const made = await user.post("/agent/runs", within(uid, { execution_location: "LOCAL" }));
    const own = createClient(plane, made.body.run_key);
    const { status, body } = await own.post("/harness-support/resolve-prompt", {});
    expect(status).toBe(200);
    expect(body.context.secrets).toMatchObject([
      { name: "NPM_TOKEN", unavailable: expect.stringContaining("executed by") },
    ]);
    expect(JSON.stringify(body)).not.toContain(VALUE);
  });

  it("is any secret for a personal run; a personal environment adds the team's secrets to a team run", async () => {
    await keep("NPM_TOKEN");
    const uid = await environment(["NPM_TOKEN"], { team: false });
    expect(await readSecrets(within(uid, { team: false }))).toEqual({
      NPM_TOKEN: expect.stringMatching(/^! secrets belong to teams/),
    });
    expect(await readSecrets(within(uid))).toEqual({ NPM_TOKEN: VALUE });
  });

  it("is one with the name of an interpreted variable, stored before such names were refused", async () => {
    await keep("NPM_TOKEN");
    const item = plane.table.all().find(({ sk }) => sk === "SECRET#NPM_TOKEN");
    if (item !== undefined)
      await plane.table.write({ kind: "put", item: { ...item, sk: "SECRET#LD_PRELOAD", name: "LD_PRELOAD" } });
    expect(await readSecrets(within(await environment(["LD_PRELOAD"])))).toEqual({
      LD_PRELOAD: expect.stringMatching(/^! programs interpret/),
    });
  });
});

describe("the secrets of a child", () => {
  it("are at most its parent's, regardless of who creates the child and where it runs", async () => {
    await keep("NPM_TOKEN");
    await keep("DEPLOY_KEY", "production");
    const parent = await workingRun(plane, within(await environment(["NPM_TOKEN"])));
    const rich = within(await environment(["NPM_TOKEN", "DEPLOY_KEY"]), { parent_run_id: parent.run_id });
    const child = await startedRun(plane, rich);
    const bounded = { NPM_TOKEN: VALUE, DEPLOY_KEY: "! the run's parent does not have it" };
    expect(await secretsIn(child)).toEqual(bounded);
    const grandchild = { ...rich, parent_run_id: child.run_id };
    expect(await readSecrets(grandchild, plane.key)).toMatchObject(bounded);
    // A child created with the run's own key has the run's secrets, even below a descendant with more.
    for (const parent_run_id of [parent.run_id, child.run_id]) {
      expect(await readSecrets({ prompt: "child", parent_run_id }, parent.key)).toEqual({ NPM_TOKEN: VALUE });
    }
  });

  it("include its identity's secrets if its parent has them", async () => {
    await keep("TRACKER", "tracker's value");
    const parent = await workingRun(plane, { prompt: "parent", agent_identity_uid: await identity("TRACKER") });
    expect(await readSecrets({ prompt: "child" }, parent.key)).toEqual({ TRACKER: "tracker's value" });
  });
});

describe("setup_failed of an environment", () => {
  const failed = async (uid: string) => (await user.get(`/agent/environments/${uid}`)).body.setup_failed;
  const end = async (uid: string, outcome: Record<string, unknown>) => {
    const harness = await workingRun(plane, within(uid));
    plane.clock.now += 1000;
    await harness.support("finish-task", { summary: "done", ...outcome });
    await deliver(plane);
  };
  const setupFailed = { success: false, error_code: "environment_setup_failed" };

  // @contract environments.setup-failed-next: setup_failed is false again after the next successful setup.
  it("is true from a failed setup to the next successful one, regardless of runs created in between", async () => {
    const uid = await environment([]);
    expect(await failed(uid)).toBe(false);
    await end(uid, setupFailed);
    expect(await failed(uid)).toBe(true);
    const waiting = await createRun(plane, within(uid));
    expect(await failed(uid)).toBe(true);
    await user.post(`/agent/runs/${waiting}/cancel`);
    expect(await failed(uid)).toBe(true);
    await end(uid, { success: true });
    expect(await failed(uid)).toBe(false);
    await createRun(plane, within(uid));
    expect(await failed(uid)).toBe(false);
  });

  it("is false after a run that was set up and then failed", async () => {
    const uid = await environment([]);
    await end(uid, setupFailed);
    await end(uid, { success: false });
    await createRun(plane, within(uid));
    expect(await failed(uid)).toBe(false);
  });

  it("depends on the run that ended last, in any order of delivery", async () => {
    const uid = await environment([]);
    const slow = await workingRun(plane, within(uid));
    await end(uid, setupFailed);
    plane.clock.now += 1000;
    await slow.finish();
    await deliver(plane);
    expect(await failed(uid)).toBe(false);
  });

  it("is not changed by a guest's runs", async () => {
    const uid = await environment([], { team: false });
    await user.post(`/agent/environments/${uid}/share`, { user_uid: (await bo.get("/agent/me")).body.uid });
    const guest = await workingRun(plane, within(uid), plane.otherKey);
    await guest.support("finish-task", { summary: "no", ...setupFailed });
    await deliver(plane);
    expect(await failed(uid)).toBe(false);
  });
});
