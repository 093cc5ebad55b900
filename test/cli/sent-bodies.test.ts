import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FaultServer } from "../clients/fault-server.ts";
import { createPlayer } from "./play.ts";
import { APPROVAL, api, RUN } from "./responses.ts";

const server = new FaultServer();
const run = createPlayer(server);
beforeAll(() => server.start());
afterAll(() => server.stop());

const UID = "01990000-0000-7000-8000-000000000001";
const ENV = "01990000-0000-7000-8000-000000000002";
const made = api({ run_id: "r1", task_id: "r1", state: "QUEUED" });
const waiting = api({ ...RUN, state: "BLOCKED", approval: APPROVAL });
const agent = api({ uid: UID, name: "bot", available: true, skills: [], secrets: [], created_at: "" });
const config = { name: "e", github_repos: [], setup_commands: [] };
const environment = api({ uid: UID, config, last_updated: "", setup_failed: false });
const stored = { id: UID, name: "N", cron_schedule: "@daily", prompt: "p", enabled: false, history: {} };
const schedule = api(stored);
const shared = api({ link: "https://runyard.example.com/share" });
const rule = api({ uid: "t1", issuer: "", audience: "", subject_pattern: "", ttl_seconds: 1, saved_by: { uid: "u1" } });
const key = api({ uid: "k1", name: "ci", suffix: "abcd", created_at: "", key: "rya_new" }, { status: 201 });
const RULE = {
  line: "--issuer https://issuer.example.com --audience a --subject repo:* --max-budget 2.5 --scope runs:write --scope runs:read --ttl 600",
  body: {
    issuer: "https://issuer.example.com",
    audience: "a",
    subject_pattern: "repo:*",
    max_budget_usd: 2.5,
    scopes: ["runs:write", "runs:read"],
    ttl_seconds: 600,
  },
};
const MEMBERS = {
  line: "--description d --repo https://x/a.git#fix#7 --repo https://x/b.git --setup s1 --setup s2 --variable A=b --variable C=d=e --aws-role arn:aws:iam::123456789012:role/r --secret T --image i --worker w",
  body: {
    description: "d",
    variables: { A: "b", C: "d=e" },
    providers: { aws: { role_arn: "arn:aws:iam::123456789012:role/r" } },
    repositories: [{ url: "https://x/a.git", ref: "fix#7" }, { url: "https://x/b.git" }],
    setup_commands: ["s1", "s2"],
    secrets: [{ name: "T" }],
    docker_image: "i",
    worker_host: "w",
  },
};
const DEFAULTS = {
  line: `--description d --prompt p --model m --env ${ENV} --worker w --skill a/b:c --skill a/b:d --secret T`,
  body: {
    description: "d",
    prompt: "p",
    base_model: "m",
    environment_id: ENV,
    worker_host: "w",
    skills: ["a/b:c", "a/b:d"],
    secrets: [{ name: "T" }],
  },
};
const CONFIG = {
  line: `--env ${ENV} --repo https://x/a.git#v1 --skill a/b:c --model m --worker w --fallback-model f1 --fallback-model f2 --budget 1.5 --timeout 90 --max-steps 50 --max-tokens 100000 --reasoning high`,
  body: {
    environment_id: ENV,
    repositories: [{ url: "https://x/a.git", ref: "v1" }],
    skill_spec: "a/b:c",
    model_id: "m",
    worker_host: "w",
    fallback_model_ids: ["f1", "f2"],
    budget_usd: 1.5,
    timeout_minutes: 90,
    max_steps: 50,
    max_total_tokens: 100_000,
    reasoning_level: "high",
  },
};

