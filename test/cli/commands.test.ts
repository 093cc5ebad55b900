import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { time } from "../../cli/src/options.ts";
import { timeText } from "../../cli/src/time-text.ts";
import { FaultServer } from "../clients/fault-server.ts";
import { createPlayer } from "./play.ts";
import { APPROVAL, api, download, problem, RUN } from "./responses.ts";

const server = new FaultServer();
const run = createPlayer(server);
const folder = mkdtempSync(path.join(tmpdir(), "runyard-cli-"));
beforeAll(() => server.start());
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

const UID = "01990000-0000-7000-8000-000000000001";
const bodyAt = (at: number): unknown => JSON.parse(server.seen[at]?.body ?? "null");
const bodies = () => server.seen.map(({ body }) => JSON.parse(body));
const requests = () =>
  server.seen.map(({ method, path, rawQuery }) => `${method} ${path}${rawQuery && `?${rawQuery}`}`);
const page = (ids: readonly string[], next?: string) =>
  api({
    runs: ids.map((run_id) => ({ ...RUN, run_id, source: "CLI", title: `Title of ${run_id}` })),
    page_info: { has_next_page: next !== undefined, ...(next === undefined ? {} : { next_cursor: next }) },
  });

describe("runyard runs delete", () => {
  const filters = ["runs", "delete", "--task-status", "failed"];
  const deleted = (ids: readonly string[], refused: readonly unknown[] = [], next_cursor?: string) =>
    api({
      matched: ids.length + refused.length,
      deleted: ids,
      refused,
      page_info: { has_next_page: next_cursor !== undefined, next_cursor },
    });

  it("deletes every run that matches, and names those that are refused", async () => {
    const refused = [{ run_id: "r2", error_code: "conflict" }];
    server.play([deleted(["r1"], refused, "c1"), deleted(["r3"])]);
    const { code, out, err } = await run([...filters, "--yes"]);
    expect([code, out, err]).toEqual([1, "deleted: 2\n", "r2: conflict\n"]);
    expect(requests()).toEqual(["POST /agent/runs/delete", "POST /agent/runs/delete"]);
    const filter = { task_status: ["failed"], archived: "all" };
    expect(bodies()).toEqual([{ filter }, { filter, cursor: "c1" }]);
    server.play([deleted(["r4"])]);
    expect((await run(["runs", "delete", "--all", "--yes", "--json"])).out).toBe('{"deleted":["r4"]}\n');
    expect(bodies()).toEqual([{ all: true }]);
  });

  it("asks a person before, and refuses without --yes where there is none", async () => {
    server.play([page(["r1", "r2"])]);
    const refused = await run(filters);
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("2 runs match.")]);
    server.play([page(["r1"])]);
    const kept = await run(filters, { responses: ["n"] });
    expect([kept.code, kept.shell.questions]).toEqual([1, ["Delete 1 runs? [y/N] "]]);
    expect(requests()).toEqual(["GET /agent/runs?task_status=failed&archived=all&limit=100"]);
    server.play([page(["r1"]), deleted(["r1"])]);
    expect((await run(filters, { responses: ["y"] })).out).toBe("deleted: 1\n");
  });

  it("needs ids or filters, and not both", async () => {
    server.play([]);
    expect((await run(["runs", "delete"])).err).toContain("at least one filter");
    expect((await run([...filters, "r1"])).err).toContain("not several");
  });
});

