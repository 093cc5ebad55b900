import { createHash } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { keys } from "#shared/table/keys.ts";
import type { TransactionWrite } from "#shared/table/table.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { type Harness, nextExecution, workingRun } from "../../support/execution.ts";
import { withWriteInBetween } from "../../support/write-conflicts.ts";

let plane: TestControlPlane;
let user: Client;
let harness: Harness;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
  harness = await workingRun(plane);
});

const toFile = (content: string, filename = "w.tar") => ({
  filename,
  mime_type: "application/x-tar",
  size_bytes: content.length,
  sha256: createHash("sha256").update(content).digest("hex"),
});
/** Prepares the upload of a snapshot, of which `uploaded` arrives. */
async function upload(by: Harness, generation: string, content: string, uploaded = content): Promise<void> {
  const { body } = await by.support("upload-snapshot", { mode: "checkpoint", generation, files: [toFile(content)] });
  await plane.upload(body.uploads[0].url, uploaded);
}
const commit = (by: Harness, generation: string) => by.support("commit-snapshot", { generation, files: ["w.tar"] });
const readHead = () => plane.table.get(keys.head(harness.run_id));

/** The execution that follows when this one expires, and what it continues from. */
async function next(lost: Harness) {
  await lost.shutDown();
  const following = await nextExecution(plane);
  return { following, context: (await following.resolve()).body.context };
}

describe("a checkpoint", () => {
  it("of an execution replaces an earlier execution's checkpoint of the same name", async () => {
    await upload(harness, "turn-1", "old");
    await commit(harness, "turn-1");
    const { following } = await next(harness);
    await upload(following, "turn-1", "newer");
    expect((await commit(following, "turn-1")).status).toBe(200);
    const { context } = await next(following);
    expect(context.checkpoint.files).toMatchObject([{ filename: "w.tar", size_bytes: 5 }]);
    expect(await plane.download(context.checkpoint.files[0].download_url)).toBe("newer");
  });

  it("is refused until its files are uploaded in full", async () => {
    await upload(harness, "turn-1", "whole", "who");
    expect(await commit(harness, "turn-1")).toMatchObject({
      status: 409,
      body: { error_code: "conflict", retryable: false, detail: expect.stringContaining("w.tar") },
    });
    expect(await readHead()).not.toHaveProperty("checkpoint");
  });

  it("resets the count of losses and restarts", async () => {
    const set = { losses: 2, restarts: 5 };
    await plane.table.write({ kind: "update", key: keys.head(harness.run_id), set });
    await upload(harness, "turn-1", "w");
    await commit(harness, "turn-1");
    const head = await readHead();
    expect(head).toMatchObject({ losses: 0 });
    expect(head).not.toHaveProperty("restarts");
  });

  it("has the follow-ups that were stored when its snapshot was created, so that later ones are delivered again", async () => {
    for (const message of ["one", "two"]) await user.post(`/agent/runs/${harness.run_id}/followups`, { message });
    await harness.beat(1);
    await upload(harness, "turn-1", "w");
    await harness.beat(2);
    await commit(harness, "turn-1");
    const { context } = await next(harness);
    expect(context.followups).toMatchObject([{ number: 2, message: "two" }]);
  });

  it("keeps earlier messages discarded", async () => {
    await harness.messages(1, "lost");
    const { following } = await next(harness);
    await following.messages(2, "kept");
    await upload(following, "turn-1", "w");
    await commit(following, "turn-1");
    const { context } = await next(following);
    expect(context).toMatchObject({ own_messages: 1, next_sequence: 3, messages: [{ content: [{ text: "kept" }] }] });
  });
});

describe("the snapshots of a run", () => {
  const storesSnapshot = (write: TransactionWrite) => write.kind === "update" && write.set?.["snapshots"] !== undefined;
  const request = (generation: string, content: string) =>
    harness.support("upload-snapshot", { mode: "checkpoint", generation, files: [toFile(content)] });

  it("are each counted when they are created concurrently", async () => {
    for (const [generation, other] of [
      ["a", "b"],
      ["c", "d"],
    ] as const) {
      const create = () => request(generation, "one");
      const response = await withWriteInBetween(plane, storesSnapshot, () => request(other, "two"), create);
      expect(response.status).toBe(200);
    }
    expect(await readHead()).toMatchObject({ snapshots: 4 });
  });

  it("with the same name and other files are refused, also concurrently", async () => {
    const conflict = { status: 409, body: { error_code: "conflict", retryable: false } };
    const first = () => request("a", "one");
    expect(await withWriteInBetween(plane, storesSnapshot, first, () => request("a", "two"))).toMatchObject(conflict);
    expect(await request("a", "two")).toMatchObject(conflict);
    expect((await first()).status, "the same one").toBe(200);
    expect(await readHead()).toMatchObject({ snapshots: 1 });
  });

  it("are listed at its end if they were uploaded in full", async () => {
    const files = [toFile("whole", "a"), toFile("whole", "b"), toFile("whole", "c")];
    const { body } = await harness.support("upload-snapshot", { files });
    await plane.upload(body.uploads[0].url, "whole");
    await plane.upload(body.uploads[1].url, "who");
    await harness.finish();
    const { attachments } = (await user.get(`/agent/runs/${harness.run_id}/handoff/attachments`)).body;
    expect(attachments.map(({ filename }: { filename: string }) => filename)).toEqual(["a"]);
  });
});
