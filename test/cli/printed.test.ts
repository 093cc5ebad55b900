import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FaultServer, type ResponseBody } from "../clients/fault-server.ts";
import { createPlayer } from "./play.ts";
import { APPROVAL, api, RUN } from "./responses.ts";

const server = new FaultServer();
const run = createPlayer(server);
beforeAll(() => server.start());
afterAll(() => server.stop());

const UID = "01990000-0000-7000-8000-000000000001";
const AT = "2026-05-18T19:00:00.123Z";
const LATER = "2026-05-19T03:00:00.000Z";
const last = { page_info: { has_next_page: false } };

const wholeRun = {
  ...RUN,
  state: "BLOCKED",
  status_message: { message: "Which branch?\nmain or next" },
  started_at: AT,
  run_time: "PT9S",
  request_usage: { total_tokens: 1_234, inference_cost: 0.5, compute_cost: 0.25, platform_cost: 0.5 },
  creator: { type: "user", uid: "u1", display_name: "Ada" },
  executor: { type: "service_account", uid: "bot-1" },
  source: "CLI",
  schedule: { schedule_id: UID, schedule_name: "Nightly" },
  parent_run_id: "r0",
  agent_config: {
    model_id: "m1",
    environment_id: UID,
    skill_spec: "acme/shop:fix",
    repositories: [{ url: "https://github.com/acme/shop" }, { url: "https://github.com/acme/lib" }],
  },
  metadata: { ticket: "SHOP-1", level: "2" },
  conversation_id: "c1",
  artifacts: [
    { artifact_type: "FILE", created_at: AT, data: { artifact_uid: "a1", filepath: "out.txt", size_bytes: 12 } },
    { artifact_type: "PLAN", created_at: AT, data: { document_uid: "d1", title: "The plan" } },
    { artifact_type: "PULL_REQUEST", created_at: AT, data: { url: "https://github.com/acme/shop/pull/1" } },
  ],
  session_link: "https://runyard.example.com/runs/r1",
};
const wholeAgent = {
  uid: UID,
  name: "bot",
  description: "Releases",
  available: false,
  base_model: "m1",
  environment_id: UID,
  worker_host: "w1",
  skills: ["acme/shop:a", "acme/shop:b"],
  secrets: [{ name: "T" }, { name: "U" }],
  on_behalf_of_enabled: true,
  created_at: AT,
  prompt: "Be brief.",
};
const wholeEnvironment = {
  uid: UID,
  config: {
    name: "backend",
    description: "Tests",
    docker_image: "node:24",
    worker_host: "w1",
    github_repos: [{ owner: "acme", repo: "shop" }],
    repositories: [{ url: "https://example.com/a" }, { url: "https://example.com/b", ref: "v2" }],
    setup_commands: ["npm ci", "npm test"],
    secrets: [{ name: "T" }],
  },
  last_updated: AT,
  last_task_run_timestamp: LATER,
  setup_failed: true,
  setup_snapshot: { run_id: "r1", created_at: AT, expires_at: LATER, size_bytes: 1_500_000 },
};
const wholeSchedule = {
  id: UID,
  name: "Nightly",
  cron_schedule: "0 3 * * *",
  time_zone: "Europe/Berlin",
  overlap: "skip",
  enabled: false,
  prompt: "Run the tests",
  mode: "normal",
  created_at: AT,
  updated_at: AT,
  last_spawn_error: "no capacity",
  history: { last_ran: AT, next_run: LATER },
  agent_uid: "bot-1",
  environment: { name: "backend" },
  agent_config: { model_id: "m1" },
  recent_runs: [
    { run_id: "r1", state: "FAILED" },
    { run_id: "r2", state: "SUCCEEDED" },
  ],
};
const keys = [
  { uid: "k1", name: "ci", suffix: "abcd", created_at: AT, expires_at: LATER, created_by: { uid: "u1" } },
  {
    uid: "k2",
    name: "x",
    suffix: "ef",
    created_at: AT,
    created_by: { uid: "u2", display_name: "Ada" },
    last_used_at: AT,
    scopes: ["runs:read", "runs:write"],
    max_budget_usd: 50,
    max_runs_per_day: 100,
  },
];
const trustRule = {
  uid: "r1",
  identity_uid: UID,
  issuer: "https://issuer.example.com",
  audience: "a",
  subject_pattern: "repo:acme/*",
  ttl_seconds: 600,
  created_at: AT,
  updated_at: AT,
  saved_by: { type: "user", uid: "u1" },
  scopes: ["runs:write"],
};
const conversation = {
  conversation_id: "c",
  steps: [
    { id: "s", messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }], steps: [] },
    {
      id: "t",
      messages: [
        {
          role: "assistant",
          content: [
            { type: "text", text: "" },
            { type: "action", id: "a", name: "run_command", input: { command: "ls" } },
          ],
        },
        { role: "tool", content: [{ type: "action_result", action_id: "a", state: "completed", output: "out.txt" }] },
        {
          role: "tool",
          content: [{ type: "action_result", action_id: "b", state: "failed", output: { exit_code: 1 } }],
        },
      ],
      steps: [],
    },
  ],
};
const skill = { id: "acme/shop:x", description: "d", base_prompt: "", source: {}, environments: [] };

