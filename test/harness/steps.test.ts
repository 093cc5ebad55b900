import { describe, expect, it } from "vitest";
import { createDiff } from "#harness/steps/diff.ts";
import { describeEnd } from "#harness/steps/step-summary.ts";
import { formatTitle } from "#harness/steps/step-title.ts";
import { FakeControlPlane } from "./support/fake-control-plane.ts";
import { runHarness } from "./support/run-harness.ts";

describe("a long setup", () => {
  it("is reported when it starts", async () => {
    const context = { setup_commands: ["sleep 2"] };
    await using plane = await FakeControlPlane.start({ prompt: "```sh\ntrue\n```", context });
    await runHarness(plane);
    expect(plane.started).toMatchObject([{ payload: { step: "setup_commands", detail: "sleep 2" } }]);
    expect(plane.events.map(({ event_name }) => event_name)).toEqual(["setup_commands", "agent_started"]);
    expect(plane.events.at(-1)?.payload?.isolation).toMatch(/^(bubblewrap|machine|none)$/);
  });
});

describe("the title of a step", () => {
  it.each([
    ["run_command", { command: "# Install\n\nnpm ci\nnpm test" }, "npm ci"],
    ["read_files", { files: [{ path: "calc.py", start_line: 1, end_line: 6 }] }, "Read calc.py 1–6"],
    ["read_files", { files: [{ path: "a" }, { path: "b" }] }, "Read 2 files: a, b"],
    ["read_files", { file_path: "/w/a.ts", offset: 10, limit: 5 }, "Read /w/a.ts 10–14"],
    ["edit_files", { edits: [{ path: "calc.py", action: "replace" }] }, "Edit calc.py"],
    ["edit_files", { edits: [{ path: "new.py", action: "write" }] }, "Write new.py"],
    ["edit_files", { file_path: "a.py", content: "x" }, "Write a.py"],
    ["edit_files", { changes: [{ path: "/a", kind: "delete" }] }, "Delete /a"],
    ["search_files", { pattern: "def add", path: "src" }, 'Search "def add" in src'],
    ["start_agent", { title: "Fix docs", prompt: "Long" }, 'Start agent "Fix docs"'],
    ["create_plan", { todos: [{ content: "a" }] }, "Update the to-do list (1 item)"],
    ["call_mcp_tool", { server: "box", tool: "ping", arguments: { n: 1 } }, "box.ping(n: 1)"],
    ["Monitor", { a: "b" }, 'Monitor(a: "b")'],
    ["Monitor", "no object", "Monitor()"],
    ["run_command", { command: 7 }, "run_command(command: 7)"],
  ])("describes %s %j as %s", (name, input, title) => {
    expect(formatTitle(name, input)).toBe(title);
  });

  it("is one short line whatever the input is", () => {
    const title = formatTitle("run_command", { command: `a\u001b[2Jb\u202e\r${"x".repeat(10_000)}` });
    expect(title).toMatch(/^a \[2Jb x+…$/);
    expect(title.length).toBeLessThanOrEqual(200);
    expect(formatTitle("\u0007", {})).toBe("()");
  });
});

describe("the summary of a step", () => {
  const file = (members: object) => ({ files: [{ path: "a", ...members }] });

  it.each([
    ["run_command", "completed", { exit_code: 0, duration_ms: 1_234 }, "exit 0 · 1.2 s"],
    ["run_command", "failed", { exit_code: 124, timed_out: true, duration_ms: 600_000 }, "timed out · 600.0 s"],
    ["run_command", "failed", { interrupted: true }, "interrupted"],
    ["read_files", "completed", file({ start_line: 2, end_line: 3, lines: 9 }), "lines 2–3 of 9"],
    ["read_files", "completed", file({ start_line: 1, end_line: 9, lines: 9 }), "9 lines"],
    ["read_files", "failed", file({ error: "does not exist" }), "a: does not exist"],
    ["edit_files", "completed", file({ done: "created" }), "created"],
    ["search_files", "completed", { matches: ["a:1:x"] }, "1 match"],
    ["search_files", "completed", { matches: [] }, "no matches"],
    ["start_agent", "completed", { run_id: "r1", state: "QUEUED" }, "→ run r1 QUEUED"],
    ["call_mcp_tool", "failed", { error: "box: no such tool" }, "box: no such tool"],
    ["call_mcp_tool", "failed", { error: { message: "timed out" } }, "timed out"],
    ["Bash", "denied", {}, "denied"],
  ] as const)("describes %s that %s with %j as %s", (name, state, output, summary) => {
    expect(describeEnd(name, state, output, undefined)).toEqual({ summary });
  });

  it("is absent if there is nothing to say", () => {
    expect(describeEnd("notify_user", "completed", { told: true }, undefined)).toEqual({});
  });
});

describe("the diff of a step", () => {
  it("has the lines of the file and the numbers of added and removed lines", () => {
    const change = { path: "calc.py", startLine: 5, before: "a\nb\nc\n", after: "a\nB\nc\nd\n" };
    expect(createDiff([change])).toEqual({
      text: "--- a/calc.py\n+++ b/calc.py\n@@ -5,3 +5,4 @@\n a\n-b\n+B\n c\n+d\n",
      added: 2,
      removed: 1,
    });
  });

  it("is absent if nothing changed, and truncated if it is long", () => {
    expect(createDiff([{ path: "a", startLine: 1, before: "a\n", after: "a\n" }])).toBeUndefined();
    const long = createDiff([{ path: "a", startLine: 1, before: undefined, after: "line\n".repeat(20_000) }]);
    expect(long?.added).toBe(20_000);
    expect(long?.text).toMatch(/^--- \/dev\/null\n[\s\S]*truncated \.\.\.\]\n$/);
    expect(long?.text.length).toBeLessThan(50_000);
  });
});