describe("runyard runs list", () => {
  it("prints a table, and says if there is more", async () => {
    server.play([page(["r1", "r22"], "c1")]);
    const { out, err } = await run(["runs", "list"]);
    expect(out).toBe(
      [
        "RUN  STATE       CREATED               SOURCE  TITLE",
        "r1   INPROGRESS  2026-05-18 19:00:00Z  CLI     Title of r1",
        "r22  INPROGRESS  2026-05-18 19:00:00Z  CLI     Title of r22",
        "",
      ].join("\n"),
    );
    expect(err).toBe("There are more: use --all to list them.\n");
  });

  it("sends every filter in the API's format", async () => {
    server.play([page([])]);
    const args =
      "--state failed --state ERROR --metadata a=1 --search flaky --sort title --ascending --limit 5 --after 2026-05-18T00:00Z";
    const { err } = await run(["runs", "list", ...args.split(" ")]);
    expect(
      decodeURIComponent(server.seen[0]?.rawQuery ?? "")
        .split("&")
        .sort(),
    ).toEqual([
      "created_after=2026-05-18T00:00:00.000Z",
      "limit=5",
      "metadata[a]=1",
      "q=flaky",
      "sort_by=title",
      "sort_order=asc",
      "state=ERROR",
      "state=FAILED",
    ]);
    expect(err).toBe("There are no runs.\n");
  });

  it("prints the response as one document with --json, and one run per line with --all", async () => {
    server.play([page(["r1"], "c1")]);
    expect(JSON.parse((await run(["runs", "list", "--json"])).out)).toMatchObject({ page_info: { next_cursor: "c1" } });
    server.play([page(["r1", "r2"], "c1"), page(["r3"])]);
    const { out } = await run(["runs", "list", "--all", "--json"]);
    expect(
      out
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line).run_id),
    ).toEqual(["r1", "r2", "r3"]);
  });

  it("fetches all pages with --all, under one header", async () => {
    server.play([page(["r1"], "c1"), page(["r2"])]);
    const { out } = await run(["runs", "list", "--all"]);
    expect(out.match(/^RUN/gm)).toHaveLength(1);
    expect(out).toContain("r2   ");
    const limits = server.seen.map(({ rawQuery }) => new URLSearchParams(rawQuery).get("limit"));
    expect(limits, "few requests for a long list").toEqual(["100", "100"]);
  });

  it("fetches pages of the given size with --all", async () => {
    server.play([page(["r1"], "c1"), page(["r2"])]);
    expect((await run(["runs", "list", "--all", "--limit", "7"])).code).toBe(0);
    expect(server.seen.map(({ rawQuery }) => new URLSearchParams(rawQuery).get("limit"))).toEqual(["7", "7"]);
  });

  it.each([
    [["--all"], "", "There are no runs.\n"],
    [["--all", "--json"], "", ""],
    [["--json"], '{"runs":[],"page_info":{"has_next_page":false}}\n', ""],
  ])("says that there are none to people only: %j", async (args, out, err) => {
    server.play([api({ runs: [], page_info: { has_next_page: false } })]);
    expect(await run(["runs", "list", ...args])).toMatchObject({ code: 0, out, err });
  });

  it("truncates a line to the terminal's width, but not in a pipe", async () => {
    const long = api({ runs: [{ ...RUN, title: "word ".repeat(60) }], page_info: { has_next_page: false } });
    server.play([long, long]);
    const cut = await run(["runs", "list"], { terminal: true, columns: 80, env: { NO_COLOR: "1" } });
    expect(cut.out.split("\n")[1]).toHaveLength(80);
    expect((await run(["runs", "list"])).out.split("\n")[1]?.length).toBeGreaterThan(300);
  });
});

