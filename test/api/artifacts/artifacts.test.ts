import { createHash, randomUUID } from "node:crypto";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { deriveUuid } from "#shared/ids.ts";
import { keys } from "#shared/table/keys.ts";
import { memoryTable } from "#shared/table/memory-table.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createRun, deliver, type Harness, nextExecution, workingRun } from "../../support/execution.ts";

let plane: TestControlPlane;
let user: Client;
let harness: Harness;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
  harness = await workingRun(plane);
});

const report = (artifact_type: string, data: object, by: Harness = harness) =>
  by.support("report-artifact", { artifact_type, data });
const shown = async () => (await user.get(`/agent/runs/${harness.run_id}`)).body;
const listEvents = async () =>
  (await user.get(`/agent/runs/${harness.run_id}/events?after=0`)).body.events.filter(
    ({ type }: { type: string }) => type === "artifact_created",
  );
const found = async (type: string): Promise<string[]> =>
  (await user.get(`/agent/runs?artifact_type=${type}`)).body.runs.map(({ run_id }: { run_id: string }) => run_id);

const PLAN = { document_uid: "plan-1", title: "Fix the test", content: "# Fix\n1. Reproduce it\n" };
const PULL_REQUEST = { url: "https://github.com/acme/things/pull/7", branch: "fix-the-test" };
const REFERENCE = {
  reference_type: "issue",
  url: "https://tracker.test/T-1",
  title: "The test is flaky",
  metadata: { key: "T-1" },
};
const PIXEL = Buffer.from("89504e470d0a1a0a", "hex");
const SCREENSHOT = {
  mime_type: "image/png",
  size_bytes: PIXEL.length,
  sha256: createHash("sha256").update(PIXEL).digest("hex"),
  description: "The page after the change",
};

describe("a PLAN", () => {
  // @contract runs.artifact.plan: A PLAN has document_uid and its content in the response.
  it("is returned with its run, and with its content by its uid", async () => {
    const { status, body } = await report("PLAN", PLAN);
    expect({ status, body }).toEqual({ status: 200, body: { artifact_uid: expect.any(String) } });
    const { document_uid, title, content } = PLAN;
    const created_at = "2026-05-18T19:00:00.000Z";
    expect((await shown()).artifacts).toEqual([
      { artifact_type: "PLAN", created_at, data: { document_uid, artifact_uid: body.artifact_uid, title } },
    ]);
    expect((await user.get(`/agent/artifacts/${body.artifact_uid}`)).body).toEqual({
      artifact_uid: body.artifact_uid,
      artifact_type: "PLAN",
      created_at,
      data: { document_uid, notebook_uid: document_uid, title, content, content_type: "text/markdown" },
    });
    expect(await found("PLAN")).toEqual([harness.run_id]);
    expect(await found("FILE")).toEqual([]);
  });

  // @contract runs.artifact.plan
  it("has its latest content: a new report replaces it, and an unchanged report has no effect", async () => {
    const first = (await report("PLAN", PLAN)).body.artifact_uid;
    const { updated_at } = await shown();
    plane.clock.now += 1_000;
    expect((await report("PLAN", PLAN)).body.artifact_uid).toBe(first);
    expect((await shown()).updated_at, "nothing has changed").toBe(updated_at);
    const long = `# Fix\n${"x".repeat(200_000)}\n`;
    expect((await report("PLAN", { ...PLAN, content: long })).body.artifact_uid).toBe(first);
    expect((await user.get(`/agent/artifacts/${first}`)).body.data.content).toBe(long);
    expect((await shown()).artifacts).toHaveLength(1);
    expect((await shown()).updated_at).not.toBe(updated_at);
    expect(await listEvents()).toHaveLength(2);
    expect(JSON.stringify(plane.table.all()), "contents are stored in the bucket").not.toContain("Reproduce it");
  });

  it("continues under its document_uid in the run's next execution", async () => {
    const first = (await report("PLAN", PLAN)).body.artifact_uid;
    await harness.finish();
    await user.post(`/agent/runs/${harness.run_id}/followups`, { message: "go on" });
    const second = await nextExecution(plane);
    await second.resolve();
    expect((await report("PLAN", { ...PLAN, content: "# Done" }, second)).body.artifact_uid).toBe(first);
    expect((await user.get(`/agent/artifacts/${first}`)).body.data.content).toBe("# Done");
  });

  it("has an id that is derived from its run and its document, or else from its title and content", async () => {
    const { run_id } = harness;
    const digest = createHash("sha256").update(PLAN.content).digest("hex");
    const { document_uid: _, title: __, ...bare } = PLAN;
    const uidOf = async (data: object) => (await report("PLAN", data)).body.artifact_uid;
    expect(await uidOf(PLAN)).toBe(deriveUuid(run_id, "PLAN", "plan-1"));
    const derived = (title: string) => deriveUuid(run_id, "PLAN", deriveUuid(run_id, "document", title, digest));
    expect(await uidOf(bare)).toBe(derived(""));
    expect(await uidOf({ ...bare, title: "A plan" })).toBe(derived("A plan"));
  });

  it("without a document_uid is the same artifact if its content is the same", async () => {
    const { document_uid: _, ...plan } = PLAN;
    const uids = [plan, plan, { ...plan, content: "another" }].map(async (data) => (await report("PLAN", data)).body);
    const [one, same, other] = (await Promise.all(uids)).map(({ artifact_uid }) => artifact_uid);
    expect(same).toBe(one);
    expect(other).not.toBe(one);
    expect((await shown()).artifacts).toHaveLength(2);
  });
});

