import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { clientOf } from "../support/client.ts";
import { createRun, harnessOf } from "../support/execution.ts";
import { makeWorld, type World } from "../support/world.ts";

const path = "/agent/attachments";
const content = "a long plan\n";
const file = {
  file_name: "plan.txt",
  mime_type: "text/plain",
  size_bytes: content.length,
  sha256: createHash("sha256").update(content).digest("hex"),
};

/** A file of the first person's, or of the key's, that has been uploaded. */
async function uploaded(world: World, key = world.key, headers: Record<string, string> = {}): Promise<string> {
  const { body } = await clientOf(world, key).post(path, file, { headers });
  await world.upload(body.upload.url, content);
  return body.attachment_id;
}

const runWith = (world: World, id: string, key = world.key, more: object = {}) =>
  clientOf(world, key).post("/agent/runs", { prompt: "read", attachments: [{ attachment_id: id }], ...more });

describe("POST /agent/attachments", () => {
  it("answers where to upload a file, which runs are then given as they are inline ones", async () => {
    const world = await makeWorld();
    const id = await uploaded(world);
    const inline = { file_name: "note.txt", mime_type: "text/plain", data: Buffer.from("note").toString("base64") };
    const run = await createRun(world, { prompt: "read", attachments: [{ attachment_id: id }, inline] });
    const { context } = (await harnessOf(world, await world.dispatch(run)).resolve()).body;
    expect(context.attachments).toMatchObject([
      { attachment_id: id, filename: "plan.txt", mime_type: "text/plain" },
      { filename: "note.txt" },
    ]);
    expect(await world.download(context.attachments[0].download_url)).toBe(content);
    expect((await runWith(world, id)).status, "also to a second run").toBe(200);
  });

  it.each([
    ["size_bytes", { size_bytes: 0 }],
    ["size_bytes", { size_bytes: 1.5 }],
    ["size_bytes", { size_bytes: 100 * 1024 * 1024 + 1 }],
    ["sha256", { sha256: "ABC" }],
    ["file_name", { file_name: "../plan.txt" }],
    ["mime_type", { mime_type: "text" }],
  ])("answers 400 and makes no place for a wrong %s (%o)", async (field, wrong) => {
    const world = await makeWorld();
    const before = structuredClone(world.table.all());
    const answer = await clientOf(world).post(path, { ...file, ...wrong });
    expect(answer.status).toBe(400);
    expect(answer.body.errors[0]).toMatchObject({ path: field });
    expect(world.table.all()).toEqual(before);
  });

  it("answers a repeat with the same place", async () => {
    const world = await makeWorld();
    const send = (body: object) => clientOf(world).post(path, body, { headers: { "idempotency-key": "u-1" } });
    const first = await send(file);
    expect((await send(file)).body).toMatchObject({ attachment_id: first.body.attachment_id });
    expect((await send({ ...file, size_bytes: 1 })).status).toBe(409);
    expect((await clientOf(world).post(path, file)).body.attachment_id).not.toBe(first.body.attachment_id);
  });
});

describe("POST /agent/runs with attachments[].attachment_id", () => {
  const refused = async (world: World, id: string, key = world.key, more: object = {}) => {
    const before = structuredClone(world.table.all());
    const answer = await runWith(world, id, key, more);
    expect(answer.status).toBe(400);
    expect(answer.body.errors).toMatchObject([{ path: "attachments[0].attachment_id" }]);
    expect(world.table.all()).toEqual(before);
  };

  it("gives the run a copy of its own, which outlives the upload", async () => {
    const world = await makeWorld();
    const id = await uploaded(world);
    const run = (await runWith(world, id)).body.run_id;
    world.files.files.delete(`attachments/${id}`);
    const { context } = (await harnessOf(world, await world.dispatch(run)).resolve()).body;
    expect(context.attachments[0].attachment_id).toBe(id);
    expect(await world.download(context.attachments[0].download_url)).toBe(content);
  });

  it("answers 400 for one that is not there, not uploaded, or older than 24 hours", async () => {
    const world = await makeWorld();
    await refused(world, "none");
    await refused(world, "0199e0b2-0000-4000-8000-000000000000");
    const { body } = await clientOf(world).post(path, file);
    await refused(world, body.attachment_id);
    const id = await uploaded(world);
    world.clock.now += 24 * 3600 * 1000 + 1;
    await refused(world, id);
  });

  it("answers 400 for somebody else's, of the same team or another", async () => {
    const world = await makeWorld();
    const id = await uploaded(world);
    const mia = await world.person("Mia");
    await refused(world, id, mia.key);
    await refused(world, id, (await world.agent()).key);
    await refused(world, id, world.otherKey);
  });

  it("answers 400 for one that was uploaded for another team", async () => {
    const world = await makeWorld();
    const both = await world.person("Max", [world.team, world.otherTeam]);
    const id = await uploaded(world, both.key, { "x-team-uid": world.team });
    const runIn = (team: string) =>
      clientOf(world, both.key).post(
        "/agent/runs",
        { prompt: "read", attachments: [{ attachment_id: id }] },
        { headers: { "x-team-uid": team } },
      );
    expect((await runIn(world.otherTeam)).status).toBe(400);
    await refused(world, id, both.key, { team: false });
    expect((await runIn(world.team)).status).toBe(200);
  });
});

describe("files of requests that make no run", () => {
  const inline = { file_name: "note.txt", mime_type: "text/plain", data: Buffer.from("note").toString("base64") };
  const body = { prompt: "p".repeat(100_000), attachments: [inline] };

  it("are not stored by a repeat", async () => {
    const world = await makeWorld();
    const repeats = [{ "idempotency-key": "k" }, { "x-stainless-retry-count": "1" }];
    for (const headers of repeats) {
      const first = await clientOf(world).post("/agent/runs", body, { headers });
      const before = [...world.files.files.keys()];
      const again = await clientOf(world).post("/agent/runs", body, { headers });
      expect(again).toMatchObject({ status: 200, headers: { "idempotent-replay": "true" } });
      expect(again.body.run_id).toBe(first.body.run_id);
      expect([...world.files.files.keys()]).toEqual(before);
    }
    expect(world.files.files.size, "a prompt and an attachment for each of two runs").toBe(4);
  });

  it("are not stored where the queue is full", async () => {
    const world = await makeWorld();
    const ada = clientOf(world);
    await ada.put(`/agent/teams/${world.team}`, { settings: { queue_limit: 1 } });
    expect((await ada.post("/agent/runs", body)).status).toBe(200);
    expect((await ada.post("/agent/runs", { ...body, title: "another" })).status).toBe(429);
    expect(world.files.files.size).toBe(2);
  });

  it("are one file where a long follow-up comes twice", async () => {
    const world = await makeWorld();
    const run = await createRun(world);
    const followup = (headers: Record<string, string>) =>
      clientOf(world).post(`/agent/runs/${run}/followups`, { message: "m".repeat(100_000) }, { headers });
    expect((await followup({ "idempotency-key": "k" })).status).toBe(200);
    expect((await followup({ "idempotency-key": "k" })).headers["idempotent-replay"]).toBe("true");
    expect(world.files.files.size).toBe(1);
    expect((await followup({})).status).toBe(200);
    const { context } = (await harnessOf(world, await world.dispatch(run)).resolve()).body;
    expect(JSON.stringify(context)).toContain("m".repeat(100_000));
  });
});
