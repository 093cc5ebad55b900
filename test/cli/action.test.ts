import { readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import * as v from "valibot";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { command, printText } from "../../action/job.ts";
import { JobLog } from "../../action/job-log.ts";
import type { RunEvent } from "../../clients/typescript/src/index.ts";
import { root } from "../../scripts/run-command.ts";
import { FaultServer } from "../clients/fault-server.ts";
import { createJobFolder, readOutputs, startAction } from "./action-job.ts";
import { api, CREATED, commandEvents, download, event, messages, problem, RUN, runResponses } from "./responses.ts";

const server = new FaultServer();
let folder = "";
beforeAll(() => server.start());
afterAll(() => server.stop());
beforeEach(() => {
  folder = createJobFolder();
  return () => rmSync(folder, { recursive: true });
});

const start = (inputs: Record<string, string>, more: Record<string, string | undefined> = {}) =>
  startAction({ folder, baseURL: server.api }, inputs, more);

async function step(inputs: Record<string, string>, more: Record<string, string | undefined> = {}) {
  const { log, exited } = start(inputs, more);
  return { code: await exited, log: log() };
}

const ending = (state: string, more: object = {}, text = "All done.", events: object[] = commandEvents()) =>
  runResponses(state, more, text, events);
const bodyAt = (at: number): unknown => JSON.parse(server.seen[at]?.body ?? "null");
const summary = () => readFileSync(path.join(folder, "summary"), "utf8");

const outputs = () => readOutputs(folder);

/** The commands that a runner would see in the log: lines that begin with `::`, and `##[` anywhere. */
const commands = (log: string) => log.split("\n").filter((line) => /^\s*::|##\[/.test(line));

describe("the GitHub Action", () => {
  it("starts a run from its inputs, and records where it comes from", async () => {
    const uid = "01990000-0000-7000-8000-000000000001";
    server.play(ending("SUCCEEDED"));
    const { code, log } = await step({
      prompt: "Fix it",
      repo: "https://github.com/acme/shop#0123abcd\nhttps://github.com/acme/lib",
      environment: uid,
      skill: "acme/shop:fix",
      model: "m1",
      budget: "2.5",
      "timeout-minutes": "90.5",
      title: "From CI",
      metadata: "  ticket=SHOP-1\n\nlevel = 2 ",
      "idempotency-key": "77-1-build-0",
    });
    expect({ code, complaints: server.complaints }).toEqual({ code: 0, complaints: [] });
    expect(bodyAt(0)).toEqual({
      prompt: "Fix it",
      title: "From CI",
      config: {
        environment_id: uid,
        skill_spec: "acme/shop:fix",
        model_id: "m1",
        budget_usd: 2.5,
        timeout_minutes: 91,
        repositories: [
          { url: "https://github.com/acme/shop", ref: "0123abcd" },
          { url: "https://github.com/acme/lib" },
        ],
      },
      metadata: {
        "github.repository": "acme/shop",
        "github.sha": "0123abcd",
        "github.ref": "refs/heads/main",
        "github.run": "https://github.com/acme/shop/actions/runs/77",
        ticket: "SHOP-1",
        level: "2",
      },
    });
    expect(server.seen[0]?.headers).toMatchObject({
      authorization: "Bearer rya_secret",
      "x-run-source": "GITHUB_ACTION",
      "idempotency-key": "github-77-1-build-0-__acme_runyard",
    });
    expect(log.split("\n")[0]).toBe("::add-mask::rya_secret");
    expect(log.split("rya_secret")).toHaveLength(2);
  });

  it("exchanges the OIDC token of the job for a key where none is given, and shows neither", async () => {
    const uid = "01990000-0000-7000-8000-000000000001";
    const key = api({ key: "rya_exchanged", expires_at: "2026-05-18T20:00:00.000Z" }, { status: 201 });
    server.play([api({ value: "oidc.of.job" }), key, ...ending("SUCCEEDED")]);
    const { code, log } = await step(
      { prompt: "x", "api-key": "", agent: uid, audience: "https://runyard.example.com" },
      {
        ACTIONS_ID_TOKEN_REQUEST_URL: `${server.api}/github/token?api-version=2`,
        ACTIONS_ID_TOKEN_REQUEST_TOKEN: "request-token",
      },
    );
    expect({ code, complaints: server.complaints }).toEqual({ code: 0, complaints: [] });
    const [tokenRequest, exchanged, run] = server.seen;
    expect(tokenRequest?.headers["authorization"]).toBe("Bearer request-token");
    expect(`${tokenRequest?.rawQuery}`).toContain("audience=https%3A%2F%2Frunyard.example.com");
    expect(bodyAt(1)).toEqual({ token: "oidc.of.job", identity_uid: uid });
    expect(exchanged?.path).toBe("/agent/token");
    expect(run?.headers["authorization"]).toBe("Bearer rya_exchanged");
    expect(bodyAt(2)).not.toHaveProperty("agent_identity_uid");
    expect(commands(log).slice(0, 2)).toEqual(["::add-mask::oidc.of.job", "::add-mask::rya_exchanged"]);
    expect(log.split("rya_exchanged")).toHaveLength(2);
  });

  it("shows each command with its output as a group, sets the outputs and writes the summary", async () => {
    const link = "https://runyard.example.com/runs/r1";
    const artifacts = [{ artifact_type: "FILE", created_at: "", data: { artifact_uid: "a", filename: "out.txt" } }];
    const request_usage = { total_tokens: 12_345, inference_cost: 0.0421 };
    const more = { session_link: link, run_time: "PT9S", artifacts, request_usage };
    server.play(ending("SUCCEEDED", more, "Line 1\nrun-id<<x\nLine 3"));
    const { log } = await step({ prompt: "x" });
    expect(log).toContain("\n12,345 tokens · $0.0421\n");
    expect(log).toMatch(/::group::\$ npm test\n\| line 1\n[\s\S]*\| line 9\n::endgroup::\n {4}3\.0 s {2}exit 1\n/);
    expect(outputs()).toEqual({
      "run-id": "r1",
      state: "SUCCEEDED",
      "session-link": link,
      response: "Line 1\nrun-id<<x\nLine 3",
      summary: summary().slice(0, -1),
      patch: "",
    });
    expect(summary()).toBe(
      [
        "### ✅ Fix it: SUCCEEDED",
        "",
        "| | |",
        "|---|---|",
        `| Run | [r1](${link}) |`,
        "| Run time | PT9S |",
        "| Usage | 12,345 tokens · $0.0421 |",
        "| Files | out.txt |",
        "",
        "Line 1\nrun-id<<x\nLine 3",
        "\n",
      ].join("\n"),
    );
  });

  it.each([
    ["FAILED", "❌"],
    ["ERROR", "❌"],
    ["BLOCKED", "✋"],
    ["CANCELLED", "⏹️"],
  ])("fails with a run that ended %s, prints the reason and marks it with %s in the summary", async (state, mark) => {
    server.play(ending(state, { status_message: { message: "100% broken,\nsee: log" } }));
    const { code, log } = await step({ prompt: "x" });
    expect(code).toBe(1);
    const prefix = state === "BLOCKED" ? "The agent asks: " : "";
    expect(log).toContain(`::error title=Runyard%3A ${state}::${prefix}100%25 broken,%0Asee: log\n`);
    expect(outputs()).toMatchObject({ "run-id": "r1", state, "session-link": "", response: "All done.", patch: "" });
    expect(summary()).toBe(
      `### ${mark} Fix it: ${state}\n\n| | |\n|---|---|\n| Run | \`r1\` |\n| Message | 100% broken, see: log |\n\nAll done.\n\n`,
    );
  });

  it("summarizes the model and the changes of each repository, and cuts a response of more than 60,000 characters", async () => {
    const git = { path: "shop", files_changed: 2, insertions: 1, deletions: 0, commits: 0, branch: "a|b" };
    const more = {
      agent_config: { model_id: "a_b  c" },
      artifacts: [
        { artifact_type: "FILE", created_at: "", data: { artifact_uid: "a", filename: "shop.patch", git } },
        { artifact_type: "PLAN", created_at: "", data: { content: "# Plan", content_type: "text/markdown" } },
      ],
    };
    const cells = [
      "Model | a&#95;b c",
      "Changes | shop: 2 files changed, +1 −0, no commits, branch a&#124;b",
      "Files | shop.patch",
    ];
    server.play([...ending("SUCCEEDED", more, "x".repeat(60_000)), ...download("a", "")]);
    await step({ prompt: "x" });
    expect(summary()).toContain(`\n|---|---|\n| Run | \`r1\` |\n${cells.map((cell) => `| ${cell} |\n`).join("")}\nxx`);
    expect(summary().endsWith(`\n${"x".repeat(60_000)}\n\n`)).toBe(true);
    writeFileSync(path.join(folder, "summary"), "");
    server.play([...ending("SUCCEEDED", more, `${"x".repeat(60_000)}y`), ...download("a", "")]);
    await step({ prompt: "x" });
    expect(summary().endsWith(`\n${"x".repeat(60_000)}\n\n(cut)\n\n`)).toBe(true);
  });

  it("only warns with fail-on-failure false", async () => {
    server.play(ending("FAILED", { status_message: { message: "No." } }));
    const { code, log } = await step({ prompt: "x", "fail-on-failure": "false" });
    expect(code).toBe(0);
    expect(log).toContain("::warning title=Runyard%3A FAILED::No.\n");
  });

  it("keeps sandbox text from being a runner command, or Markdown in a title", async () => {
    const attack = "::add-mask::x\n  ::stop-commands::y\n##[add-path]/evil\nfine ##[set-env name=A]b";
    const hostile = [
      event(1, "agent_started", { detail: "::error::detail" }),
      messages(2, "assistant", {
        type: "action",
        id: "a",
        category: "command",
        name: "run_command",
        input: { command: attack },
      }),
      messages(3, "tool", {
        type: "action_result",
        action_id: "a",
        category: "command",
        name: "run_command",
        state: "completed",
        output: { exit_code: 0, stdout: attack },
      }),
      messages(4, "assistant", { type: "text", text: attack }),
    ];
    server.play(ending("SUCCEEDED", { title: "[x](https://evil) | <img>" }, attack, hostile));
    const { log } = await step({ prompt: "x" });
    expect(commands(log)).toEqual(["::add-mask::rya_secret", "::group::$ ::add-mask::x", "::endgroup::"]);
    expect(summary()).not.toContain("[x](https://evil)");
    expect(summary()).not.toContain("<img>");
  });

  it("cancels the run by force when the job is cancelled, and waits for its end", async () => {
    server.play([
      CREATED,
      { ...api({ events: [], next: 0, ended: false }), delay_ms: 30_000 },
      api("r1"),
      api({ events: [event(1, "run_cancelled", { state: "CANCELLED" })], next: 1, ended: true }),
      api({ ...RUN, state: "CANCELLED", status_message: { message: "cancelled by CI" } }),
    ]);
    const { cancel, exited, log } = start({ prompt: "x" });
    while (server.seen.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    cancel();
    expect(await exited).toBe(1);
    expect(server.seen[2]).toMatchObject({ method: "POST", path: "/agent/runs/r1/cancel", rawQuery: "force=true" });
    expect(log()).toContain("::warning title=Runyard::The job was cancelled. Cancelling the run.\n");
    expect(outputs()).toMatchObject({ "run-id": "r1", state: "CANCELLED", "session-link": "", response: "" });
    expect(outputs()).not.toHaveProperty("patch");
  });

  it("cancels a run that takes longer than timeout-minutes, and fails", async () => {
    server.play([
      CREATED,
      { ...api({ events: [], next: 0, ended: false }), delay_ms: 30_000 },
      api("r1"),
      api({ events: [event(1, "run_cancelled", { state: "CANCELLED" })], next: 1, ended: true }),
      api({ ...RUN, state: "CANCELLED" }),
      api({ text: "", state: "CANCELLED", artifacts: [] }),
    ]);
    const { code, log } = await step({ prompt: "x", "timeout-minutes": "0.01" });
    expect(code).toBe(1);
    expect(log).toContain("::error title=Runyard::The run took longer than 0.01 minutes. Cancelling the run.\n");
    expect(outputs()["state"]).toBe("CANCELLED");
  });

  it.each([
    [
      { prompt: "x", "api-key": "" },
      "The input api-key is missing, and the job may not request an OIDC token in its place. Is the secret set, or the permission id-token: write?",
    ],
    [{}, "The input prompt is missing, and there is no skill."],
    [{ prompt: "x", metadata: "novalue" }, "metadata is written name=value, one a line, and novalue is not."],
    [{ prompt: "x", "timeout-minutes": "soon" }, "timeout-minutes is a number above 0, up to 35,000."],
    [{ prompt: "x", comment: "yes" }, "comment is true or false."],
    [{ prompt: "x", budget: "much" }, "The input budget is a number, and much is not."],
  ])("fails before it sends anything if the inputs are wrong: %j", async (inputs, said) => {
    server.play([]);
    const { code, log } = await step(inputs);
    expect({ code, seen: server.seen }).toEqual({ code: 1, seen: [] });
    expect(log).toContain(`::error title=Runyard::${said}\n`);
  });

  it("prints the service's error with the trace id", async () => {
    server.play([problem(401, "authentication_required", "no such key")]);
    const { code, log } = await step({ prompt: "x" });
    expect(code).toBe(1);
    expect(log).toContain(
      "::error title=Runyard::authentication required (401): no such key%0A  trace id: t-1%0AThe key in api-key",
    );
  });

  it.each(["", undefined])("works if the runner provides no files to write to: %j", async (file) => {
    server.play(ending("SUCCEEDED"));
    expect((await step({ prompt: " x\n" }, { GITHUB_OUTPUT: file, GITHUB_STEP_SUMMARY: file })).code).toBe(0);
    expect(bodyAt(0)).toMatchObject({ prompt: "x" });
  });
});

describe("JobLog", () => {
  const START = Date.parse("2026-05-18T19:00:00.000Z");
  const atTime = (milliseconds: number) => new Date(START + milliseconds).toISOString();

  function createLog() {
    const lines: string[] = [];
    const log = new JobLog({ env: {}, print: (line) => void lines.push(line), onCancel: () => () => undefined });
    const show = (type: RunEvent["type"], milliseconds: number, data: Record<string, unknown>) =>
      log.show({ sequence: 1, type, occurred_at: atTime(milliseconds), data });
    const say = (milliseconds: number, ...content: object[]) =>
      show("messages", milliseconds, { messages: [{ role: "assistant", content, timestamp: atTime(milliseconds) }] });
    return { lines, log, show, say };
  }
  const action = (id: string, input: object, more: object = {}) => ({
    type: "action",
    id,
    name: "tool",
    input,
    ...more,
  });
  const result = (action_id: string, more: object) => ({
    type: "action_result",
    action_id,
    state: "completed",
    output: {},
    ...more,
  });

  it("shows steps, texts and other actions as lines with their times, and details in groups", () => {
    const { lines, show, say } = createLog();
    show("run_queued", 0, { state: "QUEUED" });
    show("setup_repo_clone", 1_200, { duration_ms: 400, is_error: true, detail: "no access" });
    show("setup_repo_clone", 1_300, { state: "FAILED", is_error: true });
    say(2_000, { type: "text", text: "\n one\n two \n\n" });
    say(3_000, action("a", { path: "x" }, { title: "Edit\nx" }));
    say(4_000, result("a", { summary: "+1", diff: "-a\n+b\n" }));
    say(5_000, action("b", {}), result("b", { output: { found: 1 } }));
    say(
      6_000,
      result("c", { title: "Look", output: {} }),
      result("d", { title: "Ask", summary: "no", state: "failed" }),
    );
    expect(lines).toEqual([
      "    0.0 s  QUEUED",
      "    1.2 s  cloned  failed  no access  0.4 s",
      "    1.3 s  FAILED  cloned",
      "    2.0 s  ",
      "    2.0 s   one",
      "    2.0 s   two",
      "    3.0 s  • Edit x",
      "    4.0 s  +1",
      "::group::diff",
      "| -a",
      "| +b",
      "::endgroup::",
      "    5.0 s  • tool  completed",
      "::group::output",
      "| {",
      '|   "found": 1',
      "| }",
      "::endgroup::",
      "    6.0 s  • Look  done",
      "    6.0 s  • Ask  no",
    ]);
  });

  it("shows each command with its output as one group, and closes the one that is open", () => {
    const { lines, log, say } = createLog();
    const command = (id: string, text: string) => action(id, { command: text });
    say(0, command("a", "\nmake\n  test\n"));
    say(1_000, { type: "text", text: "While it runs" });
    say(2_000, command("b", "ls"), result("b", { output: { exit_code: 0, stdout: "  x\n\n" } }));
    say(3_000, command("c", "true"), result("c", { output: { exit_code: 0 } }));
    say(4_000, command("d", "sleep 9"));
    log.close();
    log.close();
    expect(lines).toEqual([
      "::group::$ make",
      "$   test",
      "::endgroup::",
      "    1.0 s  While it runs",
      "::group::$ ls",
      "|   x",
      "::endgroup::",
      "    2.0 s  exit 0",
      "::group::$ true",
      "::endgroup::",
      "    3.0 s  exit 0",
      "::group::$ sleep 9",
      "::endgroup::",
    ]);
  });
});

describe("printText", () => {
  it("shows the whole text, escaped so that the runner reads no command", () => {
    const lines: string[] = [];
    const job = { env: {}, print: (line: string) => void lines.push(line), onCancel: () => () => undefined };
    printText(job, "::error::x \n  ::add-mask::y\na::b\n ##[set-env]##[x] ", "");
    printText(job, "::error::x", "| ");
    expect(lines).toEqual([
      "\u200b::error::x ",
      "\u200b::add-mask::y",
      "a::b",
      " ##\u200b[set-env]##\u200b[x] ",
      "| ::error::x",
    ]);
  });
});

describe("command", () => {
  it("escapes what would end its text or its properties", () => {
    const lines: string[] = [];
    const job = { env: {}, print: (line: string) => void lines.push(line), onCancel: () => () => undefined };
    command(job, "error", "1%\n2,3:4", { title: "a,b:c%\n", file: "x" });
    command(job, "endgroup", "");
    expect(lines).toEqual(["::error title=a%2Cb%3Ac%25%0A,file=x::1%25%0A2,3:4", "::endgroup::"]);
  });
});

describe("action.yml", () => {
  const Described = v.record(v.string(), v.looseObject({ description: v.string(), required: v.optional(v.boolean()) }));
  const Action = v.looseObject({
    inputs: Described,
    outputs: Described,
    runs: v.strictObject({ using: v.literal("node24"), main: v.string() }),
  });
  const action = v.parse(Action, parse(readFileSync(path.join(root, "action.yml"), "utf8")));

  it("names the inputs and outputs that the program reads and sets", () => {
    const source = readFileSync(path.join(root, "action/action.ts"), "utf8");
    const named = (call: string) =>
      [...source.matchAll(new RegExp(`\\b${call}\\(job, "([\\w-]+)"`, "g"))].map(([, name]) => name);
    const inputs = new Set([...named("input"), ...named("inputLines"), ...named("required")]);
    expect([...inputs].sort()).toEqual(Object.keys(action.inputs).sort());
    expect([...new Set(named("setOutput"))].sort()).toEqual(Object.keys(action.outputs).sort());
  });
});