describe("the artifacts of a run", () => {
  const artifact = (uid: string, filename: string) => ({
    artifact_type: "FILE",
    created_at: RUN.created_at,
    data: { artifact_uid: uid, filename, filepath: filename, mime_type: "text/plain", size_bytes: 4 },
  });
  const stored = (raw: string) => ({ ...api(undefined), at: "storage" as const, body: undefined, raw });

  it("are refused before anything is written where a file exists, unless --overwrite replaces it", async () => {
    mkdirSync(path.join(folder, "mine"), { recursive: true });
    writeFileSync(path.join(folder, "mine/package.json"), "precious");
    const files = [artifact("a1", "new.txt"), artifact("a2", "package.json")];
    server.play([api({ ...RUN, artifacts: files })]);
    const refused = await run(["runs", "artifacts", "r1", "--download", "mine"], { cwd: folder });
    expect([refused.code, refused.err]).toEqual([
      1,
      expect.stringMatching(/package\.json exists already.*--overwrite/s),
    ]);
    expect(readdirSync(path.join(folder, "mine"))).toEqual(["package.json"]);
    expect(readFileSync(path.join(folder, "mine/package.json"), "utf8")).toBe("precious");
    server.play([
      api({ ...RUN, artifacts: files }),
      ...files.flatMap(({ data }) => download(data.artifact_uid, data.artifact_uid)),
    ]);
    const { code } = await run(["runs", "artifacts", "r1", "--download", "mine", "--overwrite"], { cwd: folder });
    expect(code).toBe(0);
    expect(readFileSync(path.join(folder, "mine/package.json"), "utf8")).toBe("a2");
  });

  it("are saved under distinct paths that cannot leave the folder", async () => {
    const names = ["out.txt", "../../out.txt", "..", "c:\\temp\\log.txt", "a\u001b[2J\u202eb", "docs/out.txt"];
    const files = names.map((name, index) => artifact(`a${index + 1}`, name));
    server.play([
      api({ ...RUN, artifacts: files }),
      ...files.flatMap(({ data }) => download(data.artifact_uid, data.artifact_uid)),
    ]);
    const { code, out } = await run(["runs", "artifacts", "r1", "--download", "got"], { cwd: folder });
    expect(code).toBe(0);
    expect(readdirSync(path.join(folder, "got")).sort()).toEqual([
      "a_[2J_b",
      "artifact",
      "docs",
      "out-2.txt",
      "out.txt",
      "temp",
    ]);
    expect(readFileSync(path.join(folder, "got/temp/log.txt"), "utf8")).toBe("a4");
    expect(readFileSync(path.join(folder, "got/docs/out.txt"), "utf8")).toBe("a6");
    expect(readFileSync(path.join(folder, "got/out-2.txt"), "utf8")).toBe("a2");
    expect(out.split("\n")[0]).toBe(path.join("got", "out.txt"));
  });

  it("are listed, or reported as absent", async () => {
    server.play([api({ ...RUN, artifacts: [artifact("a1", "out.txt")] }), api(RUN)]);
    expect((await run(["runs", "artifacts", "r1"])).out).toMatch(/a1 {8}FILE {2}.* {2}4 {6}out\.txt/);
    expect((await run(["runs", "artifacts", "r1"])).err).toBe("The run has no artifacts.\n");
  });

  it("are listed by their URL where their title is empty", async () => {
    const data = { reference_type: "issue", url: "https://issues.example/7", title: "" };
    const artifacts = [{ artifact_type: "EXTERNAL_REFERENCE", created_at: RUN.created_at, data }];
    server.play([api({ ...RUN, artifacts })]);
    expect((await run(["runs", "artifacts", "r1"])).out).toContain("https://issues.example/7");
  });

  it("include the transcript, byte by byte, without sending the key to the storage", async () => {
    server.play([api({ download_url: "{storage}/t", expires_at: "" }), stored('{"type":"run"}\n')]);
    expect((await run(["runs", "transcript", "r1"])).out).toBe('{"type":"run"}\n');
    expect(server.seen[1]?.headers).not.toHaveProperty("authorization");
  });

  it.each([
    ["a pipe unchanged", false, "é\u001b[2J\n"],
    ["a terminal without what it would obey", true, "é\n"],
  ])("are printed to %s", async (_, terminal, printed) => {
    server.play([api({ download_url: "{storage}/t", expires_at: "" }), stored("é\u001b[2J\n")]);
    expect((await run(["runs", "transcript", "r1"], { terminal })).out).toBe(printed);
  });
});