describe("the other members of a PLAN", () => {
  const FULL = { ...PLAN, notebook_uid: "notebook-1", url: "https://docs.test/plan" };

  it("are returned with it", async () => {
    const { body } = await report("PLAN", FULL);
    const { content, ...rest } = FULL;
    expect((await user.get(`/agent/artifacts/${body.artifact_uid}`)).body.data).toEqual({
      ...rest,
      content,
      content_type: "text/markdown",
    });
  });

  it.each([{ notebook_uid: "notebook-2" }, { title: "Another" }, { url: "https://docs.test/another" }])(
    "create a new version of the same artifact when one changes: %j",
    async (change) => {
      const first = (await report("PLAN", FULL)).body.artifact_uid;
      plane.clock.now += 1_000;
      expect((await report("PLAN", { ...FULL, ...change })).body.artifact_uid).toBe(first);
      expect((await user.get(`/agent/artifacts/${first}`)).body).toMatchObject({
        created_at: "2026-05-18T19:00:00.000Z",
        data: change,
      });
      expect(await listEvents()).toHaveLength(2);
      expect((await shown()).artifacts).toHaveLength(1);
    },
  );
});

describe("a link artifact", () => {
  // @contract runs.artifact.pull-unknown: The status of a pull request without one is unknown.
  // @contract runs.artifact.no-body: A PULL_REQUEST and an EXTERNAL_REFERENCE have no body: 404.
  it.each([
    ["PULL_REQUEST", PULL_REQUEST, { ...PULL_REQUEST, status: "unknown" }],
    ["EXTERNAL_REFERENCE", REFERENCE, REFERENCE],
  ])("is returned with its run as a %s, and has no content of its own", async (type, sent, data) => {
    const { status, body } = await report(type, sent);
    expect(status).toBe(200);
    expect(body.upload).toBeUndefined();
    expect((await shown()).artifacts).toEqual([{ artifact_type: type, created_at: "2026-05-18T19:00:00.000Z", data }]);
    const response = await user.get(`/agent/artifacts/${body.artifact_uid}`);
    expect(response).toMatchObject({ status: 404, body: { error_code: "resource_not_found" } });
    expect(await found(type)).toEqual([harness.run_id]);
    expect(await listEvents()).toMatchObject([{ data: { artifact_uid: body.artifact_uid, artifact_type: type } }]);
  });

  // @contract runs.artifact.pull-status: PULL_REQUEST data has the status.
  it("has the status of its latest report that names one, if it is a pull request", async () => {
    const first = await report("PULL_REQUEST", { ...PULL_REQUEST, status: "draft" });
    const [{ created_at }] = (await shown()).artifacts;
    for (const [sent, status] of [
      [{}, "draft"],
      [{ status: "draft" }, "draft"],
      [{ status: "open" }, "open"],
      [{ status: "merged" }, "merged"],
      [{}, "merged"],
    ] as const) {
      plane.clock.now += 1_000;
      expect((await report("PULL_REQUEST", { ...PULL_REQUEST, ...sent })).body).toEqual(first.body);
      expect((await shown()).artifacts).toEqual([
        { artifact_type: "PULL_REQUEST", created_at, data: { ...PULL_REQUEST, status } },
      ]);
    }
    expect(await listEvents(), "one for each status").toHaveLength(3);
    expect((await report("PULL_REQUEST", { ...PULL_REQUEST, status: "gone" })).status).toBe(400);
  });

  it("is one artifact even if it is reported repeatedly, concurrently or by another execution", async () => {
    const responses = await Promise.all([1, 2, 3].map(() => report("PULL_REQUEST", PULL_REQUEST)));
    await harness.finish();
    await user.post(`/agent/runs/${harness.run_id}/followups`, { message: "go on" });
    const second = await nextExecution(plane);
    await second.resolve();
    responses.push(await report("PULL_REQUEST", PULL_REQUEST, second));
    expect(new Set(responses.map(({ body }) => body.artifact_uid)).size).toBe(1);
    expect((await shown()).artifacts).toHaveLength(1);
    expect(await listEvents()).toHaveLength(1);
  });

  it.each([
    "http://github.com/acme/things/pull/7",
    "javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "https://ada:secret@github.com/",
    "https:github.com/acme",
    "https:///acme",
    "https://github.com\\@evil.test/",
    "https://git hub.com/",
    "",
  ])("rejects the address %j", async (url) => {
    const before = structuredClone(plane.table.all());
    for (const [type, data] of [
      ["PULL_REQUEST", { ...PULL_REQUEST, url }],
      ["EXTERNAL_REFERENCE", { ...REFERENCE, url }],
      ["PLAN", { ...PLAN, url }],
    ] as const) {
      const response = await report(type, data);
      expect(response, type).toMatchObject({ status: 400, body: { errors: [{ path: "data.url" }] } });
    }
    expect(plane.table.all()).toEqual(before);
  });
});

