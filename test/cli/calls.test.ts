import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listOperations } from "#shared/docs/openapi.ts";
import { examplesOf } from "../../cli/src/commands/examples.ts";
import { Context } from "../../cli/src/context.ts";
import { formatPath, makeProgram } from "../../cli/src/program.ts";
import document from "../../docs/openapi.json" with { type: "json" };
import { root } from "../../scripts/run-command.ts";
import { FaultServer, type ResponseBody } from "../clients/fault-server.ts";
import { FakeShell } from "./fake-shell.ts";
import { createPlayer } from "./play.ts";
import { APPROVAL, api, RUN } from "./responses.ts";

const server = new FaultServer();
const run = createPlayer(server);
beforeAll(() => server.start());
afterAll(() => server.stop());

const UID = "01990000-0000-7000-8000-000000000001";
const made = api({ run_id: "r1", task_id: "r1", state: "QUEUED" });
const waiting = api({ ...RUN, state: "BLOCKED", approval: APPROVAL });
const agent = api({ uid: UID, name: "bot", available: true, skills: [], secrets: [], created_at: "" });
const environment = api({
  uid: UID,
  config: { name: "e", github_repos: [], setup_commands: [] },
  last_updated: "",
  setup_failed: false,
});
const schedule = api({
  id: UID,
  name: "N",
  cron_schedule: "@daily",
  time_zone: "UTC",
  overlap: "allow",
  enabled: true,
  prompt: "p",
  mode: "normal",
  created_at: "",
  updated_at: "",
  last_spawn_error: null,
  history: { last_ran: null, next_run: null },
});
const key = api({ uid: "k1", name: "ci", suffix: "abcd", created_at: "", key: "ryp_new" }, { status: 201 });
const trustRule = api({
  uid: "r1",
  identity_uid: UID,
  issuer: "https://issuer.example.com",
  audience: "a",
  subject_pattern: "s",
  ttl_seconds: 3600,
  created_at: "",
  updated_at: "",
  saved_by: { type: "user", uid: "u1", display_name: "Ada" },
});
const RULE_OPTIONS = "--issuer https://issuer.example.com --audience a --subject s --max-budget 2 --ttl 600";
const trigger = api({
  uid: "t1",
  name: "N",
  kind: "webhook",
  enabled: true,
  ingress_url: "https://x",
  verification: { scheme: "bearer" },
  prompt: "p",
  mode: "normal",
  scope: { type: "Team", uid: UID },
  created_at: "",
  updated_at: "",
});
const tested = api({ outcome: "started", event: { type: "push", action: "", payload: {} }, prompt: "p" });
const delivery = api({
  delivery_id: "d1",
  event_type: "push",
  received_at: "2026-05-18T19:00:00.000Z",
  attempts: 1,
  outcome: "started",
});
const webhook = api({
  uid: "w1",
  url: "https://hooks.example.com/",
  event_types: ["run_failed"],
  enabled: true,
  created_at: "",
  updated_at: "",
  created_by: { type: "user", uid: "u1" },
  scope: { type: "Team", uid: "t1" },
});
const team = api({ uid: UID, name: "Core", settings: { retention_days: null } });
const member = { uid: "u1", email: "ada@example.com", display_name: "Ada", role: "member" };
const invitation = { id: "i1", email: "ada@example.com", role: "member", created_at: "", expires_at: "" };
const gone = api(undefined, { status: 204 });
const secret = api({ name: "T", created_at: "" });
const ended = [
  api({ events: [], next: 0, ended: true }),
  api({ ...RUN, state: "SUCCEEDED" }),
  api({ text: "", state: "SUCCEEDED", artifacts: [] }),
];
const conversation = api({
  conversation_id: "c",
  steps: [{ id: "s", messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }], steps: [] }],
});
const skill = { id: "acme/shop:x", description: "d", base_prompt: "", source: {}, environments: [] };

