import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createRun as submit } from "#functions/runs/create-run.ts";
import { keys } from "#shared/table/keys.ts";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, httpEvent, type TestControlPlane } from "../../support/control-plane.ts";
import { createHarness, createRun, workingRun } from "../../support/execution.ts";

const path = "/agent/attachments";
const content = "a long plan\n";
const file = {
  file_name: "plan.txt",
  mime_type: "text/plain",
  size_bytes: content.length,
  sha256: createHash("sha256").update(content).digest("hex"),
};

/** Uploads a file with the given key, by default the test user's. */
async function uploaded(
  plane: TestControlPlane,
  key = plane.key,
  headers: Record<string, string> = {},
): Promise<string> {
  const { body } = await createClient(plane, key).post(path, file, { headers });
  await plane.upload(body.upload.url, content);
  return body.attachment_id;
}

const runWith = (plane: TestControlPlane, id: string, key = plane.key, more: object = {}) =>
  createClient(plane, key).post("/agent/runs", { prompt: "read", attachments: [{ attachment_id: id }], ...more });

describe("POST /agent/attachments", () => {
  // @contract runs.request.attachments-place: POST /agent/attachments returns attachment_id and the upload target of a larger file.
  // @contract runs.request.attachments-id: An uploaded file is given to a run by its attachment_id.
  it("returns an upload target, and a run receives the file like an inline attachment", async () => {
    const plane = await createTestControlPlane();
    const id = await uploaded(plane);
    const inline = { file_name: "note.txt", mime_type: "text/plain", data: Buffer.from("note").toString("base64") };
    const run = await createRun(plane, { prompt: "read", attachments: [{ attachment_id: id }, inline] });
    const { context } = (await createHarness(plane, await plane.dispatch(run)).resolve()).body;
    expect(context.attachments).toMatchObject([
      { attachment_id: id, filename: "plan.txt", mime_type: "text/plain" },
      { filename: "note.txt" },
    ]);
    expect(await plane.download(context.attachments[0].download_url)).toBe(content);
    expect((await runWith(plane, id)).status, "a second run can use it too").toBe(200);
  });

  // @contract runs.request.attachments-upload: It requires file_name, mime_type, size_bytes and sha256.
  it.each([
    ["size_bytes", { size_bytes: 0 }],
    ["size_bytes", { size_bytes: 1.5 }],
    ["size_bytes", { size_bytes: 100 * 1024 * 1024 + 1 }],
    ["sha256", { sha256: "ABC" }],
    ["file_name", { file_name: "../plan.txt" }],
    ["mime_type", { mime_type: "text" }],
  ])("returns 400 and creates no upload for a wrong %s (%o)", async (field, wrong) => {
    const plane = await createTestControlPlane();
    const before = structuredClone(plane.table.all());
    const response = await createClient(plane).post(path, { ...file, ...wrong });
    expect(response.status).toBe(400);
    expect(response.body.errors[0]).toMatchObject({ path: field });
    expect(plane.table.all()).toEqual(before);
  });

  it("returns the same upload target to a repeated request", async () => {
    const plane = await createTestControlPlane();
    const send = (body: object) => createClient(plane).post(path, body, { headers: { "idempotency-key": "u-1" } });
    const first = await send(file);
    expect((await send(file)).body).toMatchObject({ attachment_id: first.body.attachment_id });
    expect((await send({ ...file, size_bytes: 1 })).status).toBe(409);
    expect((await createClient(plane).post(path, file)).body.attachment_id).not.toBe(first.body.attachment_id);
  });
});

describe("POST /agent/runs with attachments[].attachment_id", () => {
  const refused = async (plane: TestControlPlane, id: string, key = plane.key, more: object = {}) => {
    const before = structuredClone(plane.table.all());
    const response = await runWith(plane, id, key, more);
    expect(response.status).toBe(400);
    expect(response.body.errors).toMatchObject([{ path: "attachments[0].attachment_id" }]);
    expect(plane.table.all()).toEqual(before);
  };

  it("copies the file into the run, so that the run keeps it after the upload expires", async () => {
    const plane = await createTestControlPlane();
    const id = await uploaded(plane);
    const run = (await runWith(plane, id)).body.run_id;
    plane.files.files.delete(`attachments/${id}`);
    const { context } = (await createHarness(plane, await plane.dispatch(run)).resolve()).body;
    expect(context.attachments[0].attachment_id).toBe(id);
    expect(await plane.download(context.attachments[0].download_url)).toBe(content);
  });

  // @contract runs.request.attachments-id
  it("returns 400 for an attachment that is unknown, not uploaded in full, or older than 24 hours", async () => {
    const plane = await createTestControlPlane();
    await refused(plane, "none");
    await refused(plane, "0199e0b2-0000-4000-8000-000000000000");
    const { body } = await createClient(plane).post(path, file);
    await refused(plane, body.attachment_id);
    await plane.upload(body.upload.url, content.slice(1));
    await refused(plane, body.attachment_id);
    const id = await uploaded(plane);
    plane.clock.now += 24 * 3600 * 1000;
    expect((await runWith(plane, id)).status).toBe(200);
    plane.clock.now += 1;
    await refused(plane, id);
  });

  it("returns 400 for another person's attachment, in the same team or another", async () => {
    const plane = await createTestControlPlane();
    const id = await uploaded(plane);
    const mia = await plane.person("Mia");
    await refused(plane, id, mia.key);
    await refused(plane, id, (await plane.agent()).key);
    await refused(plane, id, plane.otherKey);
  });

  it("returns 400 for an attachment uploaded for another team", async () => {
    const plane = await createTestControlPlane();
    const both = await plane.person("Max", [plane.team, plane.otherTeam]);
    const id = await uploaded(plane, both.key, { "x-team-uid": plane.team });
    const runIn = (team: string) =>
      createClient(plane, both.key).post(
        "/agent/runs",
        { prompt: "read", attachments: [{ attachment_id: id }] },
        { headers: { "x-team-uid": team } },
      );
    expect((await runIn(plane.otherTeam)).status).toBe(400);
    await refused(plane, id, both.key, { team: false });
    expect((await runIn(plane.team)).status).toBe(200);
  });
});