/** A command with its options, the responses to its requests, and the body of the last of them. `""` is an empty argument. */
const CASES: readonly (readonly [line: string, responses: readonly ReturnType<typeof api>[], body: object])[] = [
  [
    "run x --conversation c1 --parent r0 --mode orchestrate --interactive --notify-url https://hooks.test/ended",
    [made],
    {
      prompt: "x",
      interactive: true,
      notify_url: "https://hooks.test/ended",
      conversation_id: "c1",
      parent_run_id: "r0",
      mode: "orchestrate",
    },
  ],
  ["runs followup r1 -", [api({})], { message: "from standard input" }],
  ["runs followup r1", [api({})], {}],
  ["runs approve r1", [waiting, api({})], { approve: "approval-12" }],
  ["runs approve r1 --approval approval-3", [waiting, api({})], { approve: "approval-3" }],
  ["runs deny r1 --reason staging", [waiting, api({})], { deny: "approval-12", message: "staging" }],
  ["runs followups edit r1 followup-2 -", [api({})], { message: "from standard input" }],
  [
    `schedules create --name N --cron @daily --prompt - --agent ${UID} --mode plan --metadata a=1 --personal ${CONFIG.line}`,
    [schedule],
    {
      name: "N",
      cron_schedule: "@daily",
      prompt: "from standard input",
      agent_uid: UID,
      mode: "plan",
      metadata: { a: "1" },
      team: false,
      agent_config: CONFIG.body,
    },
  ],
  [
    `schedules update ${UID} --name M --time-zone Asia/Tokyo --overlap skip --agent ${UID} --mode plan --metadata a=1 ${CONFIG.line}`,
    [schedule, schedule],
    {
      name: "M",
      cron_schedule: "@daily",
      enabled: false,
      prompt: "p",
      time_zone: "Asia/Tokyo",
      overlap: "skip",
      agent_uid: UID,
      mode: "plan",
      metadata: { a: "1" },
      agent_config: CONFIG.body,
    },
  ],
  [
    `schedules update ${UID}`,
    [api({ ...stored, prompt: "" }), schedule],
    { name: "N", cron_schedule: "@daily", enabled: false },
  ],
  [
    `agents create bot --on-behalf-of yes ${DEFAULTS.line}`,
    [agent],
    { name: "bot", on_behalf_of_enabled: true, ...DEFAULTS.body },
  ],
  [`agents update ${UID} --name b ${DEFAULTS.line}`, [agent], { name: "b", ...DEFAULTS.body }],
  [`agents keys create ${UID} ci --expires 2027-01-01`, [key], { name: "ci", expires_at: "2027-01-01T00:00:00.000Z" }],
  [`agents trust-rules create ${UID} ${RULE.line}`, [rule], RULE.body],
  [`agents trust-rules update ${UID} t1 ${RULE.line}`, [rule], RULE.body],
  [`environments create e --personal ${MEMBERS.line}`, [environment], { name: "e", team: false, ...MEMBERS.body }],
  [`environments update ${UID} --name f ${MEMBERS.line}`, [environment], { name: "f", ...MEMBERS.body }],
  [
    `environments update ${UID} --repo https://x/a.git --repo https://x/b.git#v1 --depth 5 --submodules --lfs --sparse api --sparse web/src`,
    [environment],
    {
      repositories: [
        { url: "https://x/a.git", depth: 5, submodules: true, lfs: true, sparse_paths: ["api", "web/src"] },
        { url: "https://x/b.git", ref: "v1", depth: 5, submodules: true, lfs: true, sparse_paths: ["api", "web/src"] },
      ],
    },
  ],
  [
    `environments update ${UID} --description "" --image "" --worker "" --repo "" --variable "" --aws-role ""`,
    [environment],
    { description: "", docker_image: "", worker_host: "", repositories: [], variables: {}, providers: {} },
  ],
  [`environments share ${UID}`, [shared], { link: true }],
  [`environments share ${UID} --user u1`, [shared], { user_uid: "u1" }],
  [`environments unshare ${UID}`, [api({})], { link: true }],
  [`environments unshare ${UID} --user u1`, [api({})], { user_uid: "u1" }],
  ["keys create laptop --expires 2027-01-01", [key], { name: "laptop", expires_at: "2027-01-01T00:00:00.000Z" }],
  [
    "keys create ci --scope runs:read --scope usage:read --max-budget 2.5 --max-runs-per-day 7",
    [key],
    { name: "ci", scopes: ["runs:read", "usage:read"], max_budget_usd: 2.5, max_runs_per_day: 7 },
  ],
  ['api put /agent/me -d {"display_name":"Ada"}', [api({})], { display_name: "Ada" }],
];

describe("every option of a command", () => {
  it.each(CASES)("is sent: %s", async (line, responses, body) => {
    server.play(responses);
    const args = line.split(" ").map((word) => (word === '""' ? "" : word));
    const { code, err } = await run(args, { input: "from standard input" });
    expect({ code, err: code === 0 ? "" : err, left: server.left }).toEqual({ code: 0, err: "", left: 0 });
    expect(JSON.parse(server.seen.at(-1)?.body ?? "")).toEqual(body);
  });
});

describe("runyard api", () => {
  it("reads the body from standard input, and prints no empty response", async () => {
    server.play([api(undefined, { status: 204 })]);
    const { code, out } = await run(["api", "POST", "/agent/things?dry=1", "--data", "-"], { input: '{"a":[1]}' });
    expect({ code, out, sent: server.seen[0]?.body }).toEqual({ code: 0, out: "", sent: '{"a":[1]}' });
    expect(server.seen[0]).toMatchObject({ method: "POST", path: "/agent/things", rawQuery: "dry=1" });
  });

  it.each([
    [["PATCH", "/agent/me"], "It is GET, POST, PUT or DELETE."],
    [["GET", "agent/me"], "The path must start with a slash: agent/me"],
    [["PUT", "/agent/me", "-d", "{"], "--data is not valid JSON."],
  ])("refuses %j, and sends nothing", async (args, message) => {
    server.play([]);
    expect(await run(["api", ...args])).toMatchObject({ code: 2, err: expect.stringContaining(message) });
    expect(server.seen).toEqual([]);
  });
});

describe("--output-schema", () => {
  it("sends the schema of a file", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "runyard-cli-"));
    writeFileSync(path.join(folder, "schema.json"), '{"type":"object"}');
    server.play([api({ run_id: "r1", task_id: "r1", state: "QUEUED", at_capacity: false })]);
    await run(["run", "x", "--output-schema", path.join(folder, "schema.json")]);
    expect(server.seen.at(-1)?.body).toContain(`"output_schema":{"type":"object"}`);
    rmSync(folder, { recursive: true });
  });

  it("prints the value of a response that fits it, or says that none does", async () => {
    const response = { text: "{}", state: "SUCCEEDED", artifacts: [] };
    server.play([api({ ...response, structured: { a: 1 } })]);
    expect(await run(["runs", "response", "r1", "--structured"])).toMatchObject({ code: 0, out: '{"a":1}\n' });
    server.play([api(response)]);
    expect(await run(["runs", "response", "r1", "--structured"])).toMatchObject({ code: 1 });
  });
});

describe("--output", () => {
  it("saves a transcript in the folder of the command", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "runyard-cli-"));
    const raw = '{"type":"run"}\n';
    server.play([api({ download_url: "{storage}/t", expires_at: "" }), { ...api(undefined), at: "storage", raw }]);
    const { code, out } = await run(["runs", "transcript", "r1", "--output", "t.jsonl"], { cwd: folder });
    expect({ code, out, saved: readFileSync(path.join(folder, "t.jsonl"), "utf8") }).toEqual({
      code: 0,
      out: "",
      saved: raw,
    });
    rmSync(folder, { recursive: true });
  });
});
