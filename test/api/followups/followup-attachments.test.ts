import { beforeEach, describe, expect, it } from "vitest";
import { keys } from "#shared/table/keys.ts";
import { CONTINUE_MESSAGE } from "#shared/wire/harness.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createRun, nextExecution, workingRun } from "../../support/execution.ts";

let plane: TestControlPlane;
let user: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
});

const DAY_MS = 24 * 3600 * 1000;
const content = "what went wrong\n";
const file = { filename: "error.log", mime_type: "text/plain", size_bytes: content.length };
const prepare = (run: string, body: object = { files: [file] }, client = user, headers = {}) =>
  client.post(`/agent/runs/${run}/attachments/prepare`, body, { headers });
/** Prepares and uploads a file for a run. */
async function uploaded(run: string, text: string | Uint8Array = content, described: object = file): Promise<string> {
  const { body } = await prepare(run, { files: [described] });
  const [{ attachment_id, upload_url }] = body.attachments;
  await plane.upload(upload_url, text);
  return attachment_id;
}
const send = (run: string, body: object, client = user) => client.post(`/agent/runs/${run}/followups`, body);
const refusal = (index: number) => ({
  status: 422,
  body: { error_code: "operation_not_supported", errors: [{ path: `attachments[${index}].attachment_id` }] },
});

describe("POST /agent/runs/{runId}/attachments/prepare", () => {
  // @contract followups.prepare.plain: upload_url takes a plain PUT.
  it("returns for each file a URL for a plain PUT, and a target that checks what is known", async () => {
    const run = await createRun(plane);
    const sha256 = "5".repeat(64);
    const { status, body } = await prepare(run, { files: [file, { ...file, sha256 }] });
    expect(status).toBe(200);
    const [plain, checked] = body.attachments;
    expect(plain).toEqual({
      attachment_id: expect.any(String),
      upload_url: expect.stringContaining(plain.attachment_id),
      upload_target: { url: plain.upload_url, method: "PUT", headers: { "content-type": "text/plain" } },
      expires_at: expect.any(String),
    });
    expect(checked.upload_target.headers).toMatchObject({ "content-length": String(content.length) });
  });

  // @contract followups.files: A follow-up has at most 25 attachments.
  // @contract followups.prepare.alias: Prepare takes attachments with file_name too.
  it("accepts the files as attachments with file_name too, in one of the two forms", async () => {
    const run = await createRun(plane);
    const attachments = [{ file_name: "a.txt", mime_type: "text/plain" }];
    expect(await prepare(run, { attachments })).toMatchObject({ status: 200, body: { attachments: [{}] } });
    for (const [path, body] of [
      ["attachments", { files: [file], attachments }],
      ["files", {}],
      ["files", { files: [] }],
      ["attachments", { attachments: [] }],
      ["files", { files: Array.from({ length: 26 }, () => file) }],
      ["files[0].size_bytes", { files: [{ ...file, size_bytes: 100 * 1024 * 1024 + 1 }] }],
      ["files[0].filename", { files: [{ ...file, filename: "../x" }] }],
    ] as const)
      expect(await prepare(run, body)).toMatchObject({ status: 400, body: { errors: [{ path }] } });
  });

  it("returns the same uploads to a repeated request", async () => {
    const run = await createRun(plane);
    const headers = { "idempotency-key": "k" };
    const first = await prepare(run, { files: [file, file] }, user, headers);
    expect((await prepare(run, { files: [file, file] }, user, headers)).body).toEqual(first.body);
  });

  it("counts what a run's own key prepares at that run", async () => {
    const parent = await workingRun(plane);
    const { run_id } = (await parent.client.post("/agent/runs", { prompt: "child", parent_run_id: parent.run_id }))
      .body;
    const unknown = { filename: "a", mime_type: "text/plain" };
    expect((await prepare(run_id, { files: [file, unknown] }, parent.client)).status).toBe(200);
    const counted = { uploads: 2, upload_bytes: content.length + 100 * 1024 * 1024 };
    expect(await plane.table.get(keys.head(parent.run_id))).toMatchObject(counted);
    expect((await prepare(run_id, { files: Array.from({ length: 10 }, () => unknown) }, parent.client)).status).toBe(
      429,
    );
  });
});

