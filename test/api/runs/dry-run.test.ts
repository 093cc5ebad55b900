import { beforeEach, describe, expect, it, vi } from "vitest";
import { ERROR_GUIDE } from "#shared/docs/error-guide.ts";
import { keys } from "#shared/table/keys.ts";
import { memoryTable } from "#shared/table/memory-table.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type ResponseBody, type TestControlPlane } from "../../support/control-plane.ts";
import { createHarness } from "../../support/execution.ts";
import { SONNET, stubModelSettings } from "../../support/gateway.ts";
import { connectedWorker } from "../../support/worker.ts";

const UNKNOWN = "0199a3c4-7b1e-7c52-9d0e-3f6a8b2c4d5e";
const PROMPT = "```sh\necho hello\n```";

let plane: TestControlPlane;
let user: Client;
/** The calls of the infrastructure since the last dry run began, such as `files.put`. */
const calls: string[] = [];
beforeEach(async () => {
  plane = await createTestControlPlane(memoryTable(), (call, perform) => {
    calls.push(call);
    return perform();
  });
  user = createClient(plane);
  // Like every request that is not a GET, records the use of the key, at most once an hour.
  await user.post("/agent/runs?dry_run=true", {});
});

/** Sends a dry run, and expects that nothing was written, stored or sent. */
async function dryRun(body: object, client = user, options: { headers?: Record<string, string> } = {}) {
  const before = structuredClone(plane.table.all());
  calls.length = 0;
  const sent = plane.sent.length;
  const response = await client.post("/agent/runs?dry_run=true", body, options);
  expect(plane.table.all()).toEqual(before);
  expect(calls.filter((call) => /put|copy|write|transact|send/.test(call))).toEqual([]);
  expect(plane.sent).toHaveLength(sent);
  return response;
}

const listCodes = ({ body }: ResponseBody, severity?: string): string[] =>
  body.findings
    .filter((finding: { severity: string }) => severity === undefined || finding.severity === severity)
    .map(({ code }: { code: string }) => code);

const createEnvironment = async (more: object): Promise<string> =>
  (await user.post("/agent/environments", { name: "env", ...more })).body.uid;

const setTeam = (settings: object) => user.put(`/agent/teams/${plane.team}`, { settings });

// @contract runs.dry-run: POST /agent/runs?dry_run=true returns whether the run would start, findings and the resolved configuration, and creates nothing.
describe("dry_run=true of POST /agent/runs", () => {
  it.each(["/agent/runs", "/agent/run"])("returns the configuration that the run of %s then has", async (path) => {
    const body = {
      prompt: PROMPT,
      config: {
        model_id: "local/runbook",
        budget_usd: 2.5,
        mcp_servers: { files: { command: "mcp-files", env: { TOKEN: "very secret" } } },
      },
    };
    const checked = await user.post(`${path}?dry_run=true`, body);
    expect(checked).toMatchObject({ status: 200, body: { would_start: true, findings: [], estimated_cost_usd: 2.5 } });
    expect(JSON.stringify(checked.body)).not.toContain("very secret");
    const { run_id } = (await user.post(path, body)).body;
    const { agent_config } = (await user.get(`/agent/runs/${run_id}`)).body;
    expect(checked.body.resolved_config).toEqual(agent_config);
  });

  it("writes nothing, stores no file, sends no message and takes no rate-limit token", async () => {
    const long = { prompt: `${PROMPT}\n${"a".repeat(100_000)}`, metadata: { ticket: "T-1" } };
    const attached = { prompt: PROMPT, attachments: [{ file_name: "a", mime_type: "text/plain", data: "aGVsbG8=" }] };
    plane.rates.create = 0;
    for (const body of [{ prompt: PROMPT }, long, attached, { prompt: PROMPT, execution_location: "LOCAL" }]) {
      expect((await dryRun(body)).body).toMatchObject({ would_start: true, resolved_config: {} });
    }
    expect((await user.get("/agent/runs")).body.runs).toEqual([]);
  });

  it("ignores an Idempotency-Key, which a later request creates its run with", async () => {
    const headers = { "idempotency-key": "k", "x-stainless-retry-count": "1" };
    expect((await dryRun({ prompt: PROMPT }, user, { headers })).headers["idempotent-replay"]).toBeUndefined();
    const { run_id } = (await user.post("/agent/runs", { prompt: PROMPT }, { headers })).body;
    expect((await dryRun({ prompt: "another" }, user, { headers })).body.would_start).toBe(true);
    expect((await user.post("/agent/runs", { prompt: PROMPT }, { headers })).body.run_id).toBe(run_id);
  });

  it("creates a run if it is false or empty, and returns 400 if it is not a boolean or the body has a wrong type", async () => {
    for (const value of ["false", ""]) {
      expect((await user.post(`/agent/runs?dry_run=${value}`, { prompt: "hello" })).body).toHaveProperty("run_id");
    }
    for (const value of ["1", "TRUE", "true&dry_run=false"]) {
      expect((await user.post(`/agent/runs?dry_run=${value}`, { prompt: "hello" })).status).toBe(400);
    }
    expect((await dryRun({ prompt: 7 })).status).toBe(400);
    expect((await user.post("/agent/runs?dry_run=true", { prompt: "p" }, { key: "ryp_wrong" })).status).toBe(401);
  });

  it("leaves out estimated_cost_usd without a budget, and resolved_config if the request is refused", async () => {
    expect((await dryRun({ prompt: PROMPT })).body).not.toHaveProperty("estimated_cost_usd");
    for (const refused of [
      { parent_run_id: UNKNOWN },
      { config: { model_id: "nobody/knows", worker_host: "rack-7" } },
    ]) {
      const { body } = await dryRun({ prompt: PROMPT, ...refused });
      expect(body).not.toHaveProperty("resolved_config");
      expect(body.findings).toMatchObject([{ severity: "error" }]);
    }
  });
});

