import { createHash } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import type { TransactionWrite } from "#shared/table/table.ts";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { deliver, type Harness, nextExecution, workingRun } from "../../support/execution.ts";
import { withWriteInBetween } from "../../support/write-conflicts.ts";

let plane: TestControlPlane;
beforeEach(async () => {
  plane = await createTestControlPlane();
});

const described = (text: string) => ({
  size_bytes: text.length,
  sha256: createHash("sha256").update(text).digest("hex"),
});
const declare = (harness: Harness, format = "claude") => harness.support("external-conversation", { format });
const place = (harness: Harness, text?: string, conversation_id = harness.run_id) =>
  harness.support("transcript", { conversation_id, ...(text === undefined ? {} : described(text)) });
const getTranscript = ({ client }: Harness) => client.get("/harness-support/transcript");

/** Stores a raw transcript, as our own harness does. */
async function stored(harness: Harness, text: string): Promise<void> {
  const { body } = await place(harness, text);
  await plane.upload(body.url, text);
  expect((await place(harness, text)).status).toBe(200);
}

/** Downloads the target of a redirect. */
const followRedirect = async ({ headers }: { headers: Readonly<Record<string, string>> }) =>
  plane.download(headers["location"] ?? "");

describe("POST /harness-support/external-conversation", () => {
  it("returns the run's conversation, and a second call changes nothing", async () => {
    const harness = await workingRun(plane);
    expect(await declare(harness)).toMatchObject({ status: 200, body: { conversation_id: harness.run_id } });
    const before = structuredClone(plane.table.all());
    plane.clock.now += 1_000;
    expect(await declare(harness)).toMatchObject({ status: 200, body: { conversation_id: harness.run_id } });
    expect(plane.table.all()).toEqual(before);
  });

  it("returns 400 and stores nothing for an invalid format", async () => {
    const harness = await workingRun(plane);
    const before = structuredClone(plane.table.all());
    for (const format of ["", "a b", "-a", "x".repeat(65), 7]) {
      const response = await harness.support("external-conversation", { format });
      expect(response).toMatchObject({ status: 400, body: { errors: [{ path: "format" }] } });
    }
    expect(plane.table.all()).toEqual(before);
  });
});