describe("commands for existing runs", () => {
  it("send a follow-up", async () => {
    server.play([api({})]);
    expect(await run(["runs", "followup", "r1", "-"], { input: "go on" })).toMatchObject({ code: 0, out: "sent\n" });
    expect(bodyAt(0)).toEqual({ message: "go on" });
  });

  it.each([
    ["queue_pending", "sent; it waits in the queue of the run\n"],
    ["live_session", "sent to the running agent\n"],
    ["a newer outcome", "sent\n"],
  ])("print what becomes of a follow-up: %s", async (outcome, out) => {
    server.play([api({ followup_id: "followup-1", run_id: "r1", outcome })]);
    expect(await run(["runs", "followup", "r1", "go on"])).toMatchObject({ code: 0, out });
  });

  it("approve and deny the call that a run waits for, and print the call", async () => {
    const waiting = api({ ...RUN, state: "BLOCKED", approval: APPROVAL });
    const sent = api({ followup_id: "followup-1", run_id: "r1", outcome: "handoff_execution" });
    server.play([waiting, sent, waiting, sent]);
    expect(await run(["runs", "approve", "r1"])).toMatchObject({
      code: 0,
      out: "approved; sent; the run continues\n",
      err: 'run_command {"command":"terraform apply"}\n',
    });
    expect((await run(["runs", "deny", "r1", "--reason", "use staging"])).out).toBe(
      "denied; sent; the run continues\n",
    );
  });

  it("show no call as the approved one if the run waits for another approval", async () => {
    server.play([
      api({ ...RUN, state: "BLOCKED", approval: APPROVAL }),
      problem(409, "conflict", "approval-3 is not what the run waits for"),
    ]);
    const { code, err } = await run(["runs", "approve", "r1", "--approval", "approval-3"]);
    expect(code).toBe(4);
    expect(err).toContain("approval-3 is not what the run waits for");
    expect(err).not.toContain("terraform");
  });

  it("send no approval to a run that waits for none", async () => {
    server.play([api(RUN)]);
    const { code, err } = await run(["runs", "approve", "r1"]);
    expect([code, err]).toEqual([1, expect.stringContaining("The run r1 is INPROGRESS and waits for no approval.")]);
    expect(requests()).toEqual(["GET /agent/runs/r1"]);
  });

  it("list the follow-ups of a run with their state and sender", async () => {
    const sent = { created_at: "2026-05-18T19:00:00.000Z", policy: "enqueue", attachments: [] };
    const created_by = { type: "user", uid: "u1", display_name: "Ada" };
    server.play([
      api({
        followups: [
          { ...sent, followup_id: "followup-1", number: 1, message: "one", created_by, state: "delivered" },
          { ...sent, followup_id: "followup-2", number: 2, message: "two", state: "pending" },
        ],
      }),
    ]);
    const { code, out } = await run(["runs", "followups", "r1"]);
    expect(code).toBe(0);
    expect(out).toMatch(/followup-1 +delivered +\S.* +Ada +one\nfollowup-2 +pending +\S.* +two\n/);
  });

  it("interrupt the turn of a run", async () => {
    server.play([api({ run_id: "r1" }), api({ run_id: "r1" })]);
    expect(await run(["runs", "interrupt", "r1", "--json"])).toMatchObject({ code: 0, out: '{"run_id":"r1"}\n' });
    expect((await run(["runs", "interrupt", "r1"])).out).toBe("interrupted\n");
    expect(requests()).toEqual(["POST /agent/runs/r1/interrupt", "POST /agent/runs/r1/interrupt"]);
  });

  it("cancel several runs, and cancel by force", async () => {
    server.play([api("r1"), api("r2")]);
    expect((await run(["runs", "cancel", "r1", "r2", "--force"])).code).toBe(0);
    expect(requests()).toEqual(["POST /agent/runs/r1/cancel?force=true", "POST /agent/runs/r2/cancel?force=true"]);
  });

  it("are not said to be cancelled if they have ended", async () => {
    const ended = [problem(400, "invalid_request", "it has ended"), api({ ...RUN, state: "SUCCEEDED" })];
    server.play([...ended, api("r2"), ...ended]);
    expect(await run(["runs", "cancel", "r1", "r2", "--json"])).toMatchObject({
      code: 0,
      out: '{"cancelled":["r2"]}\n',
      err: "r1 has ended already: SUCCEEDED.\n",
    });
    expect(await run(["runs", "cancel", "r1"])).toMatchObject({ code: 0, out: "" });
  });
});

describe("the times that commands print", () => {
  it("are in the time zone of the machine, and in UTC with --utc", async () => {
    server.play([page(["r1"]), page(["r1"]), page(["r1"])]);
    const zone = "Europe/Berlin";
    expect((await run(["runs", "list"], { zone })).out).toContain("  2026-05-18 21:00:00+02:00  ");
    expect((await run(["runs", "list", "--utc"], { zone })).out).toContain("  2026-05-18 19:00:00Z  ");
    expect((await run(["runs", "list"])).out).toContain("  2026-05-18 19:00:00Z  ");
  });

  it.each([
    ["2026-12-31T23:59:59.999Z", "Asia/Kathmandu", "2027-01-01 05:44:59+05:45"],
    ["2026-01-01T05:00:00Z", "America/New_York", "2026-01-01 00:00:00-05:00"],
    ["2026-05-18T00:00:00Z", "UTC", "2026-05-18 00:00:00Z"],
    ["soon", "UTC", "soon"],
  ])("of %s in %s are %s, as options for times accept them", (given, zone, text) => {
    expect(timeText(given, zone)).toBe(text);
    if (text !== "soon") expect(time(text)).toBe(`${given.slice(0, 19)}.000Z`);
  });
});

