import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import * as v from "valibot";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CreateAttachmentRequest } from "#shared/wire/attachment.ts";
import { RunAgentRequest } from "#shared/wire/runs/new-run.ts";
import { runCli } from "../../cli/src/program.ts";
import { FaultServer } from "../clients/fault-server.ts";
import { FakeShell } from "./fake-shell.ts";
import { createPlayer } from "./play.ts";
import { APPROVAL, api, CREATED, commandEvents, event, problem, RUN, runResponses } from "./responses.ts";

const server = new FaultServer();
const folder = mkdtempSync(path.join(tmpdir(), "runyard-cli-"));
beforeAll(() => server.start());
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

const run = createPlayer(server);
const sent = (at = 0): unknown => JSON.parse(server.seen[at]?.body ?? "null");

/** The size limit of an attachment. */
const LARGEST = 100 * 1024 * 1024;

function writeFiles(...names: readonly string[]): string[] {
  const files = names.map((name) => path.join(folder, name));
  for (const file of files) writeFileSync(file, "text");
  return files;
}

/** Gives a file a size without writing as much. */
function truncate(file: string, size: number): string {
  truncateSync(file, size);
  return file;
}

describe("runyard run", () => {
  it("prints the warnings of the service on standard error", async () => {
    const warnings = [{ code: "unknown_member", path: "config.modelId", message: "did you mean model_id?" }];
    server.play([api({ run_id: "r1", task_id: "r1", state: "QUEUED", warnings })]);
    const { code, out, err } = await run(["run", "Fix it"]);
    expect({ code, out }).toEqual({ code: 0, out: "r1\n" });
    expect(err).toContain("Warning: config.modelId: did you mean model_id?\n");
  });

  it("prints only the id on standard output, and the next commands on standard error", async () => {
    server.play([CREATED]);
    const { code, out, err } = await run(["run", "Fix it"]);
    expect({ code, out }).toEqual({ code: 0, out: "r1\n" });
    expect(err).toBe("QUEUED. Follow it with: runyard runs follow r1\n");
    expect(sent()).toEqual({ prompt: "Fix it" });
    expect(server.seen[0]?.headers).toMatchObject({
      authorization: "Bearer ryp_secret",
      "x-run-source": "CLI",
      "user-agent": expect.stringMatching(/^runyard-cli\/\d/),
    });
  });

  it("prints the findings of a dry run, uploads nothing, and exits with 1 if the run would be refused", async () => {
    const finding = { code: "at_capacity", severity: "warning", message: "the run would wait", remedy: "Wait." };
    const error = { code: "conflict", severity: "error", message: "not now", remedy: "Send it later." };
    server.play([api({ would_start: true, findings: [finding], resolved_config: { model_id: "m" } })]);
    const [file = ""] = writeFiles("notes.txt");
    const accepted = await run(["run", "Fix it", "--dry-run", "--attach", file]);
    expect({ code: accepted.code, out: accepted.out }).toEqual({
      code: 0,
      out: "warning at_capacity: the run would wait\n  Wait.\nThe run would be created.\n",
    });
    expect(server.seen[0]).toMatchObject({ path: "/agent/runs", rawQuery: "dry_run=true" });
    const attachments = [{ file_name: "notes.txt", mime_type: "application/octet-stream", data: "" }];
    expect(sent()).toEqual({ prompt: "Fix it", attachments });
    expect(v.is(RunAgentRequest, sent())).toBe(true);

    const refused = { would_start: false, findings: [error, finding] };
    server.play([api(refused)]);
    const { code, out } = await run(["run", "Fix it", "--dry-run"]);
    expect(code).toBe(1);
    expect(out).toMatch(/^error conflict: not now\n {2}Send it later\.\nwarning .*The run would not be created\.\n$/s);

    server.play([api(refused)]);
    const asJson = await run(["run", "Fix it", "--dry-run", "--json"]);
    expect({ code: asJson.code, out: JSON.parse(asJson.out) }).toEqual({ code: 1, out: refused });
  });

  it.each([
    ["absent", () => [path.join(folder, "absent")], /--attach \S+absent cannot be read\.\n$/],
    ["a directory", () => [folder], /--attach \S+ cannot be read\.\n$/],
    ["empty", () => writeFiles("empty").map((file) => truncate(file, 0)), /--attach \S+empty is empty\.\n$/],
    [
      "too large",
      () => writeFiles("large").map((file) => truncate(file, LARGEST + 1)),
      /--attach \S+large has 104857601 bytes, and an attachment has at most 104857600\.\n$/,
    ],
    [
      "one too many",
      () => writeFiles("1", "2", "3", "4", "5", "6"),
      /--attach names 6 files, and a run has at most 5 attachments\.\n$/,
    ],
  ])("refuses files of --attach that are %s before it sends anything, also in a dry run", async (_, files, message) => {
    const attached = files().flatMap((file) => ["--attach", file]);
    for (const option of [[], ["--dry-run"]]) {
      server.play([]);
      const { code, err } = await run(["run", "Fix it", ...attached, ...option]);
      expect({ code, err, sent: server.seen }).toEqual({ code: 2, err: expect.stringMatching(message), sent: [] });
    }
  });

  it("accepts as many and as large files of --attach as the service does", async () => {
    const names = ["1", "2", "3", "4", "5"];
    server.play([api({ would_start: true, findings: [] })]);
    const files = writeFiles(...names).map((file) => truncate(file, LARGEST));
    expect(await run(["run", "x", "--dry-run", ...files.flatMap((file) => ["--attach", file])])).toMatchObject({
      code: 0,
    });
    const attachments = names.map(() => ({ attachment_id: "a" }));
    expect(v.is(RunAgentRequest, { attachments })).toBe(true);
    expect(v.is(RunAgentRequest, { attachments: [...attachments, ...attachments.slice(0, 1)] })).toBe(false);
    const { size_bytes } = CreateAttachmentRequest.entries;
    expect([LARGEST, LARGEST + 1].map((size) => v.is(size_bytes, size))).toEqual([true, false]);
  });

  it("refuses --dry-run with options that need a run", async () => {
    server.play([]);
    for (const option of [["--follow"], ["--idempotency-key", "k"]]) {
      const { code, err } = await run(["run", "Fix it", "--dry-run", ...option]);
      expect(code).toBe(2);
      expect(err).toContain("--dry-run");
    }
  });

  it("sends all flags, and finds an environment and an agent by name", async () => {
    const uid = "01990000-0000-7000-8000-000000000001";
    writeFileSync(path.join(folder, "config.json"), '{"idle_timeout_minutes": 5, "model_id": "other"}');
    writeFileSync(path.join(folder, "data.csv"), "a,b\n");
    server.play([
      api({ environments: [{ uid: "e1", config: { name: "backend", github_repos: [], setup_commands: [] } }] }),
      api({ agents: [{ uid, name: "bot" }] }),
      api({ attachment_id: "a1" }),
      CREATED,
    ]);
    const { code } = await run(
      ["run", "-", "--env", "backend", "--agent", "bot", "--repo", "https://example.com/a.git#v2"].concat(
        [
          "--repo",
          "https://example.com/b.git",
          "--skill",
          "acme/shop:x",
          "--model",
          "m1",
          "--title",
          "T",
          "--personal",
        ],
        ["--config", path.join(folder, "config.json"), "--attach", path.join(folder, "data.csv"), "--worker", "w1"],
        ["--metadata", "a=1", "--metadata", "b=2=3", "--mode", "plan", "--idempotency-key", "k1", "--team", uid],
      ),
      { input: "From standard input" },
    );
    expect(code).toBe(0);
    expect(sent(3)).toEqual({
      prompt: "From standard input",
      title: "T",
      team: false,
      mode: "plan",
      agent_identity_uid: uid,
      metadata: { a: "1", b: "2=3" },
      attachments: [{ attachment_id: "a1" }],
      config: {
        idle_timeout_minutes: 5,
        model_id: "m1",
        environment_id: "e1",
        skill_spec: "acme/shop:x",
        worker_host: "w1",
        repositories: [{ url: "https://example.com/a.git", ref: "v2" }, { url: "https://example.com/b.git" }],
      },
    });
    expect(server.seen[3]?.headers).toMatchObject({ "idempotency-key": "k1", "x-team-uid": uid });
  });

  it("uploads each file under a key of its own that follows from --idempotency-key", async () => {
    const [first, second] = ["one.txt", "two.txt"].map((name) => path.join(folder, name));
    const uploads = async (...more: string[]) => {
      for (const file of [first, second]) writeFileSync(file ?? "", "text");
      server.play([api({ attachment_id: "a1" }), api({ attachment_id: "a1" }), CREATED]);
      const { code } = await run(["run", "x", "--attach", first ?? "", "--attach", second ?? "", ...more]);
      expect(code).toBe(0);
      return server.seen
        .slice(0, 2)
        .map(({ body, headers }) => `${JSON.parse(body).file_name} ${headers["idempotency-key"]}`)
        .toSorted();
    };
    const key = "k".repeat(255);
    const keys = await uploads("--idempotency-key", key);
    expect(keys).toEqual([expect.stringMatching(/^one.txt [0-9a-f]{64}$/), expect.stringMatching(/^two.txt /)]);
    expect(keys[0]?.split(" ")[1]).not.toBe(keys[1]?.split(" ")[1]);
    expect(await uploads("--idempotency-key", key)).toEqual(keys);
    expect(await uploads("--idempotency-key", "other")).not.toEqual(keys);
    expect(await uploads()).not.toEqual(await uploads());
  });

  it("prints the API's response as one JSON document with --json, before or after the command's name", async () => {
    server.play([CREATED, CREATED]);
    expect(JSON.parse((await run(["run", "x", "--json"])).out)).toMatchObject({ run_id: "r1", state: "QUEUED" });
    expect(JSON.parse((await run(["--json", "run", "x"])).out)).toMatchObject({ run_id: "r1", state: "QUEUED" });
  });

  it("says that the run waits if the team is at capacity", async () => {
    server.play([api({ run_id: "r1", task_id: "r1", state: "QUEUED", at_capacity: true })]);
    expect((await run(["run", "x"])).err).toContain("this run waits in the queue");
  });
});