describe("an upload", () => {
  it.each([true, false])("with a run's own key is usable by runs of its team, if it has one: %j", async (team) => {
    const plane = await createTestControlPlane();
    const { client } = await workingRun(plane, { prompt: "p", team });
    const { attachment_id } = (await client.post(path, file)).body;
    const upload = await plane.table.get(keys.upload(attachment_id));
    expect(upload?.["team"]).toBe(team ? plane.team : undefined);
  });
});

describe("the files of a run", () => {
  it("are stored with the types that the request names", async () => {
    const plane = await createTestControlPlane();
    const types: string[] = [];
    const put: typeof plane.ports.files.put = (key, data, type) => {
      types.push(type);
      return plane.ports.files.put(key, data, type);
    };
    const csv = { file_name: "a.csv", mime_type: "text/csv", data: Buffer.from("a,b").toString("base64") };
    const event = httpEvent({ key: plane.key, body: { prompt: "p".repeat(100_000), attachments: [csv] } });
    const response = await submit.handle(event, { ...plane.ports, files: { ...plane.ports.files, put } });
    expect(response.statusCode).toBe(200);
    expect(types.toSorted()).toEqual(["text/csv", "text/plain; charset=utf-8"]);
    const stored = { file_name: "a.csv", mime_type: "text/csv", size_bytes: 3 };
    const { attachments } = await plane.ports.runs.body(JSON.parse(response.body).run_id);
    expect(attachments).toMatchObject([stored]);
  });
});

describe("files of requests that create no run", () => {
  const inline = { file_name: "note.txt", mime_type: "text/plain", data: Buffer.from("note").toString("base64") };
  const body = { prompt: "p".repeat(100_000), attachments: [inline] };

  it("are not stored by a repeated request", async () => {
    const plane = await createTestControlPlane();
    const repeats = [{ "idempotency-key": "k" }, { "x-stainless-retry-count": "1" }];
    for (const headers of repeats) {
      const first = await createClient(plane).post("/agent/runs", body, { headers });
      const before = [...plane.files.files.keys()];
      const again = await createClient(plane).post("/agent/runs", body, { headers });
      expect(again).toMatchObject({ status: 200, headers: { "idempotent-replay": "true" } });
      expect(again.body.run_id).toBe(first.body.run_id);
      expect([...plane.files.files.keys()]).toEqual(before);
    }
    expect(plane.files.files.size, "a prompt and an attachment for each of two runs").toBe(4);
  });

  it("are not stored when the queue is full", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    await user.put(`/agent/teams/${plane.team}`, { settings: { queue_limit: 1 } });
    expect((await user.post("/agent/runs", body)).status).toBe(200);
    const { prompt, attachments } = body;
    for (const another of [
      { prompt, title: "another" },
      { prompt: "short", attachments },
    ]) {
      expect((await user.post("/agent/runs", another)).status).toBe(429);
    }
    expect(plane.files.files.size).toBe(2);
  });

  it.each(["put", "copy"] as const)("fail the request if the call %s fails", async (call) => {
    const plane = await createTestControlPlane();
    const id = await uploaded(plane);
    const before = structuredClone(plane.table.all());
    const files = { ...plane.ports.files, [call]: () => Promise.reject(new Error("no bucket")) };
    const long = { prompt: "p".repeat(100_000) };
    const requests = call === "put" ? [long, { attachments: [inline] }] : [{ attachments: [{ attachment_id: id }] }];
    for (const request of requests) {
      const event = httpEvent({ key: plane.key, body: { prompt: "read", ...request } });
      expect(await submit.handle(event, { ...plane.ports, files })).toMatchObject({ statusCode: 500 });
    }
    expect(plane.table.all()).toEqual(before);
  });

  it("are stored once when a long follow-up is sent twice", async () => {
    const plane = await createTestControlPlane();
    const run = await createRun(plane);
    const followup = (headers: Record<string, string>) =>
      createClient(plane).post(`/agent/runs/${run}/followups`, { message: "m".repeat(100_000) }, { headers });
    expect((await followup({ "idempotency-key": "k" })).status).toBe(200);
    expect((await followup({ "idempotency-key": "k" })).headers["idempotent-replay"]).toBe("true");
    expect(plane.files.files.size).toBe(1);
    expect((await followup({})).status).toBe(200);
    const { context } = (await createHarness(plane, await plane.dispatch(run)).resolve()).body;
    expect(JSON.stringify(context)).toContain("m".repeat(100_000));
  });
});