describe("POST /harness-support/transcript", () => {
  it("is invisible until it is committed; then the run and the execution redirect to it", async () => {
    const harness = await workingRun(plane);
    await declare(harness);
    expect(await getTranscript(harness)).toMatchObject({ status: 404, body: { error_code: "resource_not_found" } });
    const { body: target } = await place(harness, "one\n");
    expect(target).toMatchObject({ method: "PUT", headers: { "content-length": "4" } });
    expect(target.url).toContain(harness.execution_id);
    await plane.upload(target.url, "one\n");
    expect((await getTranscript(harness)).status, "uploaded but not committed").toBe(404);
    expect((await place(harness, "one\n")).body).toEqual(target);
    const found = await getTranscript(harness);
    expect(found.status).toBe(302);
    expect(await followRedirect(found)).toBe("one\n");
    const ofRun = await createClient(plane).get(`/agent/runs/${harness.run_id}/transcript`);
    expect(await followRedirect(ofRun)).toBe("one\n");
    const { body } = await harness.client.get("/harness-support/transcript?redirect=false");
    expect(await plane.download(body.download_url)).toBe("one\n");
    await stored(harness, "one\ntwo\n");
    expect(await followRedirect(await getTranscript(harness))).toBe("one\ntwo\n");
  });

  it("returns a form with a length limit if no length is given; the file is final at the run's end", async () => {
    const harness = await workingRun(plane);
    await declare(harness);
    const { body: target } = await place(harness);
    expect(target).toMatchObject({ method: "POST", fields: [{ name: "key" }, { value: { kind: "content_data" } }] });
    expect((await place(harness)).body, "the same target until something is uploaded").toEqual(target);
    await plane.upload(target.url, "raw\n");
    await harness.finish();
    await deliver(plane);
    plane.files.files.set(new URL(target.url).pathname.slice(1), Buffer.from("changed\n"));
    expect(await followRedirect(await createClient(plane).get(`/agent/runs/${harness.run_id}/transcript`))).toBe(
      "raw\n",
    );
  });

  it("never shows the upload of an expired execution, and the next one gets the last commit", async () => {
    const first = await workingRun(plane);
    await declare(first);
    await stored(first, "kept\n");
    const { body: late } = await place(first, "late\n");
    await first.shutDown({ error: { category: "crash", message: "gone" } });
    await plane.upload(late.url, "late\n");
    expect((await place(first, "late\n")).status).toBe(401);
    const second = await nextExecution(plane);
    await second.resolve();
    expect(await followRedirect(await getTranscript(second))).toBe("kept\n");
    await stored(second, "kept\nand more\n");
    expect(await followRedirect(await getTranscript(second))).toBe("kept\nand more\n");
  });

  it("is not shown to another harness of the execution", async () => {
    const harness = await workingRun(plane);
    await declare(harness);
    await stored(harness, "one\n");
    const headers = { "runyard-instance": "another" };
    const response = await harness.client.get("/harness-support/transcript", { headers });
    expect(response).toMatchObject({ status: 409, body: { error_code: "conflict" } });
  });

  it("is not shown before it is uploaded in full", async () => {
    const harness = await workingRun(plane);
    await declare(harness);
    const { body } = await place(harness, "one\ntwo\n");
    await plane.upload(body.url, "one\n");
    await place(harness, "one\ntwo\n");
    expect((await getTranscript(harness)).status).toBe(404);
  });

  it("is not shown for an expired execution, even after a later one finishes", async () => {
    const first = await workingRun(plane);
    await declare(first);
    const { body: late } = await place(first, "late\n");
    await plane.upload(late.url, "late\n");
    await first.shutDown();
    const second = await nextExecution(plane);
    await second.resolve();
    expect((await second.finish()).status).toBe(200);
    await deliver(plane);
    const transcript = await createClient(plane).get(`/agent/runs/${first.run_id}/transcript`);
    expect(await followRedirect(transcript)).not.toBe("late\n");
  });

  it("has a separate target for each of two concurrent uploads", async () => {
    const harness = await workingRun(plane);
    await declare(harness);
    const storesUpload = (write: TransactionWrite) => write.kind === "put" && write.item.sk === "RAW";
    const urls = new Set<string>();
    const create = async (text: string) => urls.add((await place(harness, text)).body.url);
    await withWriteInBetween(
      plane,
      storesUpload,
      () => create("one\n"),
      () => create("two\n"),
    );
    expect(urls.size).toBe(2);
    expect(await plane.ports.runs.head(harness.run_id)).toMatchObject({ transcripts: 2 });
  });

  it("has a separate target for each upload without a description, also after a change of format", async () => {
    const harness = await workingRun(plane);
    const urls = new Set<string>();
    for (const format of ["claude", "claude", "codex"]) {
      await declare(harness, format);
      const { body } = await place(harness);
      urls.add(`${body.url}`);
      await plane.upload(body.url, `${format} ${urls.size}\n`);
    }
    expect(urls.size).toBe(3);
    await harness.finish();
    await deliver(plane);
    const transcript = await createClient(plane).get(`/agent/runs/${harness.run_id}/transcript`);
    expect(await followRedirect(transcript)).toBe("codex 3\n");
  });

  it("belongs to the conversation: a run that continues it redirects to it too", async () => {
    const first = await workingRun(plane);
    await declare(first);
    await stored(first, "said\n");
    await first.finish();
    const next = await workingRun(plane, { prompt: "go on", conversation_id: first.run_id });
    expect(await followRedirect(await getTranscript(next))).toBe("said\n");
    expect((await place(next, "x", next.run_id)).status, "a conversation has the id of its first run").toBe(404);
  });

  it("returns 400 for a conversation of the default harness, and 404 for another run's", async () => {
    const harness = await workingRun(plane);
    expect(await getTranscript(harness)).toMatchObject({ status: 400, body: { error_code: "invalid_request" } });
    expect(await place(harness, "x")).toMatchObject({ status: 400, body: { errors: [{ path: "conversation_id" }] } });
    const other = await workingRun(plane);
    await declare(harness);
    for (const id of [other.run_id, "none"]) expect((await place(harness, "x", id)).status).toBe(404);
  });

  it("returns 400 for an incomplete description, and for a file above the limit", async () => {
    const harness = await workingRun(plane);
    await declare(harness);
    const conversation_id = harness.run_id;
    const { size_bytes, sha256 } = described("x");
    for (const [body, path] of [
      [{ size_bytes }, "sha256"],
      [{ sha256 }, "size_bytes"],
      [{ size_bytes: 67_108_865, sha256 }, "size_bytes"],
      [{ size_bytes: 0, sha256 }, "size_bytes"],
    ] as const) {
      const response = await harness.support("transcript", { conversation_id, ...body });
      expect(response).toMatchObject({ status: 400, body: { errors: [{ path }] } });
    }
  });

  it("needs no declaration if the run's configuration names a third-party harness", async () => {
    const harness = await withModels(() => workingRun(plane, { prompt: "a", config: { harness: { type: "codex" } } }));
    expect((await getTranscript(harness)).status).toBe(404);
    await stored(harness, "said\n");
    expect(await followRedirect(await getTranscript(harness))).toBe("said\n");
  });
});

describe("a conversation in a third-party harness's own format", () => {
  // @contract runs.conversation.other: A conversation in the format of another harness is 422.
  it("returns 422 if the service has no messages of it, and returns them otherwise", async () => {
    const harness = await workingRun(plane);
    const user = createClient(plane);
    const paths = [`/agent/runs/${harness.run_id}/conversation`, `/agent/conversations/${harness.run_id}`];
    for (const path of paths) expect((await user.get(path)).status).toBe(200);
    await declare(harness);
    for (const path of paths) {
      expect(await user.get(path)).toMatchObject({ status: 422, body: { error_code: "operation_not_supported" } });
    }
    await harness.messages(1, "hello");
    for (const path of paths) expect((await user.get(path)).status).toBe(200);
  });
});

async function withModels<T>(work: () => Promise<T>): Promise<T> {
  process.env["MODEL_PROVIDERS"] = "openai";
  try {
    return await work();
  } finally {
    delete process.env["MODEL_PROVIDERS"];
  }
}