describe("runyard run --follow", () => {
  const ending = (state: string, message?: string) => [
    CREATED,
    api({ events: commandEvents(), next: 4, ended: false }),
    api({ events: [event(5, "run_ended", { state })], next: 5, ended: true }),
    api({
      ...RUN,
      state,
      run_time: "PT1.5S",
      request_usage: { total_tokens: 12_345, inference_cost: 0.0421 },
      ...(message === undefined ? {} : { status_message: { message } }),
    }),
    api({ text: "All done.", state, artifacts: [] }),
  ];

  it("shows states, steps, commands and exit codes as they happen, and the agent's final message", async () => {
    server.play(ending("SUCCEEDED"));
    const { code, out } = await run(["run", "x", "--follow"]);
    expect(code).toBe(0);
    expect(out).toContain("Run r1\n");
    expect(out).toMatch(/ {2}0\.0 s {2}QUEUED\n/);
    expect(out).toMatch(/ {2}1\.0 s {2}cloned {2}0\.4 s\n/);
    expect(out).toMatch(/ {2}2\.0 s {2}\$ npm test\n/);
    expect(out).toMatch(
      /\n {13}line 1\n {13}line 2\n {13}line 3\n {13}… 5 more lines\n {13}line 9\n {4}3\.0 s {2}exit 1\n/,
    );
    expect(out).toMatch(/\nSUCCEEDED after 1\.5s {2}r1\nAll done\.\n12,345 tokens · \$0\.0421\n$/);
    expect(out).not.toContain("\u001b");
  });

  it("follows the run that tries an environment in the same way", async () => {
    server.play(ending("FAILED"));
    const uid = "01990000-0000-7000-8000-000000000001";
    const { code, out } = await run(["environments", "try", uid, "--follow"]);
    expect(code).toBe(1);
    expect(out).toContain("Run r1\n");
    expect(out).toMatch(/\nFAILED after 1\.5s {2}r1\n/);
    expect(server.seen[0]?.path).toBe(`/agent/environments/${uid}/try`);
  });

  it("prints the final message at the end if it was cut before, and only once if it was not", async () => {
    const follow = async (text: string) => {
      const said = event(1, "messages", { messages: [{ role: "assistant", content: [{ type: "text", text }] }] });
      server.play(runResponses("SUCCEEDED", {}, text, [said]));
      return (await run(["run", "x", "--follow"])).out.split("\nSUCCEEDED");
    };
    const long = Array.from({ length: 9 }, (_, index) => `Line ${index}.`).join("\n");
    const [before, end] = await follow(long);
    expect(before).toContain("more lines");
    expect(end).toContain(long);
    const [shown, rest] = await follow("Two\nlines.");
    expect(shown).toContain("Two\n");
    expect(rest).not.toContain("Two");
  });

  it("shows outputs whole with --verbose", async () => {
    server.play(ending("SUCCEEDED"));
    const { out } = await run(["run", "x", "-f", "--verbose"]);
    expect(out).toContain("line 4\n");
    expect(out).not.toContain("more lines");
  });

  it.each([
    ["SUCCEEDED", 0],
    ["FAILED", 1],
    ["ERROR", 1],
    ["BLOCKED", 3],
    ["CANCELLED", 130],
  ])("exits with the code for a run that ended %s", async (state, expected) => {
    server.play(ending(state, "Why it is so."));
    const { code, out, err } = await run(["run", "x", "--follow"]);
    expect(code).toBe(expected);
    expect(out).toContain("Why it is so.");
    expect(err).toBe(state === "BLOCKED" ? 'Answer it with: runyard runs followup r1 "…"\n' : "");
  });

  it("says how to approve or deny the call that a run waits for", async () => {
    const [start, steps, end, , response] = ending("BLOCKED");
    const waiting = api({ ...RUN, state: "BLOCKED", waiting_for: "approval", approval: APPROVAL });
    server.play([start, steps, end, waiting, response].filter((reply) => reply !== undefined));
    const { code, err } = await run(["run", "x", "--follow"]);
    expect([code, err]).toEqual([3, 'Answer it with: runyard runs approve r1, or runyard runs deny r1 --reason "…"\n']);
  });

  it("prints events and finally the run as JSON Lines with --json", async () => {
    server.play(ending("FAILED").slice(0, 4));
    const { code, out } = await run(["run", "x", "--follow", "--json"]);
    const lines = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(code).toBe(1);
    expect(lines.slice(0, -1).map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5]);
    expect(lines.at(-1)).toMatchObject({ run_id: "r1", state: "FAILED" });
  });

  it("colors a terminal, except with NO_COLOR, and removes the sandbox's control characters", async () => {
    const hostile = event(1, "messages", {
      messages: [{ role: "assistant", content: [{ type: "text", text: "\u001b[2Jgone\u0007" }] }],
    });
    const script = [
      CREATED,
      api({ events: [event(0, "run_queued", { state: "QUEUED" }), hostile], next: 1, ended: true }),
      api({ ...RUN, state: "SUCCEEDED" }),
      api({ text: "\u001b]0;title\u0007fine", state: "SUCCEEDED", artifacts: [] }),
    ];
    server.play(script);
    const colored = await run(["run", "x", "--follow"], { terminal: true });
    expect(colored.out).toContain("\u001b[32mSUCCEEDED\u001b[0m");
    for (const sequence of ["\u001b[2J", "\u001b]0", "\u0007"]) expect(colored.out).not.toContain(sequence);
    server.play(script);
    const plain = await run(["run", "x", "--follow"], { terminal: true, env: { NO_COLOR: "1" } });
    expect(plain.out).not.toContain("\u001b");
    expect(plain.out).toContain("gone\n");
    expect(plain.out).not.toContain("[2J");
  });
});