/** Each command with its minimal arguments, the responses, and the expected requests. */
const CALLS: readonly (readonly [line: string, responses: readonly ResponseBody[], expected: readonly string[]])[] = [
  ["run x", [made], ["POST /agent/runs"]],
  ["runs list", [api({ runs: [RUN], page_info: { has_next_page: false } })], ["GET /agent/runs?sort_by=updated_at"]],
  ["runs get r1", [api(RUN)], ["GET /agent/runs/r1"]],
  [
    "runs follow r1",
    ended,
    ["GET /agent/runs/r1/events?after=0&wait=25&live=true", "GET /agent/runs/r1", "GET /agent/runs/r1/response"],
  ],
  ["runs followup r1 go", [api({})], ["POST /agent/runs/r1/followups"]],
  ["runs approve r1", [waiting, api({})], ["GET /agent/runs/r1", "POST /agent/runs/r1/followups"]],
  ["runs deny r1", [waiting, api({})], ["GET /agent/runs/r1", "POST /agent/runs/r1/followups"]],
  ["runs followups r1", [api({ followups: [] })], ["GET /agent/runs/r1/followups"]],
  ["runs followups list r1", [api({ followups: [] })], ["GET /agent/runs/r1/followups"]],
  ["runs followups edit r1 followup-2 less", [api({})], ["PUT /agent/runs/r1/followups/followup-2"]],
  ["runs followups remove r1 followup-2", [gone], ["DELETE /agent/runs/r1/followups/followup-2"]],
  ["runs followups promote r1 followup-2", [api({})], ["POST /agent/runs/r1/followups/followup-2/promote"]],
  ["audit list --action keys", [api({ events: [] })], ["GET /agent/audit?limit=50&action=keys"]],
  [
    "runs timeline r1",
    [
      api({
        events: [
          { event_uuid: "e1", run_id: "r1", event_type: "run_created", occurred_at: "2026-05-18T19:00:00.000Z" },
        ],
        page_info: { has_next_page: false },
      }),
    ],
    ["GET /agent/runs/r1/timeline"],
  ],
  ["runs find https://x", [api({ run_id: "r1" })], ["GET /agent/run-by-external-reference?url=https%3A%2F%2Fx"]],
  [
    "runs snapshot r1",
    [api({ attachments: [{ attachment_id: "a", filename: "f", download_url: "https://x" }] })],
    ["GET /agent/runs/r1/handoff/attachments"],
  ],
  [
    "runs attachments r1 a",
    [api({ attachments: [{ attachment_id: "a", download_url: "https://x" }] })],
    ["POST /agent/runs/r1/attachments/download"],
  ],
  ["runs interrupt r1", [api({ run_id: "r1" })], ["POST /agent/runs/r1/interrupt"]],
  ["runs cancel r1", [api("r1")], ["POST /agent/runs/r1/cancel"]],
  ["runs archive r1 r2", [api(RUN), api(RUN)], ["POST /agent/runs/r1/archive", "POST /agent/runs/r2/archive"]],
  ["runs unarchive r1", [api(RUN)], ["POST /agent/runs/r1/unarchive"]],
  ["runs share r1", [api({ session_link: "https://runs.example/shared/r1" })], ["POST /agent/runs/r1/share"]],
  ["runs delete r1 r2", [gone, gone], ["DELETE /agent/runs/r1", "DELETE /agent/runs/r2"]],
  ["runs response r1", [api({ text: "words", state: "SUCCEEDED", artifacts: [] })], ["GET /agent/runs/r1/response"]],
  ["runs conversation r1", [conversation], ["GET /agent/runs/r1/conversation"]],
  [
    "runs transcript r1",
    [api({ download_url: "{storage}/t", expires_at: "" }), { ...api(undefined), at: "storage", raw: "{}\n" }],
    ["GET /agent/runs/r1/transcript?redirect=false", "GET /t"],
  ],
  ["runs diff r1", [api({ ...RUN, artifacts: [] })], ["GET /agent/runs/r1"]],
  ["runs artifacts r1", [api({ ...RUN, artifacts: [] })], ["GET /agent/runs/r1"]],
  ["schedules list", [api({ schedules: [] })], ["GET /agent/schedules"]],
  [`schedules get ${UID}`, [schedule], [`GET /agent/schedules/${UID}`]],
  ["schedules create --name N --cron @daily --prompt p", [schedule], ["POST /agent/schedules"]],
  [
    `schedules update ${UID} --cron @daily`,
    [schedule, schedule],
    [`GET /agent/schedules/${UID}`, `PUT /agent/schedules/${UID}`],
  ],
  [`schedules pause ${UID}`, [schedule], [`POST /agent/schedules/${UID}/pause`]],
  [`schedules resume ${UID}`, [schedule], [`POST /agent/schedules/${UID}/resume`]],
  [`schedules run ${UID}`, [made], [`POST /agent/schedules/${UID}/run`]],
  [`schedules delete ${UID}`, [api({ success: true })], [`DELETE /agent/schedules/${UID}`]],
  [
    `schedules ticks ${UID}`,
    [api({ ticks: [{ scheduled_at: "", outcome: "fired", recorded_at: "" }] })],
    [`GET /agent/schedules/${UID}/ticks`],
  ],
  ["agents list", [api({ agents: [] })], ["GET /agent/identities"]],
  [`agents get ${UID}`, [agent], [`GET /agent/identities/${UID}`]],
  ["agents create bot", [agent], ["POST /agent/identities"]],
  [`agents update ${UID} --model m`, [agent], [`PUT /agent/identities/${UID}`]],
  [`agents delete ${UID}`, [gone], [`DELETE /agent/identities/${UID}`]],
  [`agents keys list ${UID}`, [api({ keys: [] })], [`GET /agent/identities/${UID}/keys`]],
  [`agents keys create ${UID} ci`, [key], [`POST /agent/identities/${UID}/keys`]],
  [`agents keys delete ${UID} k1`, [gone], [`DELETE /agent/identities/${UID}/keys/k1`]],
  ["environments list", [api({ environments: [] })], ["GET /agent/environments"]],
  [`environments get ${UID}`, [environment], [`GET /agent/environments/${UID}`]],
  ["environments create e", [environment], ["POST /agent/environments"]],
  [`environments update ${UID} --image i`, [environment], [`PUT /agent/environments/${UID}`]],
  [`environments try ${UID}`, [made], [`POST /agent/environments/${UID}/try`]],
  [`environments delete ${UID}`, [gone], [`DELETE /agent/environments/${UID}`]],
  [`environments share ${UID}`, [api({ link: "https://x" })], [`POST /agent/environments/${UID}/share`]],
  [`environments unshare ${UID} --user u1`, [api({})], [`DELETE /agent/environments/${UID}/share`]],
  [`agents trust-rules list ${UID}`, [api({ trust_rules: [] })], [`GET /agent/identities/${UID}/trust-rules`]],
  [`agents trust-rules get ${UID} r1`, [trustRule], [`GET /agent/identities/${UID}/trust-rules/r1`]],
  [`agents trust-rules create ${UID} ${RULE_OPTIONS}`, [trustRule], [`POST /agent/identities/${UID}/trust-rules`]],
  [`agents trust-rules update ${UID} r1 ${RULE_OPTIONS}`, [trustRule], [`PUT /agent/identities/${UID}/trust-rules/r1`]],
  [`agents trust-rules delete ${UID} r1`, [gone], [`DELETE /agent/identities/${UID}/trust-rules/r1`]],
  ["secrets list", [api({ secrets: [] })], ["GET /agent/secrets"]],
  ["secrets get T", [secret], ["GET /agent/secrets/T"]],
  ["secrets set T", [secret], ["POST /agent/secrets"]],
  ["secrets delete T", [gone], ["DELETE /agent/secrets/T"]],
  ["webhooks list", [api({ webhooks: [] })], ["GET /agent/webhooks"]],
  ["webhooks get w1", [webhook], ["GET /agent/webhooks/w1"]],
  ["webhooks create https://hooks.example.com/ --event run_failed", [webhook], ["POST /agent/webhooks"]],
  ["webhooks update w1 --disable", [webhook], ["PUT /agent/webhooks/w1"]],
  ["webhooks rotate-secret w1", [webhook], ["POST /agent/webhooks/w1/rotate-secret"]],
  ["webhooks delete w1", [gone], ["DELETE /agent/webhooks/w1"]],
  [
    "webhooks deliveries w1 --state failed",
    [api({ deliveries: [] })],
    ["GET /agent/webhooks/w1/deliveries?state=failed"],
  ],
  [
    "webhooks redeliver w1 --from 3",
    [api({ redelivered: 500, next_sequence: 503 }), api({ redelivered: 2 })],
    ["POST /agent/webhooks/w1/redeliver?from_sequence=3", "POST /agent/webhooks/w1/redeliver?from_sequence=503"],
  ],
  ["triggers list", [api({ triggers: [] })], ["GET /agent/triggers"]],
  ["triggers get t1", [trigger], ["GET /agent/triggers/t1"]],
  ["triggers create --name N --prompt p --scheme bearer", [trigger], ["POST /agent/triggers"]],
  ["triggers update t1 --all-events --no-agent", [trigger], ["PUT /agent/triggers/t1"]],
  ["triggers pause t1", [trigger], ["POST /agent/triggers/t1/pause"]],
  ["triggers resume t1", [trigger], ["POST /agent/triggers/t1/resume"]],
  ["triggers rotate-secret t1", [trigger], ["POST /agent/triggers/t1/rotate-secret"]],
  ["triggers delete t1", [gone], ["DELETE /agent/triggers/t1"]],
  ["triggers test t1 package.json", [tested], ["POST /agent/triggers/t1/test"]],
  ["triggers delivery t1 d1", [delivery], ["GET /agent/triggers/t1/deliveries/d1"]],
  ["triggers redeliver t1 d1", [delivery], ["POST /agent/triggers/t1/deliveries/d1/redeliver"]],
  ["triggers deliveries t1", [api({ deliveries: [] })], ["GET /agent/triggers/t1/deliveries"]],
  ["teams list", [api({ teams: [] })], ["GET /agent/teams"]],
  [`teams get ${UID}`, [team], [`GET /agent/teams/${UID}`]],
  ["teams create Core", [team], ["POST /agent/teams"]],
  [`teams update ${UID} --retention 90`, [team], [`PUT /agent/teams/${UID}`]],
  [`teams delete ${UID}`, [gone], [`DELETE /agent/teams/${UID}`]],
  [`teams members list ${UID}`, [api({ members: [member] })], [`GET /agent/teams/${UID}/members`]],
  [
    `teams members update ${UID} ada@example.com admin`,
    [api({ members: [member] }), api(member)],
    [`GET /agent/teams/${UID}/members`, `PUT /agent/teams/${UID}/members/u1`],
  ],
  [
    `teams members remove ${UID} ${UID} --keep-keys`,
    [api({ revoked_keys: [], kept_keys: [] })],
    [`DELETE /agent/teams/${UID}/members/${UID}?keep_keys=true`],
  ],
  [`teams invitations list ${UID}`, [api({ invitations: [invitation] })], [`GET /agent/teams/${UID}/invitations`]],
  [
    `teams invitations create ${UID} ada@example.com --role admin`,
    [api({ ...invitation, link: "https://x" }, { status: 201 })],
    [`POST /agent/teams/${UID}/invitations`],
  ],
  [`teams invitations delete ${UID} i1`, [gone], [`DELETE /agent/teams/${UID}/invitations/i1`]],
  ["keys list", [api({ keys: [] })], ["GET /agent/keys"]],
  ["keys create laptop", [key], ["POST /agent/keys"]],
  ["keys delete k1", [gone], ["DELETE /agent/keys/k1"]],
  [
    "models list",
    [api({ default_model_id: "m", models: [{ id: "m", display_name: "M", provider: "LOCAL" }] })],
    ["GET /agent/models"],
  ],
  [
    "skills list --repo acme/shop",
    [api({ agents: [{ name: "x", variants: [skill] }] })],
    ["GET /agent?repo=acme%2Fshop"],
  ],
  [
    "usage --from 2026-05-01 --by creator",
    [api({ buckets: [], currency: "USD" })],
    ["GET /agent/usage?from=2026-05-01&group_by=creator"],
  ],
  ["workers list", [api({ workers: [] })], ["GET /agent/connected-self-hosted-workers"]],
  ["github list", [api({ installations: [] })], ["GET /agent/github/installations"]],
  [
    "github claim",
    [api({ install_url: "https://x/i", authorize_url: "https://x/a", expires_at: "2026-05-18T20:00:00.000Z" })],
    ["POST /agent/github/claims"],
  ],
  [
    "github claim https://runyard.test/github?installation_id=7&state=s&code=c",
    [
      api({
        installation_id: 7,
        account: { id: 1, login: "acme", type: "User" },
        repository_selection: "all",
        scope: { type: "Team", uid: "t" },
        claimed_by: { type: "user", uid: "u" },
        claimed_at: "2026-05-18T19:00:00.000Z",
      }),
    ],
    ["POST /agent/github/installations"],
  ],
  ["github release 7", [api(undefined, { status: 204, raw: "" })], ["DELETE /agent/github/installations/7"]],
  ["api get /agent/teams", [api({ teams: [] })], ["GET /agent/teams"]],
  [
    "login-link",
    [api({ token: "ryl_x", url: "https://x/sign-in?token=ryl_x", expires_at: "2026-05-18T19:10:00.000Z" })],
    ["POST /session/link"],
  ],
  ["whoami", [api({ uid: "u", display_name: "Ada", email: "a@example.com", teams: [] })], ["GET /agent/me"]],
];