describe("runyard runs archive", () => {
  it("archives all runs that match the filters, page by page", async () => {
    const result = (name: string, ids: readonly string[], next_cursor?: string) =>
      api({
        matched: ids.length,
        [name]: ids,
        refused: [],
        page_info: { has_next_page: next_cursor !== undefined, next_cursor },
      });
    server.play([result("archived", ["r1", "r2"], "c1"), result("archived", ["r3"])]);
    const filters = ["--state", "succeeded", "--search", "flaky"];
    expect(await run(["runs", "archive", ...filters])).toMatchObject({ code: 0, out: "archived: 3\n" });
    expect(requests()).toEqual(["POST /agent/runs/archive", "POST /agent/runs/archive"]);
    const filter = { state: ["SUCCEEDED"], q: "flaky" };
    expect(bodies()).toEqual([{ filter }, { filter, cursor: "c1" }]);
    server.play([result("unarchived", ["r4"])]);
    expect((await run(["runs", "unarchive", "--model", "m", "--json"])).out).toBe('{"unarchived":["r4"]}\n');
    server.play([result("unarchived", ["r5"])]);
    expect((await run(["runs", "unarchive", "--all"])).out).toBe("unarchived: 1\n");
    expect(bodies()).toEqual([{ all: true }]);
  });

  it("needs run ids or filters, and not both", async () => {
    server.play([]);
    const sent = server.seen.length;
    for (const words of [[], ["r1", "--state", "FAILED"], ["--all", "--state", "FAILED"], ["r1", "--all"]]) {
      const { code, err } = await run(["runs", "archive", ...words]);
      expect([code, server.seen.length]).toEqual([1, sent]);
      expect(err).toContain("Give run ids");
    }
  });
});

describe("runyard runs share", () => {
  it("prints the link of the public view, and takes it back", async () => {
    server.play([api({ session_link: "https://runs.example/shared/r1" }), api({})]);
    expect(await run(["runs", "share", "r1"])).toMatchObject({ code: 0, out: "https://runs.example/shared/r1\n" });
    expect(await run(["runs", "share", "r1", "--off"])).toMatchObject({ code: 0, out: "no longer shared\n" });
    expect([bodyAt(0), bodyAt(1)]).toEqual([{ public_access: "VIEWER" }, { public_access: null }]);
  });
});

describe("runyard runs cancel", () => {
  it("tries again while the run is being prepared", async () => {
    const body = { title: "Conflict", status: 409, error_code: "conflict", retryable: true };
    const prepared = Array.from({ length: 15 }, () => api(body, { status: 409, headers: { "retry-after-ms": "1" } }));
    server.play([...prepared, api("r1")]);
    expect((await run(["runs", "cancel", "r1"])).code).toBe(0);
    expect([server.left, server.seen.length]).toEqual([0, 16]);
  });
});

describe("runyard schedules", () => {
  const item = {
    id: UID,
    name: "N",
    cron_schedule: "0 3 * * *",
    time_zone: "UTC",
    overlap: "allow",
    enabled: false,
    prompt: "p",
    mode: "normal",
    created_at: "",
    updated_at: "",
    last_spawn_error: null,
    history: { last_ran: null, next_run: null },
  };

  it("are created from the given options only", async () => {
    server.play([api(item, { status: 201 })]);
    const args = [
      "--name",
      "N",
      "--cron",
      "0 3 * * *",
      "--prompt",
      "p",
      "--overlap",
      "skip",
      "--time-zone",
      "Europe/Berlin",
    ];
    expect((await run(["schedules", "create", ...args, "--paused", "--model", "m"])).code).toBe(0);
    expect(bodyAt(0)).toEqual({
      name: "N",
      cron_schedule: "0 3 * * *",
      prompt: "p",
      overlap: "skip",
      time_zone: "Europe/Berlin",
      enabled: false,
      agent_config: { model_id: "m" },
    });
  });

  it("are found by name, and keep omitted options on an update", async () => {
    server.play([api({ schedules: [item] }), api(item), api(item)]);
    expect((await run(["schedules", "update", "N", "--cron", "@daily"])).code).toBe(0);
    expect(bodyAt(2)).toEqual({ name: "N", cron_schedule: "@daily", prompt: "p", enabled: false });
  });
});