describe("runyard runs followup --attach", () => {
  it("uploads the files for the run and sends them with the message, or without one", async () => {
    const [file = ""] = writeFiles("error.log");
    const prepared = { attachment_id: "a1", upload_url: "{storage}/u", expires_at: "" };
    const upload_target = { url: "{storage}/u", method: "PUT", headers: {} };
    server.play([
      api({ attachments: [{ ...prepared, upload_target }] }),
      { ...api(undefined), at: "storage" },
      api({ followup_id: "followup-1", run_id: "r1", outcome: "live_session" }),
    ]);
    const { code, out } = await run(["runs", "followup", "r1", "--attach", file]);
    expect({ code, out }).toEqual({ code: 0, out: "sent to the running agent\n" });
    const files = [{ filename: "error.log", mime_type: "application/octet-stream", size_bytes: 4 }];
    expect(sent()).toEqual({ files });
    expect(server.seen[1]).toMatchObject({ method: "PUT", path: "/u", body: "text" });
    expect(sent(2)).toEqual({ attachments: [{ attachment_id: "a1" }] });
  });

  it("sends no follow-up where a file cannot be uploaded, or there are too many", async () => {
    const [file = ""] = writeFiles("error.log");
    const prepared = { attachment_id: "a1", upload_url: "{storage}/u", expires_at: "" };
    const upload_target = { url: "{storage}/u", method: "PUT", headers: {} };
    server.play([
      api({ attachments: [{ ...prepared, upload_target }] }),
      { ...api(undefined, { status: 403 }), at: "storage" },
    ]);
    const refused = await run(["runs", "followup", "r1", "see this", "--attach", file]);
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining("the storage returned 403") });
    server.play([]);
    const many = await run(["runs", "followup", "r1", ...Array.from({ length: 26 }, () => ["--attach", file]).flat()]);
    expect(many).toMatchObject({ code: 2, err: expect.stringContaining("a follow-up has at most 25 attachments") });
  });
});