/** These have their own tests, because they do not begin with a request, or send none. */
const ELSEWHERE = [
  "login",
  "logout",
  "serve",
  "doctor",
  "worker",
  "agent",
  "runs open-pr",
  "triggers replay",
  "triggers export",
  "triggers import",
  "github setup",
  "audit export",
  "mcp",
  "mcp login",
  "mcp refresh",
  "bootstrap",
  "completion",
  "__complete",
];

type Command = ReturnType<typeof makeProgram>;
/** Commands that do something themselves: all without commands of their own, and `mcp`. */
const runnable = (command: Command): Command[] => [
  ...(command.commands.length === 0 || formatPath(command) === "mcp" ? [command] : []),
  ...command.commands.flatMap(runnable),
];
const commands = runnable(makeProgram(new Context(new FakeShell())));

const operations = listOperations(document);
/** The command that makes each operation with the fewest requests. */
const callers = new Map<string, { line: string; requests: number }>();

function recordOperation(method: string, target: string, line: string, requests: number): void {
  const found = operations.find(
    (operation) =>
      operation.method === method && new RegExp(`^${operation.path.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(target),
  );
  if (found === undefined || line.startsWith("api ")) return;
  if (requests < (callers.get(found.id)?.requests ?? Number.POSITIVE_INFINITY))
    callers.set(found.id, { line, requests });
}

/** The first example of the command of a line. */
function findExample(line: string): readonly string[] {
  const command = commands
    .filter((one) => `${line} `.startsWith(`${formatPath(one)} `))
    .toSorted((a, b) => formatPath(b).length - formatPath(a).length)[0];
  return command === undefined ? [] : examplesOf(command).slice(0, 1);
}

describe("every command", () => {
  it.each(CALLS)("sends the expected requests, and prints text and JSON: %s", async (line, responses, expected) => {
    server.play([...responses, ...responses]);
    const words = await run(line.split(" "), { input: "value" });
    expect({ code: words.code, left: server.left }).toEqual({ code: 0, left: responses.length });
    const requests = server.seen.map(({ method, path, rawQuery }) => `${method} ${path}${rawQuery && `?${rawQuery}`}`);
    expect(requests).toEqual(expected);
    for (const { method, path: target } of server.seen) recordOperation(method, target, line, server.seen.length);
    const { code, out, err } = await run([...line.split(" "), "--json"], { input: "value" });
    expect({ code, err }).toEqual({ code: 0, err: "" });
    for (const document of out.trimEnd().split("\n")) expect(() => JSON.parse(document)).not.toThrow();
  });

  it("is the example of its operations in docs/cli-operations.json (`npx vitest run test/cli/calls.test.ts -u` after a change)", async () => {
    const examples = [...callers].flatMap(([id, { line }]) =>
      findExample(line).map((example) => [id, example] as const),
    );
    const text = JSON.stringify(Object.fromEntries(examples.toSorted(([a], [b]) => a.localeCompare(b))), null, 2);
    await expect(`${text}\n`).toMatchFileSnapshot(path.join(root, "docs/cli-operations.json"));
  });

  it("is in this list, and has examples", () => {
    const named = new Set(CALLS.map(([line]) => line));
    const missing = commands
      .map(formatPath)
      .filter((name) => ![...named].some((line) => `${line} `.startsWith(`${name} `)));
    expect(missing.sort()).toEqual([...ELSEWHERE].sort());
    const bare = commands.filter((command) => examplesOf(command).length === 0).map(formatPath);
    expect(bare).toEqual(["__complete"]);
  });

  it("has examples that its own command line accepts", () => {
    const names = new Set(commands.map(formatPath));
    const examples = commands.flatMap(examplesOf).flatMap((line) => line.match(/\brunyard (?!__)[^|;>)"]*/g) ?? []);
    expect(examples.length).toBeGreaterThan(names.size);
    for (const example of examples) {
      const words = example.replace("runyard ", "").split(" ");
      expect(
        [1, 2, 3].some((count) => names.has(words.slice(0, count).join(" "))),
        example,
      ).toBe(true);
    }
  });
});