/** Each command with all of its options, or with responses that have all members, and the responses. */
const CALLS: readonly (readonly [line: string, ...responses: readonly ResponseBody[]])[] = [
  [
    "runs list --state failed --search x --metadata a=1 --env e --schedule Nightly --skill s --model m --creator u --ancestor r --source CLI --after 2026-05-18 --before 2026-05-19T01:00Z --sort title --ascending --limit 7",
    api({ environments: [{ uid: UID, config: { name: "e" } }], ...last }),
    api({ schedules: [wholeSchedule], ...last }),
    api({
      runs: [wholeRun, { ...RUN, source: undefined, state: "FAILED" }],
      page_info: { has_next_page: true, next_cursor: "c" },
    }),
  ],
  ["runs list --all", api({ runs: [], ...last })],
  ["runs get r1", api(wholeRun)],
  ["runs get r3", api({ ...RUN, state: "BLOCKED", approval: APPROVAL })],
  ["runs get r4", api({ ...RUN, state: "INPROGRESS", waiting_for: "followup", pending_followups: 2 })],
  ["runs get r5", api({ ...RUN, state: "SUCCEEDED", finished_at: "2026-05-18T19:00:09.000Z", pending_followups: 0 })],
  ["runs get r2", api({ ...RUN, artifacts: [], creator: { uid: "u1" }, request_usage: {} })],
  ["runs artifacts r1", api(wholeRun)],
  ["runs conversation r1", api(conversation)],
  ["runs response r1", api({ text: "one\ntwo\n\n", state: "SUCCEEDED", artifacts: [] })],
  ["runs followup r1 -", api({})],
  ["runs cancel r1 r2 --force", api("r1"), api("r2")],
  ["runs cancel r1 --json", api("r1")],
  ["workers ls", api({ workers: [], ...last })],
  [
    "schedules list --all",
    api({ schedules: [wholeSchedule], page_info: { has_next_page: true, next_cursor: "c" } }),
    api({
      schedules: [{ ...wholeSchedule, name: "A much longer name", enabled: true, history: { next_run: null } }],
      ...last,
    }),
  ],
  ["schedules get Nightly", api({ schedules: [wholeSchedule], ...last }), api(wholeSchedule)],
  [
    `schedules get ${UID}`,
    api({ ...wholeSchedule, history: { last_ran: null, next_run: null }, recent_runs: [], last_spawn_error: null }),
  ],
  [
    `schedules create --name N --cron @daily --prompt - --time-zone Europe/Berlin --overlap skip --agent ${UID} --mode plan --metadata a=1 --metadata b=x=y --personal --paused --env ${UID} --repo https://example.com/a#v2 --repo https://example.com/b --skill s --model m --worker w`,
    api(wholeSchedule),
  ],
  [`schedules update ${UID} --name M`, api(wholeSchedule), api(wholeSchedule)],
  [
    `schedules update ${UID} --cron @hourly --prompt p --time-zone UTC --overlap allow --agent ${UID} --mode normal --metadata a=1 --model m`,
    api({ ...wholeSchedule, prompt: "", enabled: true }),
    api(wholeSchedule),
  ],
  [`schedules pause ${UID}`, api(wholeSchedule)],
  [`schedules resume ${UID}`, api(wholeSchedule)],
  [
    `schedules ticks ${UID}`,
    api({
      ticks: [
        { scheduled_at: AT, outcome: "fired", run_id: "r1", recorded_at: AT },
        { scheduled_at: LATER, outcome: "skipped", reason: "an earlier run is active", recorded_at: AT },
      ],
      ...last,
    }),
  ],
  ["agents list", api({ agents: [wholeAgent, { ...wholeAgent, available: true, name: "other" }], ...last })],
  ["agents get bot", api({ agents: [wholeAgent], ...last }), api(wholeAgent)],
  [
    `agents create bot --description d --prompt p --model m --env ${UID} --worker w --skill s --skill t --secret T --on-behalf-of yes`,
    api({ ...wholeAgent, skills: [], secrets: [], description: undefined }),
  ],
  [`agents update ${UID} --name new --env= --skill= --secret= --on-behalf-of no`, api(wholeAgent)],
  [
    `agents update ${UID} --env backend --model m2`,
    api({ environments: [wholeEnvironment], ...last }),
    api({ ...wholeAgent, available: true }),
  ],
  [`agents keys list ${UID}`, api({ keys, ...last })],
  [`agents keys create ${UID} ci --expires 2027-01-01`, api({ ...keys[0], key: "rya_new" }, { status: 201 })],
  [
    "environments list",
    api({ environments: [wholeEnvironment, { ...wholeEnvironment, setup_failed: false }], ...last }),
  ],
  ["environments get backend", api({ environments: [wholeEnvironment], ...last }), api(wholeEnvironment)],
  [
    "environments create e --personal --description d --repo https://example.com/a#v2 --setup npm --setup make --secret T --image i --worker w",
    api({ ...wholeEnvironment, config: { name: "e", github_repos: [], setup_commands: [] } }),
  ],
  [`environments update ${UID} --name new --repo= --setup= --secret=`, api(wholeEnvironment)],
  [
    "environments try backend",
    api({ environments: [wholeEnvironment], ...last }),
    api({ run_id: "r1", task_id: "r1", state: "QUEUED" }),
  ],
  [`environments share ${UID}`, api({ link: "https://runyard.example.com/e" })],
  [`environments share ${UID} --user u1`, api({})],
  [`environments unshare ${UID}`, api({})],
  [`environments unshare ${UID} --user u1`, api({})],
  [`agents trust-rules list ${UID}`, api({ trust_rules: [trustRule, { ...trustRule, max_budget_usd: 2.5 }], ...last })],
  [
    `agents trust-rules create ${UID} --issuer https://issuer.example.com --audience a --subject s --max-budget 2.5 --ttl 600`,
    api({ ...trustRule, max_budget_usd: 2.5, saved_by: { type: "user", uid: "u1", display_name: "Ada" } }),
  ],
  [`agents trust-rules update ${UID} r1 --issuer i --audience a --subject s`, api(trustRule)],
  ["secrets list", api({ secrets: [{ name: "T", created_at: AT }], ...last })],
  ["secrets get T", api({ name: "T", created_at: AT })],
  ["secrets set T --keep-newline", api({ name: "T", created_at: AT })],
  ["keys list", api({ keys, ...last })],
  ["keys create laptop --expires 2027-01-01T12:00Z", api({ ...keys[1], key: "ryp_new" }, { status: 201 })],
  [
    "models list",
    api({
      default_model_id: "m",
      models: [
        {
          id: "m",
          display_name: "M",
          provider: "LOCAL",
          cost: { input_per_million_usd: 3, output_per_million_usd: 15 },
        },
        { id: "n", display_name: "N", provider: "LOCAL", disable_reason: "NO_KEY" },
      ],
    }),
  ],
  [
    "skills list --repo acme/shop --refresh --malformed",
    api({
      agents: [
        { name: "x", variants: [{ ...skill, last_run_timestamp: AT }] },
        { name: "y", variants: [{ ...skill, error: "no description" }] },
      ],
      ...last,
    }),
  ],
  [
    "workers list",
    api({ workers: [{ worker_host: "w1", connection_count: 2, connected_at: AT, last_seen_at: LATER }], ...last }),
  ],
  [
    "usage --from 2026-05-01 --to 2026-05-31 --by executor",
    api({
      buckets: [
        { key: "u1", runs: 3, succeeded: 2, failed: 1, total_tokens: 1200, cost_usd: 0.126, run_seconds: 75.5 },
        { key: null, runs: 1, succeeded: 1, failed: 0, total_tokens: 0, cost_usd: 0, run_seconds: 1 },
      ],
      currency: "USD",
    }),
  ],
  ["usage", api({ buckets: [], currency: "USD" })],
  ['api put /agent/me -d {"display_name":"Ada"}', api({ uid: "u" })],
  [
    "whoami",
    api({ uid: "u", display_name: "Ada", email: "a@example.com", teams: [{ uid: "t1", name: "Shop", role: "OWNER" }] }),
  ],
];

/** The requests with their bodies, and the output. */
const toText = ({ code, out, err }: Awaited<ReturnType<typeof run>>): string =>
  [
    ...server.seen.map(
      ({ method, path, rawQuery, body }) =>
        `${method} ${path}${rawQuery && `?${decodeURIComponent(rawQuery)}`}${body && ` ${body}`}`,
    ),
    `exit code ${code}`,
    out,
    err,
  ]
    .join("\n")
    .replaceAll(server.api, "https://runyard.example.com/api/v1");

// After a change of what a command prints, `npx vitest run test/cli/printed.test.ts -u` writes the snapshot.
describe("every command", () => {
  it.each(CALLS.map(([line, ...responses]) => [line, responses] as const))(
    "sends and prints what the snapshot has: %s",
    async (line, responses) => {
      server.play(responses);
      const played = await run(line.split(" "), { input: "value\n" });
      expect(server.left).toBe(0);
      expect(toText(played)).toMatchSnapshot();
    },
  );
});
