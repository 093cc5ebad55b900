import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createShell } from "#harness/commands/shell.ts";
import { createControlPlane } from "#harness/control-plane/control-plane.ts";
import type { AgentWork } from "#harness/engine/agent-context.ts";
import { createPlainSandbox } from "#harness/isolation/sandbox.ts";
import { createEgress } from "#harness/network/egress.ts";
import { createRedactor } from "#harness/redaction/redactor.ts";
import { createLiveOutput } from "#harness/reporting/live-output.ts";
import { createSlice } from "#harness/support/time-slice.ts";
import { findAgentFolder } from "#harness/third-party/agents.ts";
import { claude } from "#harness/third-party/claude.ts";
import { loadThirdParty } from "#harness/third-party/make-third-party.ts";
import type { Envelope } from "#shared/wire/harness.ts";
import { NO_BACKGROUND } from "../support/no-background.ts";

let steps = "";
beforeEach(() => {
  steps = mkdtempSync(join(tmpdir(), "briefing-"));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(steps, { recursive: true });
});

/** The dependencies of an agent, whose commands do nothing. */
function createWork({ network = true, programs = "/programs", attachments = [""], basePrompt = "", level = "high" }) {
  const url = "http://127.0.0.1:1";
  const envelope: Envelope = {
    version: 1,
    run_id: "run-1",
    execution_id: "execution-1",
    base_url: url,
    model_url: url,
    key: "ryr_key",
  };
  const { signal } = new AbortController();
  const plane = createControlPlane(envelope, "instance-1", signal);
  const redactor = createRedactor([]);
  const host = { workspace: "/w", home: "/h", tmp: "/t", output: "/w/output", steps };
  const ended = { exitCode: 0, timedOut: false, durationMs: 1, text: "", truncated: false };
  const commands: string[] = [];
  const runner: AgentWork["runner"] = {
    async run({ command, workingDirectory }) {
      commands.push(command);
      return { command, workingDirectory, ...ended };
    },
  };
  const options = { host, runId: "run-1", marker: {}, ...(programs === "" ? {} : { programs }) };
  const work: AgentWork = {
    envelope,
    background: NO_BACKGROUND,
    context: {
      run_id: "run-1",
      execution_id: "execution-1",
      conversation_id: "conversation-1",
      title: "A run",
      mode: "normal",
      agent_config: {
        harness: { type: "claude", ...(level === "" ? {} : { reasoning_level: level }) },
        reasoning_level: "minimal",
      },
      attachments: attachments
        .filter((filename) => filename !== "")
        .map((filename) => ({ attachment_id: filename, filename, download_url: url })),
      messages: [],
      next_sequence: 1,
      followups: [],
      next_heartbeat_seconds: 30,
      mcp_servers: { "the box": { url: "https://mcp.example" } },
    },
    secrets: {},
    basePrompt: basePrompt === "" ? undefined : basePrompt,
    opening: [],
    conversation: [],
    plane,
    outbox: { message: () => {}, event: () => {}, flush: async () => {}, takeUnsent: async () => undefined },
    live: createLiveOutput({ plane, redactor }),
    redactor,
    log: () => {},
    runner,
    shell: createShell({ runner, workingDirectory: "/w", slice: createSlice(undefined) }),
    sandbox: { ...createPlainSandbox(options, "none"), network },
    egress: createEgress(),
    host,
    workingDirectory: "/w/clone",
    clones: [],
    slice: createSlice(undefined),
    signal,
    turn: () => signal,
  };
  return { work, commands };
}

async function takeTurn(given: Parameters<typeof createWork>[0]) {
  const { work, commands } = createWork(given);
  const tools = {
    all: [],
    runCommand: () => Promise.reject(new Error("not used")),
    startCommand: () => Promise.reject(new Error("not used")),
    use: () => Promise.reject(new Error("not used")),
  };
  const turn = { instructions: ["Do it."], conversation: [] };
  const makeThirdParty = await loadThirdParty(claude);
  const outcome = await makeThirdParty("anthropic/claude-x", work).takeTurn(turn, tools);
  const read = (name: string) => readFileSync(join(steps, name), "utf8");
  return { outcome, commands, read };
}

describe("loadThirdParty", () => {
  const ALONE =
    "You work in your own sandbox, and nobody can answer questions: if something is unclear, decide yourself and state your decision.";
  const PLACES = "Your workspace is /w. Files in /w/output are delivered to the user of this run.";

  it.each([
    ["where it works", {}, [ALONE, PLACES]],
    ["that it has no network", { network: false }, [ALONE, PLACES, "There is no network."]],
    [
      "which files are attached",
      { attachments: ["a.csv", "b.txt"] },
      [ALONE, PLACES, "Attached files are in /w/attachments: a.csv, b.txt."],
    ],
    ["the instructions of the run", { basePrompt: "Be brief." }, [ALONE, PLACES, "", "Be brief."]],
  ])("tells the agent %s", async (_, given, lines) => {
    const { read } = await takeTurn(given);
    expect(read("claude-system.md")).toBe(lines.join("\n"));
  });

  it("starts the agent with the model, the reasoning level and the MCP servers of the run", async () => {
    const { commands, read } = await takeTurn({});
    expect(commands).toHaveLength(1);
    expect(commands[0]).toContain("--model 'claude-x' --permission-mode bypassPermissions --effort high");
    expect(commands[0]).toContain("/programs/node_modules/@anthropic-ai/claude-code/");
    expect(JSON.parse(read("claude-mcp.json"))).toEqual({
      mcpServers: { "the-box": { type: "http", url: "https://mcp.example", headers: {} } },
    });
  });

  it("starts the agent with the nearest level to that of the configuration if its harness has none", async () => {
    const { commands } = await takeTurn({ level: "" });
    expect(commands[0]).toContain("--effort low");
  });

  it("says how to install an agent that the sandbox does not have", async () => {
    const { outcome, commands } = await takeTurn({ programs: "" });
    expect([outcome, commands]).toEqual([
      {
        success: false,
        summary: expect.stringContaining("it needs the npm package @anthropic-ai/claude-code"),
        error_code: "operation_not_supported",
      },
      [],
    ]);
  });
});

describe("findAgentFolder", () => {
  // A file of the checkout in place of an agent's program.
  const agent = { ...claude, program: "../package.json" };
  const image = join(import.meta.dirname, "../../../image");
  it.each([
    ["the image's folder in a checkout if none is named", undefined, image],
    ["the named folder", dirname(image), dirname(image)],
    ["undefined if the named folder does not have the agent", "/nowhere", undefined],
  ])("returns %s", (_, named, folder) => {
    vi.stubEnv("RUNYARD_AGENTS", named);
    expect(findAgentFolder(agent)).toBe(folder);
  });
});
