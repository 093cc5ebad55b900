import { readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { FaultServer, type ResponseBody } from "../clients/fault-server.ts";
import { createJobFolder, readOutputs, startAction } from "./action-job.ts";
import { api, CREATED, commandEvents, problem, RUN, runResponses } from "./responses.ts";

const server = new FaultServer();
let folder = "";
beforeAll(() => server.start());
afterAll(() => server.stop());
beforeEach(() => {
  folder = createJobFolder();
  return () => rmSync(folder, { recursive: true });
});
afterEach(() => vi.restoreAllMocks());

const succeeded = (text = "Done.") => runResponses("SUCCEEDED", {}, text);
const start = (inputs: Record<string, string> = {}, more: Record<string, string> = {}) =>
  startAction({ folder, baseURL: server.api }, { prompt: "x", ...inputs }, more);
const sent = (): Record<string, unknown> => JSON.parse(server.seen[0]?.body ?? "{}");

describe("the inputs of the GitHub Action", () => {
  it.each([
    ["90", 5_400_000],
    ["0.5", 30_000],
    ["4.1", 246_000],
    ["0.50001", 30_001],
    ["35000", 2_100_000_000],
    ["", 3_600_000],
  ])("have a time limit in minutes: %j", async (minutes, milliseconds) => {
    const limit = vi.spyOn(AbortSignal, "timeout");
    server.play(succeeded());
    expect(await start({ "timeout-minutes": minutes }).exited).toBe(0);
    expect(limit.mock.calls).toEqual([[milliseconds]]);
  });

  it.each(["0", "-1", "35001", "Infinity", "an hour"])("have no time limit of %j", async (minutes) => {
    server.play([]);
    const { log, exited } = start({ "timeout-minutes": minutes });
    expect([await exited, server.seen]).toEqual([1, []]);
    expect(log()).toContain("timeout-minutes is a number above 0, up to 35,000.");
  });

  it("have an idempotency key, of which 255 characters are sent", async () => {
    server.play(succeeded());
    await start({ "idempotency-key": "k".repeat(300) }).exited;
    expect(server.seen[0]?.headers["idempotency-key"]).toBe(`github-${"k".repeat(248)}`);
  });

  it("have metadata that overrides the job's own, without values that are too long", async () => {
    server.play(succeeded());
    const branch = `refs/heads/${"é".repeat(123)}`;
    const repository = `a/${"b".repeat(254)}`;
    await start({ metadata: "github.sha=own" }, { GITHUB_REF: branch, GITHUB_REPOSITORY: repository }).exited;
    expect([branch, repository].map((text) => Buffer.byteLength(text))).toEqual([257, 256]);
    expect(sent()["metadata"]).toEqual({ "github.repository": repository, "github.sha": "own" });
  });

  it.each(["=value", " = value"])("have no metadata without a name: %j", async (metadata) => {
    server.play([]);
    const { log, exited } = start({ metadata });
    expect([await exited, server.seen]).toEqual([1, []]);
    expect(log()).toContain(`metadata is written name=value, one a line, and ${metadata.trim()} is not.`);
  });
});

describe("a cancelled job of the GitHub Action", () => {
  const waiting = { ...api({ events: [], next: 0, ended: false }), delay_ms: 30_000 };

  /** Cancels the job when the run has shown these events. */
  async function cancel(events: object[], responses: readonly ResponseBody[], inputs: Record<string, string> = {}) {
    const before = events.length === 0 ? [] : [api({ events, next: events.length, ended: false })];
    server.play([CREATED, ...before, waiting, ...responses]);
    const { cancel, exited, log } = start(inputs);
    await expect.poll(() => server.seen.length).toBe(2 + before.length);
    cancel();
    return { code: await exited, log: log(), complaints: server.complaints, left: server.left };
  }
  const end = (state: string) => [api({ events: [], next: 9, ended: true }), api({ ...RUN, state })];

  it("closes the group of a command, and follows the run from its last event", async () => {
    const events = commandEvents().slice(0, 3);
    const { code, log } = await cancel(events, [api("r1"), ...end("CANCELLED")]);
    expect(code).toBe(1);
    expect(log.indexOf("::endgroup::")).toBeGreaterThan(log.indexOf("::group::$ npm test"));
    expect(log.indexOf("::endgroup::")).toBeLessThan(log.indexOf("The job was cancelled."));
    const polls = server.seen.filter(({ path: requestPath }) => requestPath === "/agent/runs/r1/events");
    expect(polls.map(({ rawQuery }) => new URLSearchParams(rawQuery).get("after"))).toEqual(["0", "3", "3"]);
  });

  it.each(["true", "false"])("fails although its run has ended well; fail-on-failure: %s", async (fails) => {
    const ended = problem(400, "invalid_request", "The run has ended.");
    const found = await cancel([], [ended, ...end("SUCCEEDED")], { "fail-on-failure": fails });
    expect(found).toMatchObject({ code: 1, complaints: [], left: 0 });
    expect(found.log).toContain("::error title=Runyard%3A SUCCEEDED::");
    expect(readOutputs(folder)).toMatchObject({ state: "SUCCEEDED" });
  });

  it("fails where its run may not be cancelled", async () => {
    const found = await cancel([], [problem(403, "not_authorized", "It is not yours.")]);
    expect(found).toMatchObject({ code: 1, complaints: [], left: 0 });
    expect(found.log).toContain("::error title=Runyard::not authorized (403): It is not yours.");
  });

  it.each([
    ["cancelled", 2_000],
    ["late", 30_000],
  ])("reports the state of a run that has not ended in time: %s", async (reason, graceMs) => {
    const late = new AbortController();
    vi.spyOn(AbortSignal, "timeout").mockImplementation((ms) => (ms === graceMs ? AbortSignal.abort() : late.signal));
    const state = api({ ...RUN, state: "INPROGRESS" });
    const response = api({ text: "", state: "INPROGRESS", artifacts: [] });
    server.play([CREATED, waiting, api("r1"), state, ...(reason === "late" ? [response] : [])]);
    const { cancel: cancelJob, exited } = start();
    await expect.poll(() => server.seen.length).toBe(2);
    if (reason === "late") late.abort();
    else cancelJob();
    expect([await exited, server.complaints, server.left]).toEqual([1, [], 0]);
    expect(readOutputs(folder)).toMatchObject({ state: "INPROGRESS" });
  });
});

it("an output of the GitHub Action contains the whole response, regardless of its lines", async () => {
  const response = ["first", "end", "end-", "state<<end", "FAILED", "EOF"].join("\n");
  server.play(succeeded(response));
  expect(await start().exited).toBe(0);
  const { summary, ...outputs } = readOutputs(folder);
  expect(outputs).toEqual({ "run-id": "r1", state: "SUCCEEDED", "session-link": "", response, patch: "" });
  expect(summary).toContain(response);
});

it("the summary of the GitHub Action escapes file names in Markdown", async () => {
  const artifact = (filename: string) => ({
    artifact_type: "FILE",
    created_at: RUN.created_at,
    data: { artifact_uid: "a1", filepath: filename, filename, mime_type: "text/plain" },
  });
  const artifacts = ["plain.txt", "[x](https://evil.example)|<img>"].map(artifact);
  server.play(succeeded().with(2, api({ ...RUN, state: "SUCCEEDED", artifacts })));
  expect(await start().exited).toBe(0);
  const summary = readFileSync(path.join(folder, "summary"), "utf8");
  expect(summary).toContain("| Files | plain.txt, &#91;x&#93;&#40;https://evil.example&#41;&#124;&#60;img&#62; |\n");
});