describe("an error finding", () => {
  /** What a request is refused for, and what has to exist before. */
  const refusals: readonly (readonly [string, () => Promise<object>])[] = [
    ["no prompt", async () => ({})],
    ["a blank prompt", async () => ({ prompt: "  " })],
    ["attachments and images", async () => ({ prompt: "p", attachments: [], images: [] })],
    ["an unknown model", async () => ({ prompt: "p", config: { model_id: "nobody/knows" } })],
    ["a harness without a model", async () => ({ prompt: "p", config: { harness: { type: "claude" } } })],
    [
      "a LOCAL harness",
      async () => ({ prompt: "p", execution_location: "LOCAL", config: { harness: { type: "codex" } } }),
    ],
    ["a reserved worker", async () => ({ prompt: "p", config: { worker_host: "warp-1" } })],
    ["a personal worker run", async () => ({ prompt: "p", team: false, config: { worker_host: "rack-7" } })],
    [
      "a blocked MCP server",
      async () => ({ prompt: "p", config: { mcp_servers: { a: { url: "https://169.254.169.254/" } } } }),
    ],
    ["a large configuration", async () => ({ prompt: "p", config: { mcp_servers: manyServers() } })],
    ["an unknown identity", async () => ({ prompt: "p", agent_identity_uid: UNKNOWN })],
    ["on_behalf_of of a person", async () => ({ prompt: "p", on_behalf_of: UNKNOWN })],
    ["an unknown parent", async () => ({ prompt: "p", parent_run_id: UNKNOWN })],
    ["an unknown conversation", async () => ({ prompt: "p", conversation_id: UNKNOWN })],
    ["an unknown environment", async () => ({ prompt: "p", config: { environment_id: UNKNOWN } })],
    ["an unknown attachment", async () => ({ prompt: "p", attachments: [{ attachment_id: UNKNOWN }] })],
    [
      "large attachments",
      async () => ({
        prompt: "p",
        attachments: [{ file_name: "a", mime_type: "a/b", data: "AAAA".repeat(1_030_000) }],
      }),
    ],
    [
      "an image of an environment",
      async () => ({ prompt: "p", config: { environment_id: await createEnvironment({ docker_image: "a:1" }) } }),
    ],
    [
      "an active conversation",
      async () => ({ prompt: "p", conversation_id: (await user.post("/agent/runs", { prompt: "p" })).body.run_id }),
    ],
    [
      "more than the parent's budget",
      async () => {
        const parent = (await user.post("/agent/runs", { prompt: "p", config: { budget_usd: 1 } })).body.run_id;
        return { prompt: "p", parent_run_id: parent, config: { budget_usd: 2 } };
      },
    ],
    [
      "too many children",
      async () => {
        const parent = (await user.post("/agent/runs", { prompt: "p" })).body.run_id;
        await plane.table.write({ kind: "update", key: keys.head(parent), set: { children: 100 } });
        return { prompt: "p", parent_run_id: parent };
      },
    ],
    [
      "a full queue",
      async () => {
        await setTeam({ queue_limit: 1 });
        await user.post("/agent/runs", { prompt: "p" });
        return { prompt: "p" };
      },
    ],
  ];

  it.each(refusals)("has the code and the detail that the request is refused with: %s", async (_, prepare) => {
    const body = await prepare();
    const checked = await dryRun(body);
    expect(checked).toMatchObject({ status: 200, body: { would_start: false } });
    const [first] = checked.body.findings;
    const refused = await user.post("/agent/runs", body);
    expect(refused.status).toBeGreaterThanOrEqual(400);
    expect(first).toMatchObject({ code: refused.body.error_code, severity: "error", message: refused.body.detail });
    expect(first.remedy).toMatch(/\w/);
  });

  it("has a remedy for the field that its message names, or the remedy of its error code", async () => {
    const invalid = (await dryRun({ prompt: "  " })).body.findings;
    expect(invalid).toMatchObject([
      {
        code: "invalid_request",
        severity: "error",
        message: expect.stringMatching(/^prompt: /),
        remedy: "Correct the field that the message names, then send the request again.",
      },
    ]);
    await setTeam({ queue_limit: 1 });
    await user.post("/agent/runs", { prompt: "p" });
    const [full] = (await dryRun({ prompt: PROMPT })).body.findings;
    expect(full.code).toBe("resource_unavailable");
    expect(full.remedy).toBe(ERROR_GUIDE.resource_unavailable.remedy);
  });

  it("comes with others of the same request, each once and in the order of the checks", async () => {
    await setTeam({ default_model_id: "local/runbook" });
    const config = {
      model_id: "nobody/knows",
      worker_host: "warp-1",
      harness: { type: "claude", model_id: "nobody/else" },
    };
    const { body } = await dryRun({ config });
    const errors = body.findings.filter(({ severity }: { severity: string }) => severity === "error");
    expect(errors.map(({ message }: { message: string }) => message.split(":")[0])).toEqual([
      "prompt",
      "config.model_id",
      "config.worker_host",
      "config.harness.model_id",
      "config.harness.type",
    ]);
  });

  it("is what a run's own key is refused for", async () => {
    const { run_id } = (await user.post("/agent/runs", { prompt: "p" })).body;
    const harness = createHarness(plane, await plane.dispatch(run_id));
    await harness.resolve();
    expect((await dryRun({ prompt: PROMPT }, harness.client)).body).toMatchObject({ would_start: true });
    const local = await dryRun({ prompt: PROMPT, execution_location: "LOCAL" }, harness.client);
    expect(listCodes(local, "error")).toEqual(["not_authorized"]);
  });

  it("is absent for an agent's key whose request is valid", async () => {
    const { key } = await plane.agent();
    const agent = createClient(plane, key);
    await agent.post("/agent/runs", { prompt: "p" });
    expect((await dryRun({ prompt: PROMPT, config: { model_id: "local/runbook" } }, agent)).body).toMatchObject({
      would_start: true,
      findings: [],
    });
  });
});