describe("a FILE", () => {
  const git = { path: "shop", base_commit: "a".repeat(40), commits: 1, files_changed: 2, insertions: 3, deletions: 4 };
  const bare = {
    filepath: "out/shop.patch",
    filename: "shop.patch",
    mime_type: "text/x-patch",
    size_bytes: PIXEL.length,
    sha256: SCREENSHOT.sha256,
  };

  it.each([
    ["all its members", { title: "Changes", description: "What the run changed", git }],
    ["its required members only", {}],
  ])("is returned with %s after its upload, and returns 404 before", async (_, more) => {
    const { body: placed } = await report("FILE", { ...bare, ...more });
    const read = () => user.get(`/agent/artifacts/${placed.artifact_uid}`);
    expect(await read()).toMatchObject({ status: 404, body: { detail: "there is no such artifact" } });
    await plane.upload(placed.upload.url, PIXEL);
    expect((await report("FILE", { ...bare, ...more })).body).toEqual({ artifact_uid: placed.artifact_uid });
    const { filepath, filename, mime_type, size_bytes } = bare;
    expect((await read()).body.data).toEqual({
      ...more,
      download_url: expect.stringMatching(/^https:/),
      expires_at: expect.stringMatching(/Z$/),
      content_type: mime_type,
      filepath,
      filename,
      size_bytes,
    });
  });
});

