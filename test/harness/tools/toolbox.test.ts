import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createPlainSandbox } from "#harness/isolation/sandbox.ts";
import { createEgress } from "#harness/network/egress.ts";
import { createRedactor } from "#harness/redaction/redactor.ts";
import { createToolbox, type ToolboxOptions } from "#harness/tools/toolbox.ts";

vi.setConfig({ testTimeout: 10_000, hookTimeout: 10_000 });

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolbox-"));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

const signal = new AbortController().signal;
const call = { id: "1", signal };

/** The tools of a run with this context, and the events that it reports. */
async function create(context: object = {}, skills: readonly object[] = [], ended = signal, more: object = {}) {
  const events: unknown[] = [];
  const notified: string[] = [];
  const host = { workspace: folder, home: folder, tmp: folder, output: folder, steps: folder };
  const base_url = "http://127.0.0.1:1";
  const options: ToolboxOptions = Object.assign(Object.create(null), {
    envelope: { version: 1, base_url, model_url: base_url, run_id: "run-1", execution_id: "execution-1", key: "k" },
    context: { execution_id: "execution-1", mode: "normal", agent_config: {}, ...context },
    plane: {
      reportArtifact: async () => ({ artifact_uid: "uid-1" }),
      notifyUser: async (message: string) => void notified.push(message),
    },
    outbox: {
      event: (name: string, { detail, is_error }: Record<string, unknown>) => events.push([name, detail, is_error]),
    },
    redactor: createRedactor([]),
    egress: createEgress(),
    sandbox: createPlainSandbox({ host, runId: "run-1", marker: {} }, "none"),
    ...{ host, signal: ended, skills, workingDirectory: folder, secrets: {}, shell: { here: folder } },
    slice: { cutAt: Number.POSITIVE_INFINITY },
    loadSkill: async (id: string) => `body of ${id}`,
    ...more,
  });
  const toolbox = await createToolbox(options);
  const use = (name: string, input: object) => toolbox.tools.find((tool) => tool.name === name)?.run(input, call);
  return { ...toolbox, use, events, notified };
}

/** An MCP server that lists one tool. */
const SERVER = {
  command: "bash",
  args: [
    "-c",
    `read -r line
echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}'
read -r line; read -r line
echo '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"change","inputSchema":{"type":"object"}}]}}'
read -r line
echo '{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"changed"}]}}'
read -r line`,
  ],
};