describe("runyard secrets set", () => {
  it("prompts for the value without showing it", async () => {
    server.play([api({ name: "T", created_at: "", scope: { type: "Team", uid: "t" } }, { status: 201 })]);
    const { shell, out, err } = await run(["secrets", "set", "T"], { responses: ["s3cr3t"] });
    expect(shell.questions).toEqual(["Value of T: (hidden)"]);
    expect(bodyAt(0)).toEqual({ name: "T", value: "s3cr3t" });
    expect(out + err).not.toContain("s3cr3t");
  });

  it("reads it from a pipe, without the final newline unless it belongs to the value", async () => {
    const stored = api({ name: "T", created_at: "", scope: { type: "Team", uid: "t" } }, { status: 201 });
    server.play([stored, stored, stored, stored]);
    await run(["secrets", "set", "T"], { input: "value\n" });
    await run(["secrets", "set", "T", "--keep-newline"], { input: "value\n" });
    await run(["secrets", "set", "T"], { input: "value\r\n" });
    await run(["secrets", "set", "T"], { input: "two\nlines\n\n" });
    expect([0, 1, 2, 3].map((at) => bodyAt(at))).toEqual([
      { name: "T", value: "value" },
      { name: "T", value: "value\n" },
      { name: "T", value: "value" },
      { name: "T", value: "two\nlines\n" },
    ]);
  });

  it("accepts no value as an argument, and no empty value", async () => {
    server.play([]);
    expect(await run(["secrets", "set", "T", "s3cr3t"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("too many arguments"),
    });
    expect((await run(["secrets", "set", "T"], { responses: [undefined] })).code).toBe(2);
  });
});

describe("agents, environments and keys", () => {
  it("clear options that are given as empty on an update", async () => {
    server.play([api({ uid: UID, name: "b", available: true, skills: [], secrets: [], created_at: "" })]);
    await run(["agents", "update", UID, "--env", "", "--skill", "", "--on-behalf-of", "no"]);
    expect(bodyAt(0)).toEqual({ environment_id: "", skills: [], on_behalf_of_enabled: false });
    server.play([api({ uid: UID, config: { name: "e", github_repos: [], setup_commands: [] }, last_updated: "" })]);
    await run(["environments", "update", UID, "--setup", "npm ci", "--setup", "make", "--secret", ""]);
    expect(bodyAt(0)).toEqual({ setup_commands: ["npm ci", "make"], secrets: [] });
  });

  it("print a new key alone on standard output", async () => {
    server.play([api({ uid: "k1", name: "ci", suffix: "abcd", created_at: "", key: "rya_new" }, { status: 201 })]);
    const { out, err } = await run(["agents", "keys", "create", UID, "ci", "--expires", "2027-01-01"]);
    expect(out).toBe("rya_new\n");
    expect(err).toContain("it is shown only once. Its uid is k1.");
    expect(bodyAt(0)).toEqual({ name: "ci", expires_at: "2027-01-01T00:00:00.000Z" });
  });

  it("list the existing names if a name is unknown, and all uids if it is ambiguous", async () => {
    const two = {
      agents: [
        { uid: "a", name: "bot" },
        { uid: "b", name: "bot" },
        { uid: "c", name: "other" },
      ],
    };
    server.play([api(two), api(two)]);
    expect(await run(["agents", "get", "nobody"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("There are: bot, bot, other."),
    });
    expect(await run(["agents", "get", "bot"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("Several have the name bot: a, b."),
    });
  });
});

describe("an error", () => {
  it("is printed with the API's message, the fields, the trace id and a remedy", async () => {
    server.play([
      problem(400, "invalid_request", "the request is not valid", {
        errors: [{ path: "config.budget", message: "is no number" }],
      }),
    ]);
    const { code, out, err } = await run(["run", "x"]);
    expect({ code, out }).toEqual({ code: 4, out: "" });
    expect(err).toBe(
      "error: invalid request (400): the request is not valid\n  config.budget: is no number\n  trace id: t-1\n",
    );
  });

  it("does not repeat a field that its message names", async () => {
    const errors = [
      { path: "name", message: "is required" },
      { path: "title", message: "is too long" },
    ];
    server.play([problem(400, "invalid_request", "name: is required", { errors })]);
    expect((await run(["run", "x"])).err).toBe(
      "error: invalid request (400): name: is required\n  title: is too long\n  trace id: t-1\n",
    );
  });

  it("names the refused key, and the command that stores another", async () => {
    server.play([problem(401, "authentication_required", "no such key")]);
    const { code, err } = await run(["runs", "list"]);
    expect(code).toBe(4);
    expect(err).toContain("The key in RUNYARD_API_KEY is invalid or expired. `runyard login` stores another");
  });

  it("names the flag for the team if a person has several", async () => {
    server.play([problem(400, "invalid_request", "you are in several teams: name one in X-Team-Uid")]);
    expect((await run(["run", "x"])).err).toContain("Choose a team with --team; `runyard whoami` lists yours.");
  });

  it("names the flag for the team if the person is not in it", async () => {
    server.play([problem(403, "not_authorized", "X-Team-Uid: you are not a member of this team")]);
    const { err } = await run(["runs", "list", "--team", UID]);
    expect(err).toContain("Choose a team with --team; `runyard whoami` lists yours.");
    expect(err).not.toContain("personal keys");
  });

  it("names the option for files if a prompt is too long", async () => {
    server.play([api(undefined, { status: 413, raw: "Request Entity Too Large" })]);
    expect((await run(["run", "x"])).err).toContain("runyard run --attach");
  });

  it("names the base URL of an address that serves a web page", async () => {
    const page = api(undefined, { raw: "<!doctype html>", headers: { "content-type": "text/html; charset=utf-8" } });
    server.play([page, page, page]);
    const { code, err } = await run(["whoami"]);
    expect(code).toBe(4);
    expect(err).toBe(
      "error: The response is text/html, not JSON: check that the base URL ends in /api/v1.\n" +
        `Check that the service is running and the base URL is right: ${server.api}\n`,
    );
  });

  it("is printed for a service that cannot be reached", async () => {
    const env = { RUNYARD_BASE_URL: "http://127.0.0.1:9/api/v1" };
    const { code, err } = await run(["api", "GET", "/agent/teams"], { env });
    expect(code).toBe(4);
    expect(err).toContain("error: The connection failed: ");
    expect(err).toContain("Check that the service is running and the base URL is right: http://127.0.0.1:9/api/v1\n");
  });

  it.each([
    [
      ["runs", "list", "--limit", "many"],
      "option '--limit <n>' argument 'many' is invalid. Expected a whole number from 1 to 500.",
    ],
    [
      ["runs", "list", "--state", "DONE"],
      "option '--state <state>' argument 'DONE' is invalid. Allowed choices are QUEUED",
    ],
    [["run", "x", "--mode", "fast"], "Allowed choices are normal, plan, orchestrate."],
    [
      ["run", "x", "--metadata", "novalue"],
      "option '--metadata <name=value>' argument 'novalue' is invalid. Expected name=value.",
    ],
    [["schedules", "create", "--name", "x"], "required option '--cron <fields>' not specified"],
    [["run", "x", "--folow"], "unknown option '--folow'\n(Did you mean --follow?)"],
    [["schedule", "list"], "unknown command 'schedule'\n(Did you mean schedules?)"],
    [["runs", "lits"], "unknown command 'lits'\n(Did you mean list?)"],
    [["runs", "get"], "missing required argument 'run'"],
    [["run"], "The prompt is missing."],
    [["run", "x", "--config", "/nonexistent.json"], "--config /nonexistent.json cannot be read"],
    [["run", "x", "--attach", "/nonexistent"], "--attach /nonexistent cannot be read."],
    [["api", "GET", "/x", "--data", "{}"], "A GET has no body"],
    [["runs", "list", "--source", "ci"], "Allowed choices are API, CLI, "],
    [["webhooks", "create", "https://x", "--source", "ci"], "Allowed choices are API, CLI, "],
    [["api", "PATCH", "/x"], "It is GET, POST, PUT or DELETE."],
    [["runs"], "Usage: runyard runs"],
  ])("is printed for a wrong command line: %j", async (args, said) => {
    server.play([]);
    const { code, out, err } = await run(args);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(said);
  });
});

describe("the team of a command", () => {
  const teams = api({
    uid: "u",
    display_name: "Ada",
    email: "a@example.com",
    teams: [
      { uid: UID, name: "Core", role: "admin" },
      { uid: "t2", name: "Web", role: "member" },
    ],
  });

  it("is named by its uid or its name", async () => {
    server.play([teams, page([])]);
    await run(["runs", "list", "--team", "Core"]);
    expect(server.seen[1]?.headers["x-team-uid"]).toBe(UID);
    server.play([page([])]);
    await run(["--team", UID, "runs", "list"]);
    expect(server.seen[0]?.headers["x-team-uid"]).toBe(UID);
  });

  it("is one of the person's", async () => {
    server.play([teams]);
    expect(await run(["runs", "list", "--team", "Ops"])).toMatchObject({
      code: 2,
      err: "error: There is no team Ops.\nThere are: Core, Web.\n",
    });
  });
});

describe("runyard teams", () => {
  const team = api({ uid: UID, name: "Core", settings: {} });

  it("are updated with the given settings only, and an empty one restores the default", async () => {
    server.play([team, team]);
    await run(["teams", "update", UID, "--name", "Web", "--budget", "12.5", "--retention", "", "--env", ""]);
    expect(bodyAt(0)).toEqual({
      name: "Web",
      settings: { budget_usd_month: 12.5, retention_days: null, default_environment_id: null },
    });
    await run(["teams", "update", UID, "--model", "", "--concurrency", "5"]);
    expect(bodyAt(1)).toEqual({ settings: { default_model_id: null, concurrency_limit: 5 } });
    const wrong = await run(["teams", "update", UID, "--retention", "-1"]);
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('Expected a number, or "" for the default.')]);
  });

  it("print only the link of an invitation to standard output", async () => {
    server.play([api({ id: "i1", email: "a@example.com", link: "https://x/i" }, { status: 201 })]);
    const { out, err } = await run(["teams", "invitations", "create", UID, "a@example.com"]);
    expect([out, err]).toEqual(["https://x/i\n", expect.stringContaining("it is shown only once. Its id is i1.")]);
    expect(bodyAt(0)).toEqual({ email: "a@example.com" });
  });
});

describe("runyard webhooks update", () => {
  const webhook = (filter: object) => api({ uid: "w1", url: "https://x", enabled: true, event_types: [], filter });

  it("keeps the filters that are not named", async () => {
    server.play([webhook({ source: "API", metadata: { deploy: "yes" } }), webhook({})]);
    await run(["webhooks", "update", "w1", "--source", "cli"]);
    expect(requests()).toEqual(["GET /agent/webhooks/w1", "PUT /agent/webhooks/w1"]);
    expect(bodyAt(1)).toEqual({ filter: { source: "CLI", metadata: { deploy: "yes" } } });
  });

  it("drops the earlier filters with --all-runs", async () => {
    server.play([webhook({}), webhook({})]);
    await run(["webhooks", "update", "w1", "--all-runs"]);
    await run(["webhooks", "update", "w1", "--all-runs", "--source", "CLI"]);
    expect([bodyAt(0), bodyAt(1)]).toEqual([{ filter: {} }, { filter: { source: "CLI" } }]);
  });
});

describe("runyard --help and --version", () => {
  it("go to standard output and exit with 0", async () => {
    expect(await run(["--version"])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^runyard \d+\.\d+\.\d+\n$/),
      err: "",
    });
    expect(await run(["runs", "list", "--help"])).toMatchObject({
      code: 0,
      out: expect.stringContaining("Examples:\n  $ runyard"),
      err: "",
    });
  });
});
