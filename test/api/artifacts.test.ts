import { createHash } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { keys } from "#shared/table/keys.ts";
import { memoryTable } from "#shared/table/memory-table.ts";
import { type Client, createClient } from "../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { createRun, deliver, type Harness, nextExecution, workingRun } from "../support/execution.ts";

let plane: TestControlPlane;
let ada: Client;
let harness: Harness;
beforeEach(async () => {
  plane = await createTestControlPlane();
  ada = createClient(plane);
  harness = await workingRun(plane);
});

const report = (artifact_type: string, data: object, by: Harness = harness) =>
  by.support("report-artifact", { artifact_type, data });
const shown = async () => (await ada.get(`/agent/runs/${harness.run_id}`)).body;
const listEvents = async () =>
  (await ada.get(`/agent/runs/${harness.run_id}/events?after=0`)).body.events.filter(
    ({ type }: { type: string }) => type === "artifact_created",
  );
const found = async (type: string): Promise<string[]> =>
  (await ada.get(`/agent/runs?artifact_type=${type}`)).body.runs.map(({ run_id }: { run_id: string }) => run_id);

const PLAN = { document_uid: "plan-1", title: "Mend the test", content: "# Mend\n1. Reproduce it\n" };
const PULL_REQUEST = { url: "https://github.com/acme/things/pull/7", branch: "mend-the-test" };
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
  it("is returned with its run, and with its content by its uid", async () => {
    const { status, body } = await report("PLAN", PLAN);
    expect({ status, body }).toEqual({ status: 200, body: { artifact_uid: expect.any(String) } });
    const { document_uid, title, content } = PLAN;
    const created_at = "2026-05-18T19:00:00.000Z";
    expect((await shown()).artifacts).toEqual([
      { artifact_type: "PLAN", created_at, data: { document_uid, artifact_uid: body.artifact_uid, title } },
    ]);
    expect((await ada.get(`/agent/artifacts/${body.artifact_uid}`)).body).toEqual({
      artifact_uid: body.artifact_uid,
      artifact_type: "PLAN",
      created_at,
      data: { document_uid, notebook_uid: document_uid, title, content, content_type: "text/markdown" },
    });
    expect(await found("PLAN")).toEqual([harness.run_id]);
    expect(await found("FILE")).toEqual([]);
  });

  it("has its current content: a new report replaces it, and an unchanged report has no effect", async () => {
    const first = (await report("PLAN", PLAN)).body.artifact_uid;
    const { updated_at } = await shown();
    plane.clock.now += 1_000;
    expect((await report("PLAN", PLAN)).body.artifact_uid).toBe(first);
    expect((await shown()).updated_at, "nothing has changed").toBe(updated_at);
    const long = `# Mend\n${"x".repeat(200_000)}\n`;
    expect((await report("PLAN", { ...PLAN, content: long })).body.artifact_uid).toBe(first);
    expect((await ada.get(`/agent/artifacts/${first}`)).body.data.content).toBe(long);
    expect((await shown()).artifacts).toHaveLength(1);
    expect((await shown()).updated_at).not.toBe(updated_at);
    expect(await listEvents()).toHaveLength(2);
    expect(JSON.stringify(plane.table.all()), "contents lie in the bucket").not.toContain("Reproduce it");
  });

  it("continues under its document_uid in the run's next execution", async () => {
    const first = (await report("PLAN", PLAN)).body.artifact_uid;
    await harness.finish();
    await ada.post(`/agent/runs/${harness.run_id}/followups`, { message: "go on" });
    const second = await nextExecution(plane);
    await second.resolve();
    expect((await report("PLAN", { ...PLAN, content: "# Done" }, second)).body.artifact_uid).toBe(first);
    expect((await ada.get(`/agent/artifacts/${first}`)).body.data.content).toBe("# Done");
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

describe("a link artifact", () => {
  it.each([
    ["PULL_REQUEST", PULL_REQUEST],
    ["EXTERNAL_REFERENCE", REFERENCE],
  ])("is returned with its run as a %s, and has no content of its own", async (type, data) => {
    const { status, body } = await report(type, data);
    expect(status).toBe(200);
    expect(body.upload).toBeUndefined();
    expect((await shown()).artifacts).toEqual([{ artifact_type: type, created_at: "2026-05-18T19:00:00.000Z", data }]);
    const answer = await ada.get(`/agent/artifacts/${body.artifact_uid}`);
    expect(answer).toMatchObject({ status: 404, body: { error_code: "resource_not_found" } });
    expect(await found(type)).toEqual([harness.run_id]);
    expect(await listEvents()).toMatchObject([{ data: { artifact_uid: body.artifact_uid, artifact_type: type } }]);
  });

  it("is one artifact however often it is reported, also concurrently and by another execution", async () => {
    const answers = await Promise.all([1, 2, 3].map(() => report("PULL_REQUEST", PULL_REQUEST)));
    await harness.finish();
    await ada.post(`/agent/runs/${harness.run_id}/followups`, { message: "go on" });
    const second = await nextExecution(plane);
    await second.resolve();
    answers.push(await report("PULL_REQUEST", PULL_REQUEST, second));
    expect(new Set(answers.map(({ body }) => body.artifact_uid)).size).toBe(1);
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
      const answer = await report(type, data);
      expect(answer, type).toMatchObject({ status: 400, body: { errors: [{ path: "data.url" }] } });
    }
    expect(plane.table.all()).toEqual(before);
  });
});

describe("a SCREENSHOT", () => {
  it("is uploaded like a file, and downloads with its type", async () => {
    const { body: placed } = await report("SCREENSHOT", SCREENSHOT);
    expect((await shown()).artifacts, "nobody sees it before it is there").toEqual([]);
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
    const { body } = await ada.get(`/agent/artifacts/${placed.artifact_uid}`);
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

  it("becomes visible at the end of its run if it was uploaded and not reported again", async () => {
    const { body: placed } = await report("SCREENSHOT", SCREENSHOT);
    await plane.upload(placed.upload.url, PIXEL);
    await harness.finish();
    expect((await shown()).artifacts).toHaveLength(1);
  });

  it("must be an image", async () => {
    const answer = await report("SCREENSHOT", { ...SCREENSHOT, mime_type: "text/html" });
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ path: "data.mime_type" }] } });
  });
});