describe("createToolbox", () => {
  it("has the tools of tools.txt", async () => {
    const { tools, close } = await create({ mcp_servers: { shared: { warp_id: "x" } } });
    const definitions = tools.map(({ name, description, inputSchema }) => ({
      name,
      description,
      input_schema: inputSchema,
    }));
    const listed: Record<string, unknown>[] = JSON.parse(readFileSync(new URL("tools.txt", import.meta.url), "utf8"));
    expect(definitions.toSorted((one, other) => one.name.localeCompare(other.name))).toEqual(
      listed.map(({ cache_control: _, ...tool }) => tool),
    );
    await close();
  });

  it("has tools of these categories, some of which are read-only", async () => {
    const { tools } = await create({ mcp_servers: { shared: { warp_id: "x" } } }, [{ id: "a", name: "a" }]);
    expect(tools.map(({ name, category, readsOnly }) => `${name} ${category}${readsOnly ? "" : " (writes)"}`)).toEqual([
      ...["run_command command (writes)", "read_command command (writes)", "write_command command (writes)"],
      ...["stop_command command (writes)", "read_files files", "edit_files files (writes)", "search_files search"],
      ...["glob search", "todo documents"],
      ...["load_skill skill", "create_plan documents", "ask_user review", "notify_user review"],
      ...["report_artifact documents", "create_pull_request review (writes)", "start_agent integration (writes)"],
      ...["wait_for_agents integration", "message_agent integration (writes)", "web_fetch search"],
      "call_mcp_tool integration (writes)",
    ]);
  });

  it("has tools that use the run's control plane, files, repositories and runs", async () => {
    const over = AbortSignal.abort(new Error("the execution is over"));
    const { use, notified } = await create({}, [], over);
    expect(await use("notify_user", { message: "m" })).toEqual({ output: { told: true } });
    expect(notified).toEqual(["m"]);
    const link = { artifact_type: "EXTERNAL_REFERENCE", url: "https://a.example", reference_type: "issue" };
    expect(await use("report_artifact", link)).toEqual({ output: { artifact_uid: "uid-1" } });
    await expect(use("report_artifact", { artifact_type: "FILE", path: "/etc/passwd" })).rejects.toThrow(
      `/etc/passwd is not in the workspace ${folder}`,
    );
    expect(await use("wait_for_agents", { run_ids: ["a"] })).toEqual({
      output: { agents: [{ run_id: "a", error: "the execution is over" }] },
    });
    await expect(use("start_agent", { prompt: "p", mcp_servers: ["none"] })).rejects.toThrow(
      "mcp_servers: this run has no server none",
    );
    const pull = { branch: "b", base: "main", title: "t" };
    await expect(use("create_pull_request", pull)).rejects.toThrow("this run has none on GitHub");
    const repositories = [{ url: "https://github.com/acme/shop" }];
    const without = await create({ agent_config: { repositories } });
    await expect(without.use("create_pull_request", pull)).rejects.toThrow("there is no token for github.com");
    const github = { secrets: { GH_TOKEN: "gh" }, githubApiUrl: "http://127.0.0.1:1" };
    const unreachable = await create({ agent_config: { repositories } }, [], signal, github);
    await expect(unreachable.use("create_pull_request", pull)).rejects.toThrow(
      /127\.0\.0\.1:1|ECONNREFUSED|fetch failed/,
    );
  });

  it("has load_skill only for a run with skills, and call_mcp_tool only for one with servers", async () => {
    const names = (tools: readonly { name: string }[]) => tools.map(({ name }) => name);
    const bare = await create();
    expect(names(bare.tools)).toEqual([
      ...["run_command", "read_command", "write_command", "stop_command"],
      ...["read_files", "edit_files", "search_files", "glob", "todo"],
      ...["create_plan", "ask_user", "notify_user"],
      ...["report_artifact", "create_pull_request", "start_agent", "wait_for_agents", "message_agent"],
      "web_fetch",
    ]);
    const closed = await create({}, [], signal, { egress: createEgress("none") });
    expect(names(closed.tools)).not.toContain("web_fetch");
    expect([bare.events, names((await create({ mcp_servers: {} })).tools).includes("call_mcp_tool")]).toEqual([
      [],
      false,
    ]);
    const skilled = await create({}, [{ id: "a/b:c", name: "c", description: "" }]);
    expect(names(skilled.tools)).toContain("load_skill");
    expect(await skilled.use("load_skill", { id: "a/b:c" })).toMatchObject({ output: { content: "body of a/b:c" } });
    expect(await bare.use("create_plan", { title: "t", content: "c" })).toMatchObject({
      output: { document: "run-1" },
    });
    await bare.close();
  });

  it.each([
    ["plan", /^change may change something/],
    ["normal", undefined],
  ])("connects servers, and ends them, in the mode %s", async (mode, refusal) => {
    const { events, use, close } = await create({ mode, mcp_servers: { box: SERVER } });
    expect(events).toEqual([["setup_mcp_servers", "box: 1 tool", false]]);
    const used = use("call_mcp_tool", { server: "box", tool: "change" });
    if (refusal !== undefined) await expect(used).rejects.toThrow(refusal);
    else expect(await used).toEqual({ isError: false, output: { text: "changed" } });
    await close();
    await expect(use("call_mcp_tool", { server: "box" })).rejects.toThrow("Not connected");
  });

  it.each([
    ["RUNYARD_MCP_LOOPBACK", "http://127.0.0.1:1/"],
    ["RUNYARD_MCP_PRIVATE_NETWORKS", "http://[fd12:3456::1]:1/"],
  ])("calls only the addresses that %s allows", async (variable, url) => {
    const blocked = "is an address that runs may not call";
    // A network may drop packets to an allowed address.
    const connectServer = () =>
      create({ mcp_servers: { box: { url } } }, [], AbortSignal.timeout(300)).then(
        ({ events }) => String(events[0]),
        (error: unknown) => String(error),
      );
    vi.stubEnv("RUNYARD_MCP_LOOPBACK", undefined);
    vi.stubEnv("RUNYARD_MCP_PRIVATE_NETWORKS", undefined);
    expect(await connectServer()).toContain(blocked);
    vi.stubEnv(variable, "deny");
    expect(await connectServer()).toContain(blocked);
    vi.stubEnv(variable, "allow");
    expect(await connectServer()).not.toContain(blocked);
  });
});
