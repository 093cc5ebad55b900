import { beforeEach, describe, expect, it, vi } from "vitest";
import { RUN_SOURCES } from "#shared/wire/run.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type ResponseBody, type TestControlPlane } from "../../support/control-plane.ts";
import { createHarness, createRun, deliver } from "../../support/execution.ts";

let plane: TestControlPlane;
let user: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
});

const read = async (id: string): Promise<ResponseBody["body"]> => (await user.get(`/agent/runs/${id}`)).body;
/** The resolved configuration of a run that is created with this one. */
const resolved = async (config: Record<string, unknown>, more: Record<string, unknown> = {}) =>
  (await read(await createRun(plane, { prompt: "hello", config, ...more }))).agent_config;
const refused = async (config: Record<string, unknown>) => user.post("/agent/runs", { prompt: "hello", config });

describe("skills of a run", () => {
  // @contract runs.request.prompt-required
  it.each([
    ["skill", { skill: "acme/tools:review" }],
    ["config.skill_spec", { config: { skill_spec: "acme/tools:review" } }],
    ["config.skills", { config: { skills: ["acme/tools:review"] } }],
  ])("accepts each kind of skill in place of a prompt: %s", async (_, body) => {
    expect((await read(await createRun(plane, body))).agent_config).toMatchObject({
      skill_spec: "acme/tools:review",
      skills: ["acme/tools:review"],
      name: "review",
    });
  });

  // @contract runs.request.skill-forms: A skill may be named by repository or owner and repository, then by its name or its file.
  // @contract runs.request.skill-wins
  it.each([
    ["tools:review", "review"],
    ["tools:skills/review/SKILL.md", "review"],
    ["acme/tools:review", "review"],
    ["acme/tools:path/to/review/SKILL.md", "review"],
  ])("accepts every form of a skill, which takes precedence over the configuration's: %s", async (skill, name) => {
    const config = { skill_spec: "acme/tools:other" };
    expect(await resolved(config, { skill })).toMatchObject({ skill_spec: skill, skills: [skill], name });
    expect(await resolved({ ...config, name: "mine" }, { skill })).toMatchObject({ name: "mine" });
  });

  // @contract runs.config.skill-or-skills: skill_spec and skills exclude each other.
  it("rejects skill_spec together with skills", async () => {
    const response = await refused({ skill_spec: "acme/tools:a", skills: ["acme/tools:b"] });
    expect(response).toMatchObject({ status: 400, body: { errors: [{ path: "config" }] } });
  });
});

