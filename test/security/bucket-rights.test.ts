import { createHash, randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { streamEvents } from "#functions/runs/stream-events.ts";
import { eventSources } from "#infra/event-sources.ts";
import { FILE_PATTERNS, type FileKind, type Rights } from "#infra/rights.ts";
import { routes } from "#infra/routes.ts";
import { fileKeys } from "#shared/files/file-store.ts";
import { INLINE_BYTES } from "#shared/records/run-body.ts";
import { isEndedHead } from "#shared/records/run-head.ts";
import { deleteRun } from "#shared/retention/delete-run.ts";
import { claimInstallation } from "../support/claim-installation.ts";
import { createClient } from "../support/client.ts";
import { createTestControlPlane, httpEvent, type TestControlPlane } from "../support/control-plane.ts";
import {
  allowPush,
  createHarness,
  createRun,
  deliver,
  type Harness,
  nextExecution,
  said,
  workingRun,
} from "../support/execution.ts";
import { createHooks, signed } from "../support/hooks.ts";
import { matchFileKinds, RightMissing, usedFiles, withRights } from "../support/rights.ts";
import { fireAt, listRuns, makeSchedule, nightly } from "../support/schedules.ts";
import { createSkillControlPlane, skill } from "../support/skills.ts";
import { attemptRequested, streamEvents as streamEventsOfRuns } from "../support/webhooks.ts";
import { connectedWorker } from "../support/worker.ts";

/** Too long for an item, so it is stored in the bucket. */
const long = (letter: string) => letter.repeat(INLINE_BYTES + 1);
const described = (content: string) => ({
  size_bytes: content.length,
  sha256: createHash("sha256").update(content).digest("hex"),
});

/** One key of each kind, with realistic ids. */
const uuid = "0198b2a1-5d6e-7f80-9a1b-2c3d4e5f6a7b";
const digest = "d".repeat(64);
const examples: Readonly<Record<FileKind, string>> = {
  prompt: fileKeys.prompt(uuid, digest),
  schedulePrompt: fileKeys.schedulePrompt(uuid, digest),
  attachment: fileKeys.attachment(uuid, uuid),
  upload: fileKeys.upload(uuid),
  followup: fileKeys.followup(uuid, digest),
  followupAttachment: fileKeys.followupAttachment(uuid, uuid),
  messages: fileKeys.messages(uuid, uuid, 1, digest),
  artifact: fileKeys.artifact(uuid, uuid, uuid),
  plan: fileKeys.plan(uuid, uuid, digest),
  pack: fileKeys.pack(uuid, uuid, digest),
  skills: fileKeys.skills(digest, digest),
  snapshot: fileKeys.snapshot(uuid, uuid, "turn-1", 0),
  triggerEvent: fileKeys.triggerEvent(uuid, uuid),
  rawTranscript: fileKeys.rawTranscript(uuid, uuid, 0),
  transcript: fileKeys.transcript(uuid, 7),
};

describe("the patterns of rights on files", () => {
  it("cover each kind of file", () => {
    expect(Object.keys(FILE_PATTERNS).toSorted()).toEqual(Object.keys(fileKeys).toSorted());
  });

  it.each(Object.entries(examples))("match only the keys of their own kind: %s", (kind, key) => {
    expect(matchFileKinds(key)).toEqual([kind]);
  });
});

describe("a function that uses files of a kind that it has no rights to", () => {
  it.each([
    ["GetObject", "transcript"],
    ["GetObject", "messages"],
    ["PutObject", "skills"],
  ] as const)("is refused: %s of %s by a function that reads skills", async (action, kind) => {
    const { files } = (await createTestControlPlane()).ports;
    const use = () =>
      action === "GetObject" ? files.get(examples[kind]) : files.put(examples[kind], "x", "text/plain");
    const reading = { bucket: { GetObject: ["skills"] } } as const;
    await expect(withRights("a-function", reading, async () => use())).rejects.toThrow(
      new RightMissing(`a-function lacks bucket: ${action} ${kind}`),
    );
  });
});

describe("the rights of every function on files", () => {
  it("are complete and all used", async () => {
    usedFiles.clear();
    await useScheduleFiles();
    await useRunFiles();
    await useRawTranscripts();
    await useUploadsOfCancelledRun();
    await useEarlyFollowups();
    await useSkills();
    await useWorkerFiles();
    await useTriggerFiles();
    await useToolFiles();
    await usePushedFiles();
    const lines: readonly { readonly file: string; readonly rights: Rights }[] = [
      ...routes,
      ...Object.values(eventSources),
    ];
    const granted = lines
      .filter(({ rights }) => rights.bucket !== undefined)
      .map(({ file, rights }) => [file, named(rights)]);
    const used = [...usedFiles].map(([name, uses]) => [
      name.includes("/") ? name : `executions/${name}`,
      [...uses].toSorted(),
    ]);
    expect(Object.fromEntries(used)).toEqual(Object.fromEntries(granted));
  });
});

const named = ({ bucket = {} }: Rights): string[] =>
  [
    ...(bucket.GetObject ?? []).map((kind) => `GetObject ${kind}`),
    ...(bucket.PutObject ?? []).map((kind) => `PutObject ${kind}`),
    ...(bucket.DeleteObject ?? []).map((kind) => `DeleteObject ${kind}`),
    ...(bucket.ListBucket ?? []).map((pattern) => `ListBucket ${pattern}`),
  ].toSorted();

const isPublic = { config: { session_sharing: { public_access: "VIEWER" } } };

/** Repeats a request for a run, which has ended by then, and waits for its end. */
async function waitForEndedRun(): Promise<void> {
  const plane = await createTestControlPlane();
  const user = createClient(plane);
  const options = { headers: { "idempotency-key": "once" } };
  const create = (query = "") => user.post(`/agent/runs${query}`, { prompt: long("e") }, options);
  const { run_id } = (await create()).body;
  await user.post(`/agent/runs/${run_id}/followups`, { message: long("h") });
  const harness = createHarness(plane, await plane.dispatch(run_id));
  await harness.resolve();
  await harness.beat(1);
  await harness.finish();
  expect((await create("?wait=1")).body).toMatchObject({ state: "SUCCEEDED", prompt: long("e") });
}

/** Reads a run through every route. */
async function readRun(plane: TestControlPlane, run: string): Promise<void> {
  const user = createClient(plane);
  for (const what of ["", "/conversation", "/events", "/response", "/transcript", "/handoff/attachments"])
    expect((await user.get(`/agent/runs/${run}${what}`)).status, what).toBeLessThan(500);
  for (const change of ["archive", "unarchive"])
    expect((await user.post(`/agent/runs/${run}/${change}`)).status, change).toBe(200);
  await user.get(`/agent/conversations/${run}`);
  await user.get(`/agent/conversations/${run}/transcript`);
  await user.get(`/public/runs/${run}`);
  const event = httpEvent({
    key: plane.key,
    rawPath: `/api/v1/agent/runs/${run}/events`,
    headers: { "runyard-origin-secret": "origin" },
  });
  const ports = { ...plane.ports, streamSeconds: 1, originSecret: "origin" };
  await withRights(eventSources.streamEvents.file, eventSources.streamEvents.rights, () =>
    streamEvents.handle(event, ports),
  );
}

/** Deletes a run, as its team's retention does. Uploads without a run stay. */
async function deleteFiles(plane: TestControlPlane, run: string): Promise<void> {
  const found = await plane.ports.runs.headAndBody(run);
  if (found === undefined || !isEndedHead(found.head)) throw new Error("the run has not ended");
  const { head, body } = found;
  const { file, rights } = eventSources.deleteOldRuns;
  expect(await withRights(file, rights, () => deleteRun(head, body, plane.ports))).toBe(true);
  expect([...plane.files.files.keys()].filter((key) => !key.startsWith("attachments/"))).toEqual([]);
}

/** Offers runs with long prompts to workers. */
async function useWorkerFiles(): Promise<void> {
  const config = { worker_host: "rack-7" };
  const plane = await createTestControlPlane();
  await connectedWorker(plane);
  await createRun(plane, { prompt: long("w"), config });
  await waitForEndedRun();
  await deliver(plane);
  const other = await createTestControlPlane();
  await connectedWorker(other);
  const { id } = await makeSchedule(other, { prompt: long("v"), agent_config: config });
  await createClient(other).post(`/agent/schedules/${id}/run`);
  await deliver(other);
}

/** Delivers events of one thread, and delivers one again, each time after the run has failed during a turn. */
async function useTriggerFiles(): Promise<void> {
  const plane = await createTestControlPlane();
  const hooks = createHooks(plane);
  const secret = "a-secret-of-github";
  await createClient(plane).post("/agent/secrets", { name: "token", value: "github_pat_for_tests" });
  const { body } = await hooks.create({
    kind: "github",
    secret,
    prompt: "look",
    allow: { anyone: true },
    credential: "token",
    reply: { to: "thread" },
  });
  const send = async (text: string) => {
    const payload = { sender: { type: "User" }, comment: { body: text }, issue: { number: 1 } };
    const event = JSON.stringify({ ...payload, repository: { full_name: "o/r" } });
    const { body: sent } = await hooks.send(
      body.uid,
      event,
      signed.github(secret, event, "issue_comment", text.slice(0, 9)),
    );
    return `/agent/triggers/${body.uid}/deliveries/${sent.delivery_id}`;
  };
  await claimInstallation(plane, plane.team);
  plane.repositories.appWebhookSecret = secret;
  const ofApp = JSON.stringify({ installation: { id: 2_000_001 } });
  await hooks.send("github-app", ofApp, signed.github(secret, ofApp, "issues", "of-the-app"));
  await send("first");
  const [run] = await hooks.runs();
  const failTurn = async (harness: Harness, first: number) => {
    await harness.resolve();
    expect((await harness.messages(first, long("m"))).status).toBe(200);
    await harness.support("finish-task", { success: false, summary: "done", followups_stored: first - 1 });
    await deliver(plane);
  };
  await failTurn(createHarness(plane, await plane.dispatch(run.run_id)), 1);
  // The fences of a text of backticks are as long as the text.
  const path = await send("`".repeat(20_000));
  expect((await createClient(plane).get(path)).body).toMatchObject({ outcome: "followed_up" });
  await failTurn(await nextExecution(plane), 2);
  const { body: again } = await createClient(plane).post(`${path}/redeliver`);
  const redelivered = path.replace(/[^/]*$/, again.delivery_id);
  expect((await createClient(plane).get(redelivered)).body).toMatchObject({ outcome: "followed_up" });
  // The reply shows the last message. Nothing listens at the address of GitHub.
  await streamEventsOfRuns(plane);
  await attemptRequested(plane);
}

/** Uploads the objects of a push, and has the service read them. */
async function usePushedFiles(): Promise<void> {
  const plane = await createTestControlPlane();
  const hooks = createHooks(plane);
  await createClient(plane).post("/agent/secrets", { name: "github", value: "github_pat" });
  const trigger = await hooks.create({ kind: "github", credential: "github", prompt: "Look" });
  const harness = await workingRun(plane, { prompt: "push", team: true });
  await allowPush(plane, harness.run_id, trigger.body.uid);
  const request = { commit: "a".repeat(40), ...described("objects") };
  const { upload } = (await harness.support("push-branch", request)).body;
  await plane.files.put(new URL(upload.url).pathname.slice(1), "objects", "text/plain");
  // Nothing listens at the address of GitHub.
  expect((await harness.support("push-branch", request)).status).toBe(409);
  await harness.finish();
  await deleteFiles(plane, harness.run_id);
}

/** Starts, reads and steers runs with the tools of the MCP server. */
async function useToolFiles(): Promise<void> {
  const plane = await createTestControlPlane();
  const user = createClient(plane);
  const call = async (name: string, input: object) => {
    const params = { name, arguments: input };
    const { result } = (await user.post("/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params })).body;
    expect(result.isError, result.content[0].text).toBe(undefined);
    return result.structuredContent;
  };
  const { run_id } = await call("start_run", { prompt: long("p") });
  await call("send_followup", { run_id, message: long("f") });
  const harness = createHarness(plane, await plane.dispatch(run_id));
  await harness.resolve();
  expect((await harness.messages(1, long("m"))).status).toBe(200);
  const file = await reportFile(plane, harness, "early");
  await file.report();
  const plan = await harness.support("report-artifact", { artifact_type: "PLAN", data: { content: "# Plan" } });
  for (const artifact_uid of [file.uid, plan.body.artifact_uid]) await call("get_artifact", { artifact_uid });
  await call("get_run", { run_id });
  await call("get_response", { run_id });
  const { id } = await makeSchedule(plane, { prompt: long("a") });
  await call("list_schedules", {});
  await user.post(`/agent/schedules/${id}/run`);
  const [scheduled] = await listRuns(plane, id);
  await call("get_run", { run_id: scheduled.run_id });
}

async function useScheduleFiles(): Promise<void> {
  const plane = await createTestControlPlane();
  const user = createClient(plane);
  const { id } = await makeSchedule(plane, { prompt: long("a"), agent_config: isPublic.config });
  const target = `/agent/schedules/${id}`;
  await user.put(target, { ...nightly, enabled: true, prompt: long("b") });
  await user.get(target);
  await user.get("/agent/schedules");
  await user.post(`${target}/pause`);
  await user.post(`${target}/resume`);
  await fireAt(plane, id, "2026-05-19T02:30:00.000Z");
  const [run] = await listRuns(plane, id);
  const harness = createHarness(plane, await plane.dispatch(run.run_id));
  expect((await harness.resolve()).body.prompt).toBe(long("b"));
  await harness.finish();
  await deliver(plane);
  await readRun(plane, run.run_id);
}

async function useRunFiles(): Promise<void> {
  const plane = await createTestControlPlane();
  const user = createClient(plane);
  const upload = (
    await user.post("/agent/attachments", { file_name: "a.txt", mime_type: "text/plain", ...described("a") })
  ).body;
  await plane.upload(upload.upload.url, "a");
  const inline = { file_name: "b.txt", mime_type: "text/plain", data: Buffer.from("b").toString("base64") };
  const attachments = [{ attachment_id: upload.attachment_id }, inline];
  const run = await createRun(plane, { prompt: long("p"), attachments, ...isPublic });
  const first = createHarness(plane, await plane.dispatch(run));
  await first.resolve();
  expect((await first.messages(1, long("m"))).status).toBe(200);
  await user.post(`/agent/runs/${run}/followups`, { message: long("f"), ...(await prepared(plane, "runs", run)) });
  await first.beat();
  await saveUndescribed(plane, first);
  await saveSnapshot(plane, first);
  await reportArtifacts(plane, first);
  await readRun(plane, run);
  await first.shutDown({ error: { category: "oom", message: "out of memory" } });
  const second = await nextExecution(plane);
  const { context } = (await second.resolve()).body;
  expect(context).toMatchObject({ followups: [{ message: long("f") }], checkpoint: { generation: "one" } });
  await second.beat(1);
  await reportFile(plane, second, "late");
  await user.post(`/agent/runs/${run}/followups`, { message: long("g"), ...(await prepared(plane, "runs", run)) });
  const last = { success: true, summary: "done", first_sequence: 2, messages: [said(long("n"))], followups_stored: 1 };
  expect((await second.support("finish-task", last)).body.followups).toHaveLength(1);
  await second.support("finish-task", { success: false, summary: "done", followups_stored: 2 });
  await deliver(plane);
  await readRun(plane, run);
  // It reads whether the last turn of the failed run has its response.
  expect((await user.post(`/agent/runs/${run}/followups`, { message: long("h") })).status).toBe(200);
  expect((await user.get(`/agent/runs/${run}/followups`)).body.followups).toHaveLength(3);
  const waiting = `/agent/runs/${run}/followups/followup-3`;
  expect((await user.put(waiting, { message: long("j") })).status).toBe(200);
  expect((await user.post(`${waiting}/promote`)).body.message).toBe(long("j"));
  const third = await nextExecution(plane);
  await third.resolve();
  expect((await third.messages(3, long("o"))).status).toBe(200);
  await third.support("finish-task", { success: false, summary: "done", followups_stored: 3 });
  await deliver(plane);
  await downloadAttachments(plane, run);
  const again = { message: long("i"), ...(await prepared(plane, "conversations", run)) };
  expect((await user.post(`/agent/conversations/${run}/followups`, again)).status).toBe(200);
  await user.post(`/agent/runs/${run}/cancel`);
  await deleteFiles(plane, run);
}

/** The submitted prompt of a run includes what was sent before it started. */
async function useEarlyFollowups(): Promise<void> {
  const plane = await createTestControlPlane();
  const user = createClient(plane);
  const run = await createRun(plane);
  await user.post(`/agent/runs/${run}/followups`, { message: long("e") });
  for (const target of [`/agent/runs/${run}`, "/agent/runs"]) expect((await user.get(target)).status).toBe(200);
  for (const change of ["archive", "unarchive"]) {
    expect((await user.post(`/agent/runs/${run}/${change}`)).status).toBe(200);
  }
}

/** The attachments of a follow-up, prepared and uploaded. */
async function prepared(plane: TestControlPlane, kind: "runs" | "conversations", id: string) {
  const files = [{ filename: "a.txt", mime_type: "text/plain" }];
  const { body } = await createClient(plane).post(`/agent/${kind}/${id}/attachments/prepare`, { files });
  const [{ attachment_id, upload_url }] = body.attachments;
  await plane.upload(upload_url, "a");
  return { attachments: [{ attachment_id }] };
}

async function downloadAttachments(plane: TestControlPlane, run: string): Promise<void> {
  const user = createClient(plane);
  const [began] = (await plane.ports.runs.body(run)).attachments;
  const [sent] = (await user.get(`/agent/runs/${run}/followups`)).body.followups[0].attachments;
  const [waiting] = (await prepared(plane, "runs", run)).attachments;
  const attachment_ids = [began, sent, waiting].map((one) => one?.attachment_id);
  expect((await user.post(`/agent/runs/${run}/attachments/download`, { attachment_ids })).status).toBe(200);
}

async function saveSnapshot(plane: TestControlPlane, harness: Harness): Promise<void> {
  const file = { filename: "w.tar.gz", mime_type: "application/gzip", ...described("w") };
  const { body } = await harness.support("upload-snapshot", { mode: "checkpoint", generation: "one", files: [file] });
  await plane.upload(body.uploads[0].url, "w");
  expect((await harness.support("commit-snapshot", { generation: "one", files: ["w.tar.gz"] })).status).toBe(200);
}

/** Uploads a file without a description with a form, whose content is copied at the commit. */
async function saveUndescribed(plane: TestControlPlane, harness: Harness): Promise<void> {
  const files = [{ filename: "u.md", mime_type: "text/markdown" }];
  const { body } = await harness.support("upload-snapshot", { mode: "checkpoint", generation: "two", files });
  await plane.upload(body.uploads[0].url, "u");
  expect((await harness.support("commit-snapshot", { generation: "two", files: ["u.md"] })).status).toBe(200);
}

/** Uploads a file that becomes visible at the end of the execution. */
async function reportFile(plane: TestControlPlane, harness: Harness, content: string) {
  const data = {
    filepath: `${content}.txt`,
    filename: `${content}.txt`,
    mime_type: "text/plain",
    ...described(content),
  };
  const report = () => harness.support("report-artifact", { artifact_type: "FILE", data });
  const { body } = await report();
  await plane.upload(body.upload.url, content);
  return { report, uid: body.artifact_uid };
}

async function reportArtifacts(plane: TestControlPlane, harness: Harness): Promise<void> {
  const file = await reportFile(plane, harness, "early");
  await file.report();
  const plan = await harness.support("report-artifact", { artifact_type: "PLAN", data: { content: "# Plan" } });
  for (const uid of [file.uid, plan.body.artifact_uid]) {
    expect((await createClient(plane).get(`/agent/artifacts/${uid}`)).status).toBe(200);
    expect((await createClient(plane).get(`/agent/artifacts/${uid}/download`)).status).toBe(302);
    await createClient(plane).post(`/agent/runs/${harness.run_id}/share`, { public_access: "VIEWER" });
    expect((await createClient(plane).get(`/public/runs/${harness.run_id}/artifacts/${uid}`)).status).toBe(302);
  }
}

async function useRawTranscripts(): Promise<void> {
  const plane = await createTestControlPlane();
  const harness = await workingRun(plane);
  await harness.support("external-conversation", { format: "claude" });
  const place = () => harness.support("transcript", { conversation_id: harness.run_id });
  for (const text of ["one\n", "two\n"]) {
    const { body } = await place();
    const key = body.fields.find(({ name }: { name: string }) => name === "key").value.value;
    await plane.files.put(key, text, "application/x-ndjson");
    if (text === "one\n") await place();
  }
  expect((await harness.client.get("/harness-support/transcript")).status).toBe(302);
  await harness.finish();
  await deliver(plane);
  await readRun(plane, harness.run_id);
  await deleteFiles(plane, harness.run_id);
}

/** Cancels a run whose execution has uploaded a file and a raw transcript without confirming them. */
async function useUploadsOfCancelledRun(): Promise<void> {
  const plane = await createTestControlPlane();
  const harness = await workingRun(plane);
  await harness.support("external-conversation", { format: "claude" });
  const { body } = await harness.support("transcript", { conversation_id: harness.run_id });
  await plane.upload(body.url, "one\n");
  await reportFile(plane, harness, "late");
  await createClient(plane).post(`/agent/runs/${harness.run_id}/cancel`);
  await deliver(plane);
  await deleteFiles(plane, harness.run_id);
}

/** Uses skills that are too large for an item even when compressed. */
async function useSkills(): Promise<void> {
  const { environment, list, onGithub, plane, github } = await createSkillControlPlane();
  await using _ = github;
  const random = () => randomBytes(24_000).toString("base64");
  const names = Array.from({ length: 20 }, (_, index) => `skill-${index}`);
  onGithub("acme/shop", {
    files: Object.fromEntries(names.map((name) => [`.agents/skills/${name}/SKILL.md`, skill(name, name, random())])),
  });
  await environment("Shop", [{ url: "https://github.com/acme/shop" }]);
  await list();
  plane.clock.now += 11 * 60_000;
  expect((await list()).body.agents).toHaveLength(names.length);
}
