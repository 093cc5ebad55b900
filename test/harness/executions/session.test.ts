import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Host } from "#harness/isolation/host.ts";
import { createPlainSandbox } from "#harness/isolation/sandbox.ts";
import { createWorkspace } from "#harness/isolation/workspace.ts";
import { runSession } from "#harness/session/run-session.ts";
import { Stop } from "#harness/support/stop.ts";
import {
  FakeControlPlane,
  type ResponseBody,
  type RunContext,
  type RunGiven,
} from "../../../lab/fake-control-plane.ts";
import { Repository } from "../support/repository.ts";

vi.setConfig({ testTimeout: 20_000, hookTimeout: 20_000 });

const sh = (...commands: string[]) => commands.map((command) => `\`\`\`sh\n${command}\n\`\`\`\n`).join("\n");

let lines: string[] = [];
beforeEach(() => {
  lines = [];
  vi.spyOn(process.stdout, "write").mockImplementation((line) => {
    lines.push(String(line));
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** What the session has logged: levels and messages. */
const logged = () => lines.map((line) => JSON.parse(line)).map(({ level, message }) => `${level} ${message}`);
const details = (message: string) => lines.map((line) => JSON.parse(line)).find((entry) => entry.message === message);

/** A host without a boundary, as `prepareHost` makes it. */
function createHost(): Host & { isClosed: boolean } {
  const workspace = createWorkspace();
  const host = {
    workspace,
    contained: false,
    isClosed: false,
    sandbox: (run: Parameters<Host["sandbox"]>[0]) => createPlainSandbox({ ...run, host: workspace.paths }, "none"),
    async close() {
      host.isClosed = true;
      await workspace.remove();
    },
  };
  return host;
}

/** One execution of a run in this process. */
async function execute(plane: FakeControlPlane, stop = new AbortController()) {
  const host = createHost();
  const code = await runSession(plane.envelope, Promise.resolve(host), stop);
  expect([host.isClosed, existsSync(host.workspace.root)]).toEqual([true, false]);
  return code;
}

const start = (given: Partial<RunGiven> & { context?: Partial<RunContext> }) =>
  FakeControlPlane.start({ prompt: "", ...given });
const eventsOf = (plane: FakeControlPlane, name: string) =>
  plane.events.filter(({ event_name }) => event_name === name).map(({ payload }) => payload);
/** Responds to calls to a path; `undefined` leaves a call to the protocol. */
const respondTo = (path: string, response: (count: number) => ResponseBody | undefined) => {
  let count = 0;
  return (call: { path: string }) => (call.path.endsWith(path) ? response(++count) : undefined);
};
const FINAL = { "x-should-retry": "false" };

describe("a session", () => {
  it("takes the turn of the prompt, and finishes the run with its outcome", async () => {
    await using plane = await start({ prompt: sh("echo one; pwd", "exit 3") });
    expect(await execute(plane)).toBe(0);
    const summary = "Step 2 of 2 failed: `exit 3` ended with exit code 3.";
    expect(plane.outcome).toEqual({ success: false, summary });
    expect(plane.outputs[0]).toMatch(/^one\n\/.*\/workspace\n$/);
    expect(plane.texts).toEqual([summary]);
    expect(plane.messages.at(-1)?.content.at(-1)).toEqual({
      type: "event",
      name: "turn_ended",
      data: { success: false },
    });
    expect(eventsOf(plane, "agent_started")).toEqual([
      { detail: "model local/runbook, isolation: none", isolation: "none", model_id: "local/runbook" },
    ]);
    expect(logged()).toEqual(["info resolved", "info finished"]);
    expect(details("resolved")).toMatchObject({
      run_id: plane.runId,
      execution_id: plane.executionId,
      model_id: "local/runbook",
      sandbox: "none",
      network: true,
    });
    expect(details("finished")).toMatchObject({ success: false, summary });
    expect(plane.calls.every(({ headers }) => headers["runyard-instance"] !== undefined)).toBe(true);
  });

  it("finishes in a separate request if the control plane accepts no messages with it", async () => {
    await using plane = await start({ prompt: sh("true"), context: { finish_takes_messages: false } });
    expect(await execute(plane)).toBe(0);
    expect(plane.outcome).toEqual({ success: true, summary: "Ran one command." });
    expect(plane.callsTo("finish-task").map(({ body }) => Object.keys(body))).toEqual([["success", "summary"]]);
    expect(plane.texts).toEqual(["Ran one command."]);
  });

  it("redacts its key, the run's secrets and those of MCP servers everywhere", async () => {
    const context: Partial<RunContext> = {
      secrets: [{ name: "TOKEN", value: "planted-value-0001" }],
      mcp_servers: { box: { url: "https://mcp.example", headers: { authorization: "Bearer planted-value-0002" } } },
    };
    await using plane = await start({
      prompt: sh(`echo $TOKEN; echo planted-value-0002; exit 9 # planted-value-0001`),
      context,
    });
    await execute(plane);
    expect(plane.outputs).toEqual(["***\n***\n"]);
    expect(plane.everything + lines.join("")).not.toMatch(/planted-value/);
    expect(plane.outcome?.summary).toContain("***");
    expect(lines.join("")).not.toContain(plane.key);
  });

  it("handles follow-ups one after the other, and ends like the last one", async () => {
    await using plane = await start({ prompt: sh("mkdir a; cd a") });
    plane.addFollowup(sh("basename $PWD; exit 1"));
    plane.addFollowup(sh("basename $PWD"));
    await execute(plane);
    expect(plane.outputs).toEqual(["", "a\n", "a\n"]);
    expect(plane.outcome).toEqual({ success: true, summary: "Ran one command." });
    expect(plane.messages.filter(({ role }) => role === "user").map(({ message_ids }) => message_ids)).toEqual([
      ["followup-1"],
      ["followup-2"],
    ]);
  });

  it("has nothing to do if every message has a response", async () => {
    const context: Partial<RunContext> = {
      messages: [{ role: "assistant", content: [{ type: "text", text: "Ran." }] }],
      own_messages: 1,
      next_sequence: 2,
      agent_config: { model_id: "openai/x" },
    };
    await using plane = await start({ prompt: sh("echo again"), context });
    await execute(plane);
    expect(plane.outcome).toEqual({ success: true, summary: "Ran." });
    expect(plane.outputs).toEqual([]);
  });

  it.each([
    ["where the last one ended", "/tmp", /^\/tmp$/],
    [
      "in the same directory of its own workspace",
      "/tmp/runyard-Old123/workspace/output",
      /\/runyard-(?!Old123)\w{6}\/workspace\/output$/,
    ],
    ["in the same directory after another isolation", "/workspace/output", /\/runyard-\w{6}\/workspace\/output$/],
    ["in the workspace if the directory is gone", "/tmp/runyard-Old123/workspace/gone", /\/runyard-\w{6}\/workspace$/],
  ])("continues a follow-up after its completed commands, %s", async (_, working_directory, expected) => {
    const messages: RunContext["messages"] = [
      { role: "assistant", content: [{ type: "text", text: "Ran." }] },
      { role: "user", content: [{ type: "text", text: sh("echo one", "echo two; pwd") }], message_ids: ["followup-1"] },
      {
        role: "tool",
        content: [
          {
            type: "action_result",
            action_id: "1",
            category: "command",
            name: "run_command",
            state: "completed",
            output: { working_directory },
          },
        ],
      },
    ];
    await using plane = await start({ prompt: sh("exit 1"), context: { messages, own_messages: 3, next_sequence: 4 } });
    plane.addFollowup("answered before");
    plane.storedFollowups = 1;
    plane.addFollowup(sh("echo three"));
    await execute(plane);
    expect(plane.outputs).toEqual([expect.stringMatching(/^two\n/), "three\n"]);
    expect(plane.outputs[0]?.split("\n")[1]).toMatch(expected);
    expect(plane.texts).toEqual(["Ran 2 commands.", sh("echo three"), "Ran one command."]);
  });

  it.each([
    ["where the last command ended, which failed, in a workspace that is restored", true, "b\n"],
    ["in the workspace, if it is a new one", false, "workspace\n"],
  ])("starts a follow-up in the next execution %s", async (_, isRestored, expected) => {
    await using first = await start({ prompt: sh("mkdir -p a/b", "cd a/b; exit 3") });
    await execute(first);
    const { messages } = first;
    const context = { messages, own_messages: messages.length, next_sequence: messages.length + 1 };
    await using second = await start({ prompt: sh("exit 1"), context });
    if (isRestored) second.attachSnapshot(first.savedFile("workspace.tar.gz") ?? Buffer.alloc(0));
    second.addFollowup(sh("basename $PWD"));
    await execute(second);
    expect(second.outputs).toEqual([expected]);
  });

  it("lists the commands in plan mode", async () => {
    await using plane = await start({ prompt: sh("echo one"), context: { mode: "plan" } });
    await execute(plane);
    expect(plane.outputs).toEqual([]);
    expect(plane.outcome).toEqual({
      success: true,
      summary: "In normal mode these commands would run, in order:\n\n```sh\necho one\n```",
    });
  });

  it("fails if the third-party agent of the run is not installed", async () => {
    vi.stubEnv("RUNYARD_AGENTS", "/nowhere");
    try {
      const agent_config = { model_id: "openai/x", harness: { type: "codex" as const }, computer_use_enabled: true };
      await using plane = await start({ prompt: "Do it.", context: { agent_config } });
      await execute(plane);
      expect(plane.outcome).toMatchObject({
        success: false,
        summary: expect.stringContaining("The agent codex is not installed"),
        error_code: "operation_not_supported",
      });
      expect(eventsOf(plane, "agent_started")).toMatchObject([
        { detail: "model openai/x, isolation: none, computer use is not supported" },
      ]);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it.each([
    [{ model_id: "local/runbook", reasoning_level: "high" as const }, true],
    [{ model_id: "openai/x", harness: { type: "gemini" as const, reasoning_level: "high" } }, true],
    [
      { model_id: "openai/x", harness: { type: "acp" as const, command: "agent" }, reasoning_level: "high" as const },
      true,
    ],
    [{ model_id: "openai/x", harness: { type: "codex" as const }, reasoning_level: "high" as const }, false],
    [{ model_id: "local/runbook" }, false],
  ])("says in the timeline whether a reasoning level has no effect: %j", async (agent_config, isIgnored) => {
    vi.stubEnv("RUNYARD_AGENTS", "/nowhere");
    try {
      await using plane = await start({ prompt: sh("echo one"), context: { agent_config } });
      await execute(plane);
      const [started] = eventsOf(plane, "agent_started");
      expect(JSON.stringify(started).includes("a reasoning level has no effect on this agent")).toBe(isIgnored);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it("collects the files and changes of a turn, and reports what it did not store", async () => {
    using repository = new Repository("shop", { "a.txt": "a\n" });
    const context = { agent_config: { repositories: [{ url: repository.url }] } };
    const name = "n".repeat(240);
    const large = `for i in {0..6}; do truncate -s 101M $RUNYARD_OUTPUT/l$i-${name}; done`;
    await using plane = await start({
      prompt: sh(`echo b >> a.txt; echo c > $RUNYARD_OUTPUT/c.txt; ${large}`),
      context,
    });
    await execute(plane);
    expect([...plane.artifacts.keys()].toSorted()).toEqual(["c.txt", "changes/shop.diff"]);
    const [text = ""] = plane.texts;
    const [response, omitted = ""] = text.split(" Not kept as artifacts: ");
    expect([response, omitted.split("; ").map((why) => why.slice(0, 2))]).toEqual([
      "Ran one command.",
      ["l0", "l1", "l2", "l3", "l4"],
    ]);
    expect(plane.outcome, "the longest status message").toEqual({ success: true, summary: text.slice(0, 1_024) });
    const last = plane.calls.findIndex(({ path }) => path.endsWith("report-artifact"));
    const stored = plane.calls.findIndex(({ path }) => path.endsWith("/messages"));
    expect(stored).toBeLessThan(last);
    expect(plane.checkpoint?.files.map(({ name }) => name)).toEqual(["workspace.tar.gz", "artifacts.json"]);
  });

  it("gives the first instructions the run's skills, and reports the first one", async () => {
    using repository = new Repository("tools", {
      "a/SKILL.md": `---\nname: ${"n".repeat(300)}\n---\n${sh("echo skill")}`,
      "b/SKILL.md": "\n",
    });
    const agent_config = { repositories: [{ url: repository.url }], skills: ["tools:a", "tools:b"] };
    await using plane = await start({ prompt: sh("echo prompt"), context: { agent_config } });
    await execute(plane);
    expect(plane.outputs).toEqual(["skill\n", "prompt\n"]);
    const [, noted] = plane.callsTo("resolve-prompt");
    expect(noted?.body).toEqual({
      skill: { name: "a", content: sh("echo skill"), path: expect.stringMatching(/\/tools:a\/SKILL\.md$/) },
    });
    const other = await start({ prompt: sh("echo prompt"), context: { agent_config } });
    other.intercept = respondTo("resolve-prompt", (count) =>
      count === 2 ? { status: 403, headers: FINAL } : undefined,
    );
    await using _ = other;
    await execute(other);
    expect(other.outcome).toMatchObject({ success: true });
    expect(logged()).toContain("warn the skill could not be reported");
  });

  it("ends the run when its skill has been reported, and not before", async () => {
    using repository = new Repository("tools", { "a/SKILL.md": sh("echo skill") });
    const agent_config = { repositories: [{ url: repository.url }], skills: ["tools:a"] };
    await using plane = await start({ prompt: sh("echo prompt"), context: { agent_config } });
    plane.intercept = respondTo("resolve-prompt", (count) =>
      count === 2 ? { status: 503, headers: { "retry-after": "0.5" } } : undefined,
    );
    await execute(plane);
    const calls = plane.calls.map(({ path }) => path.split("/").at(-1));
    const decisive = calls.filter((name) => name === "resolve-prompt" || name === "finish-task");
    expect(decisive.join(" "), "the second one is refused").toBe(
      "resolve-prompt resolve-prompt resolve-prompt finish-task",
    );
  });

  it("fails with what is wrong in the setup, and stores the follow-ups without a response", async () => {
    const context = { setup_commands: ["exit 4"] };
    await using plane = await start({ prompt: sh("echo never"), context });
    plane.addFollowup("More.");
    expect(await execute(plane)).toBe(0);
    const summary = 'the setup command "exit 4" ended with exit code 4';
    expect(plane.outcome).toEqual({ success: false, summary, error_code: "environment_setup_failed" });
    expect([plane.texts, plane.outputs]).toEqual([[summary, "More."], []]);
  });

  it("reports once that no checkpoint can be saved", async () => {
    await using plane = await start({ prompt: sh("echo a > a") });
    plane.addFollowup(sh("echo b > b"));
    plane.intercept = respondTo("upload-snapshot", () => ({ status: 403, body: { detail: "no" }, headers: FINAL }));
    expect(await execute(plane)).toBe(0);
    expect(plane.outcome).toMatchObject({ success: true });
    expect(eventsOf(plane, "checkpoint_saved")).toEqual([
      { is_error: true, detail: expect.stringMatching(/^not saved: \/harness-support\/upload-snapshot returned 403/) },
    ]);
    expect(logged().filter((line) => line === "warn no checkpoint was saved")).toHaveLength(2);
  });

  it("saves its work at the end of its slice", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    await using plane = await start({ prompt: sh("echo one", "echo two") });
    // This time is enough for one step.
    plane.lifetimeMs = 1_250;
    expect(await execute(plane)).toBe(0);
    expect(plane.shutdown).toEqual({
      error: { category: "slice_ended", message: "the time of this execution is over" },
    });
    expect([plane.outputs.length, plane.outcome, plane.checkpoint?.files]).toEqual([1, undefined, []]);
    expect(logged()).toEqual(["info resolved", "info slice ended"]);
  });

  it("sends live output while somebody watches, once its command is stored", async () => {
    const folder = mkdtempSync(join(tmpdir(), "session-"));
    const seen = join(folder, "seen");
    await using plane = await start({
      prompt: sh(`echo shown; until [ -e ${seen} ]; do sleep 0.02; done`),
    });
    // Longer than the first heartbeat, whose response reports a reader.
    plane.delays.set("/messages", 1_300);
    plane.intercept = ({ path }) => {
      if (path.endsWith("/live")) writeFileSync(seen, "");
      const next = { followups: [], cancel: false, next_heartbeat_seconds: 1 };
      const body = { ...(path.endsWith("/heartbeat") ? next : {}), watched: true };
      return path.endsWith("/heartbeat") || path.endsWith("/live") ? { status: 200, body } : undefined;
    };
    await execute(plane);
    rmSync(folder, { recursive: true });
    const [live, stored] = ["live", "messages"].map((path) => plane.callsTo(path)[0]);
    expect(live?.body).toMatchObject({ frames: [{ stream: "stdout", offset: 0, text: "shown\n" }] });
    const after = (live?.at ?? 0) - (stored?.at ?? 0);
    expect(after, "after the response that took 1,300 ms").toBeGreaterThanOrEqual(1_290);
  });

  it("interrupts a turn for a follow-up", async () => {
    await using plane = await start({ prompt: sh("echo begun; sleep 20", "echo never") });
    const ended = execute(plane);
    await expect.poll(() => plane.messages.length).toBeGreaterThan(0);
    plane.addFollowup(sh("echo instead"), "interrupt");
    expect(await ended).toBe(0);
    expect(plane.results[0]).toMatchObject({ interrupted: true });
    expect(plane.outputs[1]).toBe("instead\n");
    expect(plane.texts[0]).toBe("Interrupted by follow-up 1.");
  });
});

describe("a session that stops", () => {
  const stopAt = (plane: FakeControlPlane, path: string, stop: AbortController, reason: unknown) => {
    plane.intercept = (call) => {
      if (call.path.endsWith(path)) stop.abort(reason);
      return undefined;
    };
  };

  it.each([
    ["cancelled", 0, {}, "info stopped"],
    ["stale", 0, {}, "info stopped"],
    ["shutdown", 0, { error: { category: "shutdown", message: "because" } }, "error stopped"],
    ["unreachable", 1, { error: { category: "unreachable", message: "because" } }, "error stopped"],
    ["taken", 0, undefined, "info stopped"],
  ] as const)("as %s returns %i, and reports %j to the control plane", async (kind, code, shutdown, line) => {
    await using plane = await start({ prompt: sh("sleep 20") });
    const stop = new AbortController();
    stopAt(plane, "client-events", stop, new Stop(kind, "because"));
    expect(await execute(plane, stop)).toBe(code);
    expect([plane.shutdown, plane.outcome]).toEqual([shutdown, undefined]);
    expect(logged().filter((one) => one.includes("stopped"))).toEqual([line]);
    expect(details("stopped")).toMatchObject({ kind, detail: "because" });
    expect(logged()).not.toContain("error stack");
  });

  it("for another reason is lost, and logs where it failed, redacted", async () => {
    await using plane = await start({ prompt: sh("sleep 20") });
    const stop = new AbortController();
    stopAt(plane, "client-events", stop, new Error(`${plane.key} ${"x".repeat(3_000)}`));
    expect(await execute(plane, stop)).toBe(1);
    expect(plane.shutdown).toEqual({ error: { category: "internal", message: `*** ${"x".repeat(1_996)}` } });
    expect(logged()).toContain("error stack");
    expect(lines.join("")).not.toContain(plane.key);
  });

  it("is cancelled by the control plane", async () => {
    await using plane = await start({ prompt: sh("sleep 20") });
    plane.cancelled = true;
    expect(await execute(plane)).toBe(0);
    expect(details("stopped")).toMatchObject({ kind: "cancelled", detail: "the run was cancelled" });
  });

  it("because another harness has the execution reports nothing", async () => {
    await using plane = await start({});
    plane.intercept = respondTo("resolve-prompt", () => ({ status: 409, headers: FINAL }));
    expect(await execute(plane)).toBe(0);
    expect(plane.calls).toHaveLength(1);
  });

  it("because its first response has no run is lost", async () => {
    await using plane = await start({});
    plane.intercept = respondTo("resolve-prompt", () => ({ status: 200, body: { prompt: "a" } }));
    expect(await execute(plane)).toBe(1);
    expect(plane.shutdown).toEqual({
      error: { category: "unreachable", message: "the response of resolve-prompt has no context" },
    });
  });

  it.each([
    [401, 0, false],
    [403, 1, true],
  ])("returns %i's code %i where its final message is refused", async (status, code, isLogged) => {
    await using plane = await start({ prompt: sh("sleep 20") });
    const stop = new AbortController();
    plane.intercept = (call) => {
      if (call.path.endsWith("client-events")) stop.abort(new Stop("unreachable", "because"));
      return call.path.endsWith("report-shutdown") ? { status, headers: FINAL } : undefined;
    };
    expect(await execute(plane, stop)).toBe(code);
    expect(logged().includes("error the shutdown could not be reported")).toBe(isLogged);
  });

  it("is reported if its host cannot be prepared", async () => {
    await using plane = await start({ prompt: sh("true") });
    const host = Promise.reject<Host>(new Error("no space for a host"));
    void host.catch(() => undefined);
    expect(await runSession(plane.envelope, host, new AbortController())).toBe(1);
    expect(plane.shutdown).toMatchObject({ error: { message: expect.stringContaining("no space for a host") } });
    expect(logged()).toContain("warn no space for a host");
  });

  it("without an envelope fails, and closes its host", async () => {
    const host = createHost();
    await expect(runSession({}, Promise.resolve(host), new AbortController())).rejects.toThrow(
      "standard input holds no envelope",
    );
    expect(host.isClosed).toBe(true);
  });
});