describe("the configuration of a run", () => {
  // @contract runs.config.members
  it("accepts harness, harness secrets and every strategy", async () => {
    const shared = {
      harness_auth_secrets: { claude_auth_secret_name: "CLAUDE", codex_auth_secret_name: "CODEX" },
      computer_use_enabled: false,
    };
    for (const name of ["CLAUDE", "CODEX"]) await user.post("/agent/secrets", { name, value: "key" });
    for (const credential_strategy of ["CREATOR", "EXECUTOR", null]) {
      for (const public_access of ["VIEWER", "EDITOR"]) {
        const config = { ...shared, credential_strategy, session_sharing: { public_access } };
        expect(await resolved(config)).toMatchObject(config);
      }
    }
    for (const wrong of [
      { credential_strategy: "BOTH" },
      { session_sharing: { public_access: "OWNER" } },
      { harness_auth_secrets: { claude_auth_secret_name: 7 } },
    ]) {
      expect((await refused(wrong)).status).toBe(400);
    }
  });

  // @contract runs.config.repository-urls: A repository is on the web, behind ssh, or, off AWS, on a disk.
  it("accepts repositories by https, ssh and file", async () => {
    const repositories = [
      { url: "https://git.test/acme/shop.git", ref: "main", path: "shop" },
      { url: "ssh://git@git.test/acme/shop.git" },
      { url: "git@git.test:acme/tools.git", ref: "v1.2" },
      { url: "file:///srv/git/notes" },
    ];
    expect((await resolved({ repositories })).repositories).toEqual(repositories);
    const ten = Array.from({ length: 10 }, (_, index) => ({ url: `https://git.test/acme/${index}` }));
    expect((await resolved({ repositories: ten })).repositories).toHaveLength(10);
  });

  // @contract runs.config.idle
  it("accepts idle_timeout_minutes from 1 to 60", async () => {
    for (const idle_timeout_minutes of [1, 60]) {
      expect(await resolved({ idle_timeout_minutes })).toMatchObject({ idle_timeout_minutes });
    }
  });

  // @contract runs.config.worker-hosted: A worker_host that is absent, hosted or warp is the service itself, and is not returned.
  it("accepts hosted and warp for the service's sandboxes, and other names for workers", async () => {
    for (const worker_host of ["hosted", "warp"]) {
      expect(await resolved({ worker_host })).not.toHaveProperty("worker_host");
    }
    await deliver(plane);
    expect(plane.started).toHaveLength(2);
    expect(await resolved({ worker_host: "rack-7" })).toMatchObject({ worker_host: "rack-7" });
    await deliver(plane);
    expect(plane.started).toHaveLength(2);
  });

  // @contract runs.config.harness-types: harness.type is default, claude, codex or gemini, and oz means default.
  // @contract runs.config.harness-hidden: Responses omit harness if it is the default one.
  it("accepts every harness name, and returns none for the default harness", async () => {
    for (const type of ["default", "oz"]) expect(await resolved({ harness: { type } })).not.toHaveProperty("harness");
    vi.stubEnv("MODEL_PROVIDERS", "anthropic,openai");
    for (const [type, model_id] of [
      ["claude", "anthropic/claude-opus-5-5"],
      ["codex", "openai/gpt-5.4"],
      ["gemini", "openai/gpt-5.4-mini"],
    ] as const) {
      const harness = { type, model_id, reasoning_level: "high" };
      expect(await resolved({ harness })).toMatchObject({ harness });
    }
    vi.unstubAllEnvs();
  });

  // @contract runs.mcp.one-of
  it("accepts an MCP server of each kind, as a map or as a list", async () => {
    const mcp_servers = {
      shared: { warp_id: "0199e0b2" },
      command: { command: "serve", args: ["-v"], env: { TOKEN: "secret" } },
      web: { url: "https://mcp.test/sse", headers: { authorization: "secret" } },
    };
    const shown = {
      shared: { warp_id: "0199e0b2" },
      command: { command: "serve", args: ["-v"], env: { TOKEN: "***" } },
      web: { url: "https://mcp.test/sse", headers: { authorization: "***" } },
    };
    expect((await resolved({ mcp_servers })).mcp_servers).toEqual(shown);
    const list = Object.entries(mcp_servers).map(([name, server]) => ({ name, ...server }));
    expect((await resolved({ mcp_servers: list })).mcp_servers).toEqual(shown);
  });
});

describe("a new run", () => {
  // @contract runs.request.mode: mode is normal, plan or orchestrate, and normal by default.
  it("passes the mode to the agent, normal by default", async () => {
    for (const [mode, given] of [
      ["normal", {}],
      ["normal", { mode: "normal" }],
      ["plan", { mode: "plan" }],
      ["orchestrate", { mode: "orchestrate" }],
    ] as const) {
      const id = await createRun(plane, { prompt: "hello", ...given });
      expect((await createHarness(plane, await plane.dispatch(id)).resolve()).body.context.mode).toBe(mode);
    }
  });

  // @contract runs.source.values: The sources are the thirteen that the contract names.
  it.each(RUN_SOURCES.filter((source) => source !== "SCHEDULED_AGENT" && source !== "ORCHESTRATION"))(
    "accepts every source that a caller may state: %s",
    async (source) => {
      for (const name of ["x-run-source", "x-oz-api-source"]) {
        const { body } = await user.post("/agent/runs", { prompt: "hello" }, { headers: { [name]: source } });
        expect((await read(body.run_id)).source).toBe(source);
      }
      expect((await user.get(`/agent/runs?source=${source}`)).body.runs).toHaveLength(2);
    },
  );

  // @contract runs.item.required: Every run has ids, title, state, prompt, and the times of its creation and last change.
  it("has all common members when it is created", async () => {
    const id = await createRun(plane, { prompt: "hello" });
    const run = await read(id);
    expect(run).toMatchObject({
      run_id: id,
      task_id: id,
      title: "hello",
      state: "QUEUED",
      prompt: "hello",
      created_at: "2026-05-18T19:00:00.000Z",
      updated_at: "2026-05-18T19:00:00.000Z",
    });
    // A list does not add up the usage of trees.
    const { request_usage, ...others } = run;
    expect(request_usage).toEqual({ tree: { cost_usd: 0, runs: 1, total_tokens: 0 } });
    const [listed] = (await user.get("/agent/runs")).body.runs;
    expect(listed).toEqual(others);
  });
});
