import { createHash } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createHarness, type Harness, startedRun } from "../../support/execution.ts";

let plane: TestControlPlane;
let user: Client;
let bo: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
  bo = createClient(plane, plane.otherKey);
});

const path = "/agent/environments";
const COMMIT = "c".repeat(40);
const PLATFORM = "d".repeat(64);
const SETUP = {
  setup_commands: ["npm ci"],
  repositories: [{ url: "https://git.example.com/acme/shop" }],
  variables: { A: "1" },
};

const create = async (body: Record<string, unknown> = SETUP, client = user): Promise<string> => {
  const made = await client.post(path, { name: "Shop", ...body });
  expect(made.status).toBe(201);
  return made.body.uid;
};
const within = (environment_id: string) => ({ prompt: "hello", config: { environment_id } });
const resolve = async (harness: Harness) => (await harness.resolve()).body.context.setup_snapshot;
/** What a new run in the environment learns of its setup snapshot. */
const learn = async (uid: string, key = plane.key) => resolve(await startedRun(plane, within(uid), key));

async function startTrial(uid: string, client = user): Promise<Harness> {
  const { status, body } = await client.post(`${path}/${uid}/try`, {});
  expect(status).toBe(200);
  return createHarness(plane, await plane.dispatch(body.run_id));
}

const toFile = (content: string, filename: string) => ({
  filename,
  mime_type: "application/gzip",
  size_bytes: content.length,
  sha256: createHash("sha256").update(content).digest("hex"),
});

/** Reports the files of a setup, as a harness does. */
async function commit(harness: Harness, inputs: string, content = "the workspace") {
  const { body } = await harness.support("upload-snapshot", {
    mode: "checkpoint",
    generation: "setup",
    files: [toFile(content, "workspace.tar.gz")],
  });
  await plane.upload(body.uploads[0].url, content);
  const setup = { inputs, platform: PLATFORM, clones: [{ path: "shop", commit: COMMIT }] };
  return harness.support("commit-snapshot", { generation: "setup", files: ["workspace.tar.gz"], setup });
}

async function keep(uid: string, content?: string, client = user): Promise<Harness> {
  const trial = await startTrial(uid, client);
  const { inputs, ...more } = await resolve(trial);
  expect(more).toEqual({ keep: true });
  expect((await commit(trial, inputs, content)).status).toBe(200);
  await trial.finish();
  return trial;
}