describe("artifacts of every kind", () => {
  const kinds = { PLAN, PULL_REQUEST, EXTERNAL_REFERENCE: REFERENCE, SCREENSHOT };

  it.each(Object.entries(kinds))("are refused above 1,000 per run, and leave nothing: a %s", async (type, data) => {
    await plane.table.write({ kind: "update", key: keys.head(harness.run_id), set: { placed_artifacts: 1_000 } });
    const before = structuredClone(plane.table.all());
    const answer = await report(type, data);
    expect(answer).toMatchObject({ status: 429, body: { error_code: "resource_unavailable", retryable: false } });
    expect(plane.table.all()).toEqual(before);
    expect((await harness.finish()).status, "the run itself goes on").toBe(200);
  });

  it.each(Object.entries(kinds))(
    "never exceed the run's limit, even if another artifact takes the last place concurrently: a %s",
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
    const answer = await createClient(plane, plane.otherKey).get(`/agent/artifacts/${artifact_uid}`);
    expect(answer.status).toBe(404);
  });

  it("are in the transcript's events and in the response to the agent's final message", async () => {
    for (const [type, data] of Object.entries(kinds)) await report(type, data);
    await harness.finish();
    await deliver(plane);
    const { headers } = await ada.get(`/agent/runs/${harness.run_id}/transcript`);
    const transcript = await plane.download(headers["location"] ?? "");
    for (const type of ["PLAN", "PULL_REQUEST", "EXTERNAL_REFERENCE"]) expect(transcript).toContain(`"${type}"`);
    const { body } = await ada.get(`/agent/runs/${harness.run_id}/response`);
    expect(body.artifacts.map(({ artifact_type }: { artifact_type: string }) => artifact_type).toSorted()).toEqual([
      "EXTERNAL_REFERENCE",
      "PLAN",
      "PULL_REQUEST",
    ]);
  });

  it("let the list find a run by each artifact type that it has", async () => {
    const other = await createRun(plane);
    for (const [type, data] of Object.entries(kinds)) await report(type, data);
    expect(await found("PLAN")).toEqual([harness.run_id]);
    expect(await found("SCREENSHOT"), "it is not uploaded").toEqual([]);
    expect(await found("EXTERNAL_REFERENCE")).not.toContain(other);
  });
});