describe("runyard runs followup --follow", () => {
  const at = (sequence: number, text: string) =>
    event(sequence, "messages", { messages: [{ role: "assistant", content: [{ type: "text", text }] }] });

  it.each([
    ["text", [], /^ {4}0\.0 s {2}More\.\n\nSUCCEEDED/],
    ["JSON", ["--json"], /^\{"sequence":3,.*\n\{"run_id":"r1",.*\n$/],
  ])("prints as %s what comes after the message, and nothing from before it", async (_, args, printed) => {
    server.play([
      api({ events: [at(1, "Old.")], next: 1, ended: false }),
      api({ events: [at(2, "Done.")], next: 2, ended: true }),
      api({}),
      api({ events: [at(3, "More.")], next: 3, ended: true }),
      api({ ...RUN, state: "SUCCEEDED" }),
      ...(args.length === 0 ? [api({ text: "More.", state: "SUCCEEDED", artifacts: [] })] : []),
    ]);
    const { code, out } = await run(["runs", "followup", "r1", "go on", "--follow", ...args]);
    expect({ code, left: server.left }).toEqual({ code: 0, left: 0 });
    expect(out).toMatch(printed);
    const requests = server.seen.slice(0, 4).map(({ path, rawQuery }) => `${path.split("/").at(-1)} ${rawQuery}`);
    expect(requests).toEqual([
      "events after=0&wait=0",
      "events after=1&wait=0",
      "followups ",
      expect.stringMatching(/^events after=2&wait=25/),
    ]);
  });
});

describe("Ctrl-C while a run is followed", () => {
  const waiting = { ...api({ events: [], next: 0, ended: false }), delay_ms: 20_000 };

  async function interrupted(
    args: readonly string[],
    responses: readonly (string | undefined)[] | undefined,
    more: ReturnType<typeof api>[],
    before: ReturnType<typeof api>[] = [],
  ) {
    server.play([CREATED, ...before, waiting, ...more]);
    const env = { RUNYARD_API_KEY: "ryp_secret", RUNYARD_BASE_URL: server.api };
    const shell = new FakeShell({ env, ...(responses === undefined ? {} : { responses: responses }) });
    const running = runCli(shell, ["run", "x", "--follow", ...args]);
    while (server.seen.length < 2 + before.length) await new Promise((resolve) => setTimeout(resolve, 5));
    await shell.interrupt();
    return { code: await running, shell };
  }

  const cancelled = [
    api("r1"),
    api({ events: [event(1, "run_cancelled", { state: "CANCELLED" })], next: 1, ended: true }),
    api({ ...RUN, state: "CANCELLED" }),
    api({ text: "", state: "CANCELLED", artifacts: [] }),
  ];

  it("asks, cancels on yes, and follows the run to its end", async () => {
    const { code, shell } = await interrupted([], ["y"], cancelled);
    expect(code).toBe(130);
    expect(shell.questions).toEqual(["\nCancel the run too? [y/N] "]);
    expect(server.seen.map(({ method, path }) => `${method} ${path}`)).toContain("POST /agent/runs/r1/cancel");
    expect(shell.stdout).toContain("CANCELLED");
  });

  it("follows the run from its last event after that, and then no longer catches Ctrl-C", async () => {
    const before = [api({ events: [1, 2].map((at) => event(at, "agent_started", {})), next: 2, ended: false })];
    const { code, shell } = await interrupted(["--on-interrupt", "cancel"], undefined, cancelled, before);
    const polls = server.seen.filter(({ path }) => path === "/agent/runs/r1/events").map(({ rawQuery }) => rawQuery);
    expect(polls.map((query) => new URLSearchParams(query).get("after"))).toEqual(["0", "2", "2"]);
    expect([code, shell.listeners]).toEqual([130, 0]);
  });

  it.each([
    ["that goes on", [problem(400, "invalid_request", "It is starting."), api({ ...RUN, state: "PENDING" })]],
    ["of another person", [problem(403, "not_authorized", "It is not yours.")]],
  ])("fails where a run %s cannot be cancelled", async (_, responses) => {
    const { code, shell } = await interrupted(["--on-interrupt", "cancel"], undefined, responses);
    expect([code, server.seen.length, server.complaints]).toEqual([4, 2 + responses.length, []]);
    expect(shell.stderr).toMatch(/It is (starting|not yours)\./);
  });

  it("leaves the run running on any other answer, and prints how to return", async () => {
    const { code, shell } = await interrupted([], [""], []);
    expect(code).toBe(130);
    expect(shell.stderr).toBe("The run goes on. Follow it with: runyard runs follow r1\n");
    expect(server.seen).toHaveLength(2);
  });

  it("does not ask without a terminal, and follows --on-interrupt", async () => {
    const left = await interrupted([], undefined, []);
    expect(left).toMatchObject({ code: 130, shell: { questions: [] } });
    expect(server.seen).toHaveLength(2);
    const stopped = await interrupted(["--on-interrupt", "cancel"], undefined, cancelled);
    expect(stopped).toMatchObject({ code: 130, shell: { questions: [] } });
    expect(server.seen[2]?.path).toBe("/agent/runs/r1/cancel");
  });

  it("reports a run that ended in the meantime with its outcome", async () => {
    const ended = [
      problem(400, "invalid_request", "The run has ended."),
      api({ ...RUN, state: "SUCCEEDED" }),
      api({ events: [], next: 1, ended: true }),
      api({ ...RUN, state: "SUCCEEDED" }),
      api({ text: "", state: "SUCCEEDED", artifacts: [] }),
    ];
    expect((await interrupted(["--on-interrupt", "cancel"], undefined, ended)).code).toBe(0);
  });
});