describe("POST /agent/conversations/{conversationId}/attachments/prepare", () => {
  // @contract followups.prepare.conversation: Preparing for a conversation binds to the run that is the latest then.
  it("prepares for the run that is the latest then", async () => {
    const first = await workingRun(plane);
    await first.finish();
    const second = await createRun(plane, { prompt: "go on", conversation_id: first.run_id });
    const { body } = await user.post(`/agent/conversations/${first.run_id}/attachments/prepare`, { files: [file] });
    const [{ attachment_id, upload_url }] = body.attachments;
    await plane.upload(upload_url, content);
    expect(await send(first.run_id, { message: "more", attachments: [{ attachment_id }] })).toMatchObject(refusal(0));
    expect((await send(second, { message: "more", attachments: [{ attachment_id }] })).status).toBe(200);
  });
});

describe("the attachments of a follow-up", () => {
  // @contract followups.files.name: file_name replaces the name that the agent sees.
  it("come to the agent with the message, by the names that the follow-up gives them", async () => {
    const harness = await workingRun(plane);
    const [one, two] = [await uploaded(harness.run_id), await uploaded(harness.run_id)];
    const attachments = [{ attachment_id: one }, { attachment_id: two, file_name: "second.log" }];
    expect((await send(harness.run_id, { message: "see these", attachments })).status).toBe(200);
    const [followup] = (await harness.beat()).body.followups;
    expect(followup).toMatchObject({
      message: "see these",
      attachments: [
        { attachment_id: one, filename: "error.log", mime_type: "text/plain" },
        { attachment_id: two, filename: "second.log" },
      ],
    });
    plane.files.files.delete(`attachments/${one}`);
    expect(await plane.download(followup.attachments[0].download_url), "the run has a copy").toBe(content);
    const { followups } = (await user.get(`/agent/runs/${harness.run_id}/followups`)).body;
    expect(followups[0].attachments).toEqual([
      { attachment_id: one, file_name: "error.log" },
      { attachment_id: two, file_name: "second.log" },
    ]);
  });

  // @contract followups.message.files: The message may be absent when there are attachments.
  it("need no message, also where the run has ended and a new execution continues it", async () => {
    const harness = await workingRun(plane);
    const attachments = [{ attachment_id: await uploaded(harness.run_id) }];
    expect((await send(harness.run_id, { attachments })).status).toBe(200);
    expect((await send(harness.run_id, { message: "", attachments })).status).toBe(200);
    expect(await send(harness.run_id, { message: "", attachments: [] })).toMatchObject({ status: 400 });
    await harness.beat(2);
    await harness.finish();
    const handoff = await send(harness.run_id, { message: "", attachments });
    expect(handoff.body).toMatchObject({ outcome: "handoff_execution" });
    const { context } = (await (await nextExecution(plane)).resolve()).body;
    expect(context.followups).toMatchObject([{ number: 3, message: "", attachments: [{ filename: "error.log" }] }]);
  });

  it("are not needed by an ended run, which then continues where it stopped", async () => {
    const harness = await workingRun(plane);
    await harness.finish();
    expect((await send(harness.run_id, { message: "" })).status).toBe(200);
    const { context } = (await (await nextExecution(plane)).resolve()).body;
    expect(context.followups).toMatchObject([{ message: CONTINUE_MESSAGE }]);
    expect(context.followups[0]).not.toHaveProperty("attachments");
  });

  // @contract followups.files.principal: An attachment that another principal uploaded for any run is 422.
  it("may be prepared by anybody who sends to the run, or uploaded by the sender for any run", async () => {
    const run = await createRun(plane);
    const mia = createClient(plane, (await plane.person("Mia")).key);
    const prepared = await uploaded(run);
    expect((await send(run, { attachments: [{ attachment_id: prepared }] }, mia)).status).toBe(200);
    const described = { file_name: "own.txt", mime_type: "text/plain", size_bytes: 3, sha256: "2".repeat(64) };
    const { body } = await mia.post("/agent/attachments", described);
    await plane.upload(body.upload.url, "own");
    const attachments = [{ attachment_id: body.attachment_id }];
    expect((await send(run, { attachments }, mia)).status).toBe(200);
    expect(await send(run, { attachments }), "of another person").toMatchObject(refusal(0));
  });

  // @contract followups.files.run: An attachment that was prepared for another run is 422.
  // @contract followups.files.uploaded: An attachment that is not uploaded is 422 naming its path.
  // @contract followups.files.path: The refusal names the path of the attachment.
  // @contract followups.files.limit: Without size_bytes, an attachment over 100 MiB is 422 at delivery.
  it("are 422 that names the one that is unknown, for another run, not uploaded, of another size, or too old", async () => {
    const run = await createRun(plane);
    const good = await uploaded(run);
    const refuse = async (id: string) => {
      const before = structuredClone(plane.table.all());
      const attachments = [{ attachment_id: good }, { attachment_id: id }];
      expect(await send(run, { message: "more", attachments })).toMatchObject(refusal(1));
      expect(plane.table.all()).toEqual(before);
    };
    await refuse("none");
    await refuse("0199e0b2-0000-4000-8000-000000000000");
    await refuse(await uploaded(await createRun(plane)));
    await refuse((await prepare(run)).body.attachments[0].attachment_id);
    await refuse(await uploaded(run, "less"));
    await refuse(
      await uploaded(run, Buffer.alloc(100 * 1024 * 1024 + 1), { filename: "big", mime_type: "text/plain" }),
    );
    plane.clock.now += DAY_MS + 1;
    expect(await send(run, { attachments: [{ attachment_id: good }] })).toMatchObject(refusal(0));
  });

  it("cannot be given to a new run, if they were prepared for another", async () => {
    const run = await createRun(plane);
    const attachments = [{ attachment_id: await uploaded(run) }];
    const response = await user.post("/agent/runs", { prompt: "read", attachments });
    expect(response).toMatchObject({ status: 400, body: { errors: [{ path: "attachments[0].attachment_id" }] } });
  });

  it("are stored once for a repeated request, also after the upload has expired", async () => {
    const run = await createRun(plane);
    const attachments = [{ attachment_id: await uploaded(run) }];
    const headers = { "idempotency-key": "k" };
    const repeat = () => user.post(`/agent/runs/${run}/followups`, { attachments }, { headers });
    const first = await repeat();
    plane.clock.now += DAY_MS - 1;
    plane.files.files.delete(`attachments/${attachments[0]?.attachment_id}`);
    expect((await repeat()).body).toEqual(first.body);
  });
});