describe("a finding that does not refuse the run", () => {
  const findings: readonly (readonly [string, string, () => Promise<object>])[] = [
    [
      "at_capacity",
      "warning",
      async () => {
        await setTeam({ concurrency_limit: 1 });
        await plane.dispatch((await user.post("/agent/runs", { prompt: "p" })).body.run_id);
        return { prompt: PROMPT };
      },
    ],
    ["worker_not_connected", "warning", async () => ({ prompt: PROMPT, config: { worker_host: "rack-7" } })],
    [
      "secret_not_available",
      "warning",
      async () => ({
        prompt: PROMPT,
        config: { environment_id: await createEnvironment({ secrets: [{ name: "NPM_TOKEN" }] }) },
      }),
    ],
    ["nothing_to_run", "warning", async () => ({ prompt: "Fix the test" })],
    ["default_model", "info", async () => ({ prompt: PROMPT })],
    ["deprecated_option", "info", async () => ({ prompt: PROMPT, images: [] })],
    ["unknown_member", "warning", async () => ({ prompt: PROMPT, config: { model_idd: "nobody/knows" } })],
    ["ignored_option", "info", async () => ({ prompt: "p", skill: "a/b:c", config: { skills: ["a/b:d"] } })],
  ];

  it.each(findings)("is %s, a finding of severity %s, and the run is created", async (code, severity, prepare) => {
    const body = await prepare();
    const checked = await dryRun(body);
    expect(checked.body.would_start).toBe(true);
    expect(listCodes(checked, severity)).toContain(code);
    const created = await user.post("/agent/runs", body);
    expect(created.status).toBe(200);
    expect(created.body.at_capacity === true).toBe(code === "at_capacity");
  });

  const RUNBOOK = { model_id: "local/runbook" };
  const SKILL = "acme/shop:build";
  const NO_EFFECT = "has no effect in this release";
  const remarks: readonly (readonly [what: string, body: object, messages: readonly string[]])[] = [
    ["a skill alone", { skill: SKILL }, []],
    ["config.skills alone", { config: { ...RUNBOOK, skills: [SKILL] } }, []],
    ["config.skill_spec alone", { config: { ...RUNBOOK, skill_spec: SKILL } }, []],
    [
      "skill and config.skills",
      { skill: SKILL, config: { ...RUNBOOK, skills: [SKILL] } },
      ["config.skills: skill takes its place"],
    ],
    [
      "skill and config.skill_spec",
      { skill: SKILL, config: { ...RUNBOOK, skill_spec: SKILL } },
      ["config.skill_spec: skill takes its place"],
    ],
    [
      "computer use",
      { config: { ...RUNBOOK, computer_use_enabled: true } },
      [`config.computer_use_enabled: ${NO_EFFECT}`],
    ],
    ["no computer use", { config: { ...RUNBOOK, computer_use_enabled: false } }, []],
    ["an idle timeout", { config: { ...RUNBOOK, idle_timeout_minutes: 5 } }, []],
    [
      "a credential strategy",
      { config: { ...RUNBOOK, credential_strategy: "CREATOR" } },
      [`config.credential_strategy: ${NO_EFFECT}`],
    ],
    ["an interactive run", { interactive: true }, []],
    ["images", { images: [] }, ["images: is the older name of attachments"]],
  ];

  it.each(remarks)("names each member without an effect: %s", async (_, body, messages) => {
    const { findings } = (await dryRun({ prompt: PROMPT, config: RUNBOOK, ...body })).body;
    expect(findings.map(({ message }: { message: string }) => message)).toEqual(messages);
    for (const { severity, remedy } of findings) {
      expect([severity, remedy]).toEqual([
        "info",
        expect.stringMatching(/^(Leave .* out of the request|Send attachments instead)\.$/),
      ]);
    }
  });

  const LEAVE_OUT = "Correct its name, or leave PATH out of the request.";
  it.each<[path: string, remedy: string, body: object]>([
    ["promtp", "Did you mean prompt?", { promtp: "p" }],
    ["constructor", LEAVE_OUT, { constructor: "p" }],
    ["config.model_idd", "Did you mean model_id?", { config: { ...RUNBOOK, model_idd: "p" } }],
    ["config.modelId", "Did you mean model_id?", { config: { ...RUNBOOK, modelId: "p" } }],
    ["config.thinking", LEAVE_OUT, { config: { ...RUNBOOK, thinking: true } }],
    ["config.x", LEAVE_OUT, { config: { ...RUNBOOK, x: 1 } }],
    [
      "config.repositories[1].brnch",
      LEAVE_OUT,
      { config: { ...RUNBOOK, repositories: [{ url: "https://a/b" }, { url: "https://a/c", brnch: "main" }] } },
    ],
    [
      "config.mcp_servers.files.cmd",
      LEAVE_OUT,
      { config: { ...RUNBOOK, mcp_servers: { files: { command: "c", env: { CMD: "1" }, cmd: "c" } } } },
    ],
    [
      "config.mcp_servers[0].arg",
      "Did you mean args?",
      { config: { ...RUNBOOK, mcp_servers: [{ name: "files", command: "c", arg: [] }] } },
    ],
    [
      "attachments[0].filename",
      "Did you mean file_name?",
      { attachments: [{ file_name: "a", filename: "b", mime_type: "text/plain", data: "YQ==" }] },
    ],
  ])("warns about the unknown member %s: %s", async (path, remedy, body) => {
    const { would_start, findings } = (await dryRun({ prompt: PROMPT, config: RUNBOOK, ...body })).body;
    expect(would_start).toBe(true);
    expect(findings).toEqual([
      {
        code: "unknown_member",
        severity: "warning",
        message: `${path}: is not a member that this release knows, and has no effect`,
        remedy: remedy.replace("PATH", path),
      },
    ]);
  });

  it("lists 20 unknown members at most, the first 200 characters of each, and no keys of metadata", async () => {
    const unknown = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`${index}`.repeat(300), true]));
    const body = { prompt: PROMPT, config: RUNBOOK, metadata: { anything: "x" } };
    expect((await dryRun(body)).body.findings).toEqual([]);
    const { findings } = (await dryRun({ ...body, ...unknown })).body;
    expect(findings).toHaveLength(20);
    expect(findings[0].message).toMatch(/^0{200}: is not/);
  });

  it("warns that there is nothing to run only where nothing else can have a block", async () => {
    const nothing =
      "the run would fail: its model local/runbook only runs fenced code blocks tagged sh, bash or shell, and the prompt has none";
    const messagesOf = async (body: object) =>
      (await dryRun({ prompt: "Fix it", config: RUNBOOK, ...body })).body.findings.map(
        ({ message }: { message: string }) => message,
      );
    expect(await messagesOf({})).toEqual([nothing]);
    expect(await messagesOf({ config: { ...RUNBOOK, base_prompt: "Be kind." } })).toEqual([nothing]);
    const { run_id } = (await user.post("/agent/runs", { prompt: PROMPT })).body;
    await user.post(`/agent/runs/${run_id}/cancel`);
    for (const body of [
      { config: { ...RUNBOOK, base_prompt: PROMPT } },
      { config: { ...RUNBOOK, skill_spec: SKILL } },
      { conversation_id: run_id },
      { prompt: "~~~sh\ntrue\n~~~" },
      { execution_location: "LOCAL" },
    ]) {
      expect(await messagesOf(body), JSON.stringify(body)).toEqual([]);
    }
    stubModelSettings();
    expect(await messagesOf({ config: { model_id: SONNET } })).toEqual([]);
    vi.unstubAllEnvs();
  });

  it("says how many runs are executing and queued, which worker is absent, and why a secret is", async () => {
    const worker = { prompt: PROMPT, config: { ...RUNBOOK, worker_host: "rack-7" } };
    expect((await dryRun(worker)).body.findings).toMatchObject([
      {
        severity: "warning",
        message: "config.worker_host: no worker rack-7 is connected; the run would stay queued until one is",
      },
    ]);
    await connectedWorker(plane);
    expect((await dryRun(worker)).body.findings).toEqual([]);
    const environment_id = await createEnvironment({ secrets: [{ name: "NPM_TOKEN" }] });
    const secret = { prompt: PROMPT, config: { ...RUNBOOK, environment_id } };
    expect((await dryRun(secret)).body.findings).toMatchObject([
      {
        severity: "warning",
        message:
          "the run would fail with environment_setup_failed: secret NPM_TOKEN: the team has no secret of this name",
      },
    ]);
    expect((await dryRun({ ...secret, execution_location: "LOCAL" })).body.findings).toEqual([]);
    await setTeam({ concurrency_limit: 1 });
    await plane.dispatch((await user.post("/agent/runs", { prompt: "p" })).body.run_id);
    expect((await dryRun({ prompt: PROMPT, config: RUNBOOK })).body.findings).toMatchObject([
      {
        severity: "warning",
        message: "the run would wait: the concurrency limit is reached (1 runs are executing and 0 are queued)",
      },
    ]);
  });

  it("is absent for a stored secret, for a LOCAL run, and where the request names the model", async () => {
    await user.post("/agent/secrets", { name: "NPM_TOKEN", value: "a secret value" });
    const environment_id = await createEnvironment({ secrets: [{ name: "NPM_TOKEN" }] });
    const config = { environment_id, model_id: "local/runbook" };
    expect((await dryRun({ prompt: PROMPT, config })).body.findings).toEqual([]);
    const local = { prompt: "p", execution_location: "LOCAL", config: { worker_host: "rack-7" } };
    expect((await dryRun(local)).body.findings).toEqual([]);
  });
});

const manyServers = () =>
  Object.fromEntries(
    Array.from({ length: 50 }, (_, index) => [
      `s${index}`,
      { command: "x", args: ["a".repeat(4_000), "b".repeat(4_000)] },
    ]),
  );