describe("a SCREENSHOT", () => {
  // @contract runs.artifact.screenshot: A SCREENSHOT has a download_url and its media type.
  it("is uploaded like a file, and downloads with its type", async () => {
    const { body: placed } = await report("SCREENSHOT", SCREENSHOT);
    expect((await shown()).artifacts, "it is invisible until it is uploaded").toEqual([]);
    await plane.upload(placed.upload.url, PIXEL);
    expect((await report("SCREENSHOT", SCREENSHOT)).body).toEqual({ artifact_uid: placed.artifact_uid });
    const { mime_type, description } = SCREENSHOT;
    expect((await shown()).artifacts).toEqual([
      {
        artifact_type: "SCREENSHOT",
        created_at: "2026-05-18T19:00:00.000Z",
        data: { artifact_uid: placed.artifact_uid, mime_type, description },
      },
    ]);
    const downloadUrl = vi.spyOn(plane.ports.files, "downloadUrl");
    const { body } = await user.get(`/agent/artifacts/${placed.artifact_uid}`);
    expect(downloadUrl.mock.calls).toEqual([
      [expect.any(String), { filename: "screenshot.png", contentType: "image/png" }],
    ]);
    expect(body).toEqual({
      artifact_uid: placed.artifact_uid,
      artifact_type: "SCREENSHOT",
      created_at: "2026-05-18T19:00:00.000Z",
      data: {
        download_url: expect.stringMatching(/^https:/),
        expires_at: expect.stringMatching(/Z$/),
        content_type: "image/png",
        description,
      },
    });
    expect(await plane.download(body.data.download_url)).toBe(PIXEL.toString());
    expect(await found("SCREENSHOT")).toEqual([harness.run_id]);
  });

  it("downloads under a name with the subtype of its media type, without a suffix", async () => {
    const downloadUrl = vi.spyOn(plane.ports.files, "downloadUrl");
    const { description: _, ...bare } = SCREENSHOT;
    const { body: placed } = await report("SCREENSHOT", { ...bare, mime_type: "image/svg+xml" });
    await plane.upload(placed.upload.url, PIXEL);
    await harness.finish();
    const { body } = await user.get(`/agent/artifacts/${placed.artifact_uid}`);
    expect(Object.keys(body.data).sort()).toEqual(["content_type", "download_url", "expires_at"]);
    expect(downloadUrl.mock.calls[0]?.[1]).toEqual({ filename: "screenshot.svg", contentType: "image/svg+xml" });
  });

  it("is not placed if the table fails, and placed once by concurrent reports", async () => {
    const { transact } = plane.table;
    const spy = vi.spyOn(plane.ports.table, "transact").mockRejectedValueOnce(new Error("the table is unavailable"));
    expect((await report("SCREENSHOT", SCREENSHOT)).status).toBe(500);
    const place = () => report("SCREENSHOT", SCREENSHOT);
    spy.mockImplementationOnce(async (writes) => {
      expect((await place()).status).toBe(200);
      return transact(writes);
    });
    expect((await place()).body).toHaveProperty("upload");
    expect(await plane.table.get(keys.head(harness.run_id))).toMatchObject({
      placed_artifacts: 1,
      placed_bytes: PIXEL.length,
    });
  });

  it("becomes visible at the end of its run if it was uploaded and not reported again", async () => {
    const { body: placed } = await report("SCREENSHOT", SCREENSHOT);
    await plane.upload(placed.upload.url, PIXEL);
    await harness.finish();
    expect((await shown()).artifacts).toHaveLength(1);
  });

  it("stays invisible at the end of its run if its upload has another size, or another execution placed it", async () => {
    const { body: placed } = await report("SCREENSHOT", SCREENSHOT);
    await plane.upload(placed.upload.url, PIXEL.subarray(1));
    expect((await report("SCREENSHOT", SCREENSHOT)).body, "it can still be uploaded").toHaveProperty("upload");
    const other = { ...SCREENSHOT, sha256: "0".repeat(64) };
    const { body: left } = await report("SCREENSHOT", other);
    await harness.finish();
    await plane.upload(left.upload.url, PIXEL);
    await user.post(`/agent/runs/${harness.run_id}/followups`, { message: "go on" });
    const second = await nextExecution(plane);
    await second.resolve();
    await second.finish();
    expect((await shown()).artifacts).toEqual([]);
  });

  it("is a different artifact with another digest, size or type", async () => {
    const uids = new Set<string>();
    for (const change of [{}, { sha256: "0".repeat(64) }, { size_bytes: 1 }, { mime_type: "image/gif" }]) {
      uids.add((await report("SCREENSHOT", { ...SCREENSHOT, ...change })).body.artifact_uid);
    }
    expect(uids.size).toBe(4);
    expect((await report("SCREENSHOT", { ...SCREENSHOT, description: "another" })).body.artifact_uid).toBe(
      [...uids][0],
    );
  });

  it("must be an image", async () => {
    const response = await report("SCREENSHOT", { ...SCREENSHOT, mime_type: "text/html" });
    expect(response).toMatchObject({ status: 400, body: { errors: [{ path: "data.mime_type" }] } });
  });
});