describe("the setup snapshot of an environment", () => {
  it("is made by a trial, shown with the environment, and given to later runs", async () => {
    const uid = await create();
    expect(await learn(uid)).toEqual({ inputs: expect.stringMatching(/^[0-9a-f]{64}$/) });
    const { run_id } = await keep(uid);
    const setup = await learn(uid);
    expect(setup).toEqual({
      inputs: expect.any(String),
      made: {
        run_id,
        created_at: "2026-05-18T19:00:00.000Z",
        platform: PLATFORM,
        clones: [{ path: "shop", commit: COMMIT }],
        files: [expect.objectContaining({ filename: "workspace.tar.gz", size_bytes: 13 })],
      },
    });
    expect(await plane.download(setup.made.files[0].download_url)).toBe("the workspace");
    const shown = { run_id, created_at: setup.made.created_at, expires_at: "2026-06-16T19:00:00.000Z", size_bytes: 13 };
    expect((await user.get(`${path}/${uid}`)).body.setup_snapshot).toEqual(shown);
    expect((await user.get(path)).body.environments[0].setup_snapshot).toEqual(shown);
  });

  it("is replaced by the next trial, which does not start with it", async () => {
    const uid = await create();
    await keep(uid);
    const { run_id } = await keep(uid, "another workspace");
    expect((await learn(uid)).made).toMatchObject({ run_id, files: [{ size_bytes: 17 }] });
  });

  it.each<[string, Record<string, unknown>]>([
    ["setup commands", { setup_commands: ["npm ci", "make"] }],
    ["repositories", { repositories: [{ url: "https://git.example.com/acme/shop", ref: "next" }] }],
    ["variables", { variables: { A: "2" } }],
    ["providers", { providers: { aws: { role_arn: "arn:aws:iam::123456789012:role/ci" } } }],
    ["secrets", { secrets: [{ name: "OTHER" }] }],
  ])("gives its files to no run in the environment with other %s", async (_, change) => {
    await user.post("/agent/secrets", { name: "OTHER", value: "correct horse" });
    const uid = await create();
    await keep(uid);
    expect((await user.put(`${path}/${uid}`, change)).status).toBe(200);
    expect((await learn(uid)).made).not.toHaveProperty("files");
  });

  it("gives its files to no run with another value of a secret", async () => {
    const store = (value: string) => user.post("/agent/secrets", { name: "TOKEN", value });
    await store("correct horse");
    const uid = await create({ ...SETUP, secrets: [{ name: "TOKEN" }] });
    await keep(uid);
    expect((await learn(uid)).made.files).toHaveLength(1);
    const { secrets } = (await user.get("/agent/secrets")).body;
    await user.delete(`/agent/secrets/${secrets[0].name}`);
    expect((await store("battery staple")).status).toBe(201);
    expect((await learn(uid)).made).not.toHaveProperty("files");
  });

  it("is unknown to runs of others with whom the environment is shared", async () => {
    const uid = await create({ ...SETUP, team: false });
    await keep(uid);
    const { body } = await bo.get("/agent/me");
    expect((await user.post(`${path}/${uid}/share`, { user_uid: body.uid })).status).toBe(200);
    expect(await learn(uid, plane.otherKey)).toEqual({ inputs: expect.any(String) });
    const theirs = await startTrial(uid, bo);
    const { inputs } = await resolve(theirs);
    expect((await commit(theirs, inputs)).status).toBe(200);
    expect((await user.get(`${path}/${uid}`)).body.setup_snapshot.run_id).not.toBe(theirs.run_id);
  });

  it("is not shown to those who only have the environment's link", async () => {
    const uid = await create({ ...SETUP, team: false });
    await keep(uid);
    const { body } = await user.post(`${path}/${uid}/share`, { link: true });
    const link = new URL(body.link).searchParams.get("link") ?? body.link.split("link=").at(-1);
    const seen = await bo.get(`${path}/${uid}?link=${link}`);
    expect([seen.status, seen.body]).toEqual([200, expect.not.objectContaining({ setup_snapshot: expect.anything() })]);
  });

  it("is used for 29 days", async () => {
    const uid = await create();
    await keep(uid);
    plane.clock.now += 29 * 24 * 3_600_000;
    expect((await learn(uid)).made.files).toHaveLength(1);
    plane.clock.now += 1;
    expect(await learn(uid)).toEqual({ inputs: expect.any(String) });
  });

  it("is neither used nor shown once the run that made it is deleted", async () => {
    const uid = await create();
    const { run_id } = await keep(uid);
    expect((await user.delete(`/agent/runs/${run_id}`)).status).toBe(204);
    expect(await learn(uid)).toEqual({ inputs: expect.any(String) });
    expect((await user.get(`${path}/${uid}`)).body).not.toHaveProperty("setup_snapshot");
    expect((await user.get(path)).body.environments[0]).not.toHaveProperty("setup_snapshot");
  });

  it("is made of no run that saw a prompt or a follow-up", async () => {
    const uid = await create();
    const working = await startedRun(plane, within(uid));
    const { inputs } = await resolve(working);
    const refused = { status: 409, body: { detail: expect.stringMatching(/^setup: only a run that sets up/) } };
    expect(await commit(working, inputs)).toMatchObject(refused);
    const trial = await startTrial(uid);
    await resolve(trial);
    expect((await user.post(`/agent/runs/${trial.run_id}/followups`, { message: "and more" })).status).toBe(200);
    expect(await commit(trial, inputs)).toMatchObject(refused);
    expect((await user.get(`${path}/${uid}`)).body).not.toHaveProperty("setup_snapshot");
  });

  it("is not made if its inputs changed while its execution ran", async () => {
    const uid = await create();
    const trial = await startTrial(uid);
    await resolve(trial);
    expect((await commit(trial, "e".repeat(64))).status).toBe(200);
    expect((await user.get(`${path}/${uid}`)).body).not.toHaveProperty("setup_snapshot");
  });

  it("does not exist for a run without setup commands", async () => {
    const uid = await create({ repositories: SETUP.repositories });
    expect(await learn(uid)).toBeUndefined();
  });
});