describe("POST /agent/runs/{runId}/attachments/download", () => {
  // @contract followups.files.download: Attachments of a run are downloaded by their ids.
  it("returns URLs of what the run began with, what came with follow-ups, and what is prepared for them", async () => {
    const data = Buffer.from("note").toString("base64");
    const inline = { file_name: "note.txt", mime_type: "text/plain", data };
    const run = await createRun(plane, { prompt: "read", attachments: [inline] });
    const began = (await plane.ports.runs.body(run)).attachments[0]?.attachment_id;
    const sent = await uploaded(run);
    await send(run, { attachments: [{ attachment_id: sent }] });
    const prepared = await uploaded(run, "third one, 16 by");
    plane.files.files.delete(`attachments/${sent}`);
    const attachment_ids = [prepared, sent, began];
    const { body } = await user.post(`/agent/runs/${run}/attachments/download`, { attachment_ids });
    expect(body.attachments.map((one: { attachment_id: string }) => one.attachment_id)).toEqual(attachment_ids);
    const texts = body.attachments.map((one: { download_url: string }) => plane.download(one.download_url));
    expect(await Promise.all(texts)).toEqual(["third one, 16 by", content, "note"]);
  });

  it("is 404 for an attachment of another run, and for one that is not uploaded", async () => {
    const run = await createRun(plane);
    const other = await uploaded(await createRun(plane));
    const empty = (await prepare(run)).body.attachments[0].attachment_id;
    for (const id of [other, empty, "none"]) {
      const response = await user.post(`/agent/runs/${run}/attachments/download`, { attachment_ids: [id] });
      expect(response).toMatchObject({ status: 404, body: { error_code: "resource_not_found" } });
    }
  });
});