describe("artifacts of every kind", () => {
  const kinds = { PLAN, PULL_REQUEST, EXTERNAL_REFERENCE: REFERENCE, SCREENSHOT };

  it.each(Object.entries(kinds))("are refused above 1,000 per run, and leave nothing: a %s", async (type, data) => {
    await plane.table.write({ kind: "update", key: keys.head(harness.run_id), set: { placed_artifacts: 1_000 } });
    const before = structuredClone(plane.table.all());
    const response = await report(type, data);
    expect(response).toMatchObject({ status: 429, body: { error_code: "resource_unavailable", retryable: false } });
    expect(plane.table.all()).toEqual(before);
    expect((await harness.finish()).status, "the run continues").toBe(200);
  });

  it.each(Object.entries(kinds))(
    "never exceed the run's limit, even if another artifact is added concurrently: a %s",
    async (type, data) => {
      let meanwhile: (() => Promise<unknown>) | undefined;
      plane = await createTestControlPlane(memoryTable(), async (call, perform) => {
        const work = call.startsWith("transact") ? meanwhile : undefined;
        if (work !== undefined) meanwhile = undefined;
        await work?.();
        return perform();
      });
      harness = await workingRun(plane);
      const set = (placed_artifacts: number) =>
        plane.table.write({ kind: "update", key: keys.head(harness.run_id), set: { placed_artifacts } });
      await set(999);
      meanwhile = () => set(1_000);
      expect((await report(type, data)).status).toBe(429);
      const head = await plane.table.get(keys.head(harness.run_id));
      expect(head).toMatchObject({ placed_artifacts: 1_000 });
      expect(head?.["artifacts"]).toBeUndefined();
    },
  );

  it.each([
    ["PLAN", PLAN, PLAN.content.length],
    ["SCREENSHOT", SCREENSHOT, PIXEL.length],
    ["PULL_REQUEST", PULL_REQUEST, 0],
  ])("are stored up to exactly 5 GiB, and refused above: a %s", async (type, data, bytes) => {
    const most = 5 * 1024 ** 3 - bytes;
    const set = (placed_bytes: number) =>
      plane.table.write({ kind: "update", key: keys.head(harness.run_id), set: { placed_bytes } });
    await set(most + 1);
    expect((await report(type, data)).status).toBe(429);
    await set(most);
    expect((await report(type, data)).status).toBe(200);
    expect(await plane.table.get(keys.head(harness.run_id))).toMatchObject({
      placed_artifacts: 1,
      placed_bytes: 5 * 1024 ** 3,
    });
  });

  it("count together, including each version of a plan", async () => {
    await report("PLAN", PLAN);
    await report("PLAN", { ...PLAN, content: "# Another" });
    await report("PULL_REQUEST", PULL_REQUEST);
    await report("SCREENSHOT", SCREENSHOT);
    const head = await plane.table.get(keys.head(harness.run_id));
    const bytes = PLAN.content.length + "# Another".length + PIXEL.length;
    expect(head).toMatchObject({ placed_artifacts: 4, placed_bytes: bytes, artifacts: 2 });
  });

  it.each(Object.entries(kinds))("are refused from an ended execution: a %s", async (type, data) => {
    await harness.finish();
    const before = structuredClone(plane.table.all());
    expect((await report(type, data)).status).toBe(401);
    expect(plane.table.all()).toEqual(before);
  });

  it.each(Object.entries(kinds))("of another team return 404: a %s", async (type, data) => {
    const { artifact_uid } = (await report(type, data)).body;
    const response = await createClient(plane, plane.otherKey).get(`/agent/artifacts/${artifact_uid}`);
    expect(response.status).toBe(404);
  });

  it("are in the transcript's events and in the response to the agent's final message", async () => {
    for (const [type, data] of Object.entries(kinds)) await report(type, data);
    await harness.finish();
    await deliver(plane);
    const { headers } = await user.get(`/agent/runs/${harness.run_id}/transcript`);
    const transcript = await plane.download(headers["location"] ?? "");
    for (const type of ["PLAN", "PULL_REQUEST", "EXTERNAL_REFERENCE"]) expect(transcript).toContain(`"${type}"`);
    const { body } = await user.get(`/agent/runs/${harness.run_id}/response`);
    expect(body.artifacts.map(({ artifact_type }: { artifact_type: string }) => artifact_type).toSorted()).toEqual([
      "EXTERNAL_REFERENCE",
      "PLAN",
      "PULL_REQUEST",
    ]);
  });

  it("make a run searchable by each of its artifact types", async () => {
    const other = await createRun(plane);
    for (const [type, data] of Object.entries(kinds)) await report(type, data);
    expect(await found("PLAN")).toEqual([harness.run_id]);
    expect(await found("SCREENSHOT"), "it is not uploaded").toEqual([]);
    expect(await found("EXTERNAL_REFERENCE")).not.toContain(other);
  });
});

it("return 404 for an artifact that does not exist or belongs to another team", async () => {
  const missing = { status: 404, body: { error_code: "resource_not_found", detail: "there is no such artifact" } };
  expect(await user.get(`/agent/artifacts/${randomUUID()}`)).toMatchObject(missing);
  const { artifact_uid } = (await report("PLAN", PLAN)).body;
  const bo = createClient(plane, plane.otherKey);
  expect(await bo.get(`/agent/artifacts/${artifact_uid}`)).toMatchObject(missing);
  const link = (await report("PULL_REQUEST", PULL_REQUEST)).body.artifact_uid;
  expect(await user.get(`/agent/artifacts/${link}`)).toMatchObject(missing);
});
