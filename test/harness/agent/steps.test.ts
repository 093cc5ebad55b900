import { describe, expect, it } from "vitest";
import { createDiff, createSnippetDiff, formatHunks } from "#harness/steps/diff.ts";
import { describeEnd } from "#harness/steps/step-summary.ts";
import { formatTitle } from "#harness/steps/step-title.ts";
import { FakeControlPlane } from "../../../lab/fake-control-plane.ts";
import { runHarness } from "../support/run-harness.ts";

describe("a long setup", () => {
  it("is reported when it starts", async () => {
    const context = { setup_commands: ["sleep 2"] };
    await using plane = await FakeControlPlane.start({ prompt: "```sh\ntrue\n```", context });
    await runHarness(plane);
    const [started] = plane.started;
    expect(started).toMatchObject({ payload: { step: "setup_commands", detail: "sleep 2" } });
    expect(plane.events[0]?.payload?.action_id).toBe(started?.payload?.action_id);
    expect(plane.events.map(({ event_name }) => event_name)).toEqual(["setup_commands", "agent_started"]);
    expect(plane.events.at(-1)?.payload?.isolation).toMatch(/^(bubblewrap|machine|none)$/);
  });
});

describe("a setup command", () => {
  it("is kept with its output when it succeeds", async () => {
    const context = { setup_commands: ["printf 'one\\ntwo\\n'", "cd /\npwd\nfalse || true"] };
    await using plane = await FakeControlPlane.start({ prompt: "```sh\ntrue\n```", context });
    await runHarness(plane);
    const [first, second] = plane.events.map(({ payload }) => payload);
    expect(first).toMatchObject({ is_error: false, output: "one\ntwo\n", action_id: expect.any(String) });
    expect(second).toMatchObject({ is_error: false, output: "/\n" });
  });

  it.each([
    [
      "cd /\nset -e\necho before\nls /none 2> /dev/null\necho after",
      'line 4 of a setup command, "ls /none 2> /dev/null",',
      "before",
    ],
    ["echo 1\n# two\nif true; then\n  false\nfi", 'line 4 of a setup command, "false",', "1"],
    ["echo 1\nexit 3", 'the setup command "echo 1\nexit 3"', "1"],
  ])("of several lines names the one that failed: %j", async (script, named, output) => {
    await using plane = await FakeControlPlane.start({
      prompt: "```sh\ntrue\n```",
      context: { setup_commands: [script] },
    });
    await runHarness(plane);
    const code = script.endsWith("exit 3") ? 3 : script.includes("ls /none") ? 2 : 1;
    expect(plane.outcome?.summary).toBe(`${named} ended with exit code ${code}:\n${output}`);
    expect(plane.events[0]?.payload?.output?.trim()).toBe(output);
  });
});

describe("the title of a step", () => {
  it.each([
    ["run_command", { command: "# Install\n\nnpm ci\nnpm test" }, "npm ci"],
    ["run_command", { command: "npm start", background: true }, "npm start (background)"],
    ["read_command", { command_id: "background-1" }, "Read the output of background-1"],
    ["read_command", { command_id: "background-1", wait_for: "ready" }, 'Wait for "ready" of background-1'],
    [
      "read_command",
      { command_id: "background-1", wait_for: "up", port: 80 },
      'Wait for "up" and port 80 of background-1',
    ],
    ["write_command", { command_id: "background-1", text: "y" }, "Send input to background-1"],
    ["stop_command", { command_id: "background-1" }, "Stop background-1"],
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
    ["run_command", { command: "  # only\n\n#comments" }, "# only"],
    ["run_command", { command: "x\r\ny" }, "x"],
    ["read_files", { files: [{ path: "a" }, { path: "b" }, { path: "c" }] }, "Read 3 files: a, b, c"],
    ["read_files", { files: ["a", "b", "c", "d"].map((path) => ({ path })) }, "Read 4 files: a, b, c, …"],
    ["read_files", { files: [{ start_line: 3 }] }, "Read ? 3–"],
    ["read_files", { files: [{ path: "a", end_line: 3 }] }, "Read a 1–3"],
    ["read_files", { absolute_path: "/a", limit: 5 }, "Read /a 1–5"],
    ["read_files", { dir_path: "/d", offset: 5 }, "Read /d 5–"],
    ["read_files", { path: "/p" }, "Read /p"],
    ["read_files", { paths: ["a", 7] }, "Read 2 files: a, 7"],
    ["read_files", { path: " " }, 'read_files(path: " ")'],
    [
      "edit_files",
      {
        edits: [
          { path: "a", action: "write" },
          { path: "a", action: "delete" },
        ],
      },
      "Edit a",
    ],
    ["edit_files", { edits: [{ path: "a", action: "write" }], changes: [{ kind: "add" }] }, "Write 2 files: a, ?"],
    ["edit_files", { notebook_path: "n.ipynb", old_string: "x" }, "Edit n.ipynb"],
    ["edit_files", { edits: [] }, "edit_files(edits: [])"],
    ["search_files", { query: "x", dir_path: "lib", include: "*.ts" }, 'Search "x" in lib (*.ts)'],
    ["search_files", { pattern: "x", glob: "*.md" }, 'Search "x" (*.md)'],
    ["search_files", { path: "src" }, 'search_files(path: "src")'],
    ["load_skill", { id: "o/r:review" }, "Load skill o/r:review"],
    ["Skill", { skill: "review" }, "Load skill review"],
    ["Skill", { command: "review" }, "Load skill review"],
    ["activate_skill", { name: "review" }, "Load skill review"],
    ["activate_skill", { skill: "review" }, "Load skill review"],
    ["start_agent", { prompt: "\n First line \nsecond" }, 'Start agent "First line"'],
    ["start_agent", {}, "start_agent()"],
    ["wait_for_agents", { run_ids: ["a", "b"] }, "Wait for 2 agents"],
    ["wait_for_agents", { run_ids: ["a"] }, "Wait for 1 agent"],
    ["message_agent", { run_id: "r1", message: "x" }, "Message agent r1"],
    ["Task", { description: "Look", prompt: "Long" }, 'Start subagent "Look"'],
    ["Agent", { prompt: "Look" }, 'Start subagent "Look"'],
    ["create_plan", { title: "Ship it", todos: [{}] }, 'Plan "Ship it"'],
    ["create_plan", { items: [{}, {}] }, "Update the to-do list (2 items)"],
    ["create_plan", { plan: "# Plan" }, "Present a plan"],
    ["create_plan", {}, "create_plan()"],
    ["ask_user", { question: "Which one?" }, "Ask: Which one?"],
    ["notify_user", { message: "Half done." }, "Notify: Half done."],
    ["report_artifact", { path: "a.png", title: "A" }, "Report artifact a.png"],
    ["report_artifact", { url: "https://x.test/" }, "Report artifact https://x.test/"],
    ["create_pull_request", { title: "Fix it" }, 'Open pull request "Fix it"'],
    ["call_mcp_tool", { tool: "ping" }, "ping()"],
    ["call_mcp_tool", { server: "box" }, "List tools of box"],
    ["call_mcp_tool", {}, "call_mcp_tool()"],
    ["WebFetch", { url: "https://x.test/", prompt: "p" }, "Fetch https://x.test/"],
    ["web_fetch", { prompt: "https://x.test/ p" }, "Fetch https://x.test/ p"],
    ["WebSearch", { query: "cats" }, 'Search the web for "cats"'],
    ["web_search", { query: "cats" }, 'Search the web for "cats"'],
    ["google_web_search", { query: "cats" }, 'Search the web for "cats"'],
    ["Monitor", { a: [1, { b: null }], c: undefined, d: true }, 'Monitor(a: [1,{"b":null}], c: null, d: true)'],
    ["Monitor", { a: "x".repeat(300) }, `Monitor(a: "${"x".repeat(58)}…)`],
    [
      "Monitor",
      { a: "x".repeat(57), b: "y".repeat(57), c: 1 },
      `Monitor(a: "${"x".repeat(57)}", b: "${"y".repeat(51)}…)`,
    ],
    ["Monitor", ["a"], "Monitor()"],
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
    expect(formatTitle("run_command", { command: "x".repeat(200) })).toBe("x".repeat(200));
    expect(formatTitle("run_command", { command: "x".repeat(201) })).toBe(`${"x".repeat(199)}…`);
    expect(formatTitle("run_command", { command: `${"x".repeat(198)} yy` })).toBe(`${"x".repeat(198)}…`);
    expect(formatTitle("run_command", { command: `${"x".repeat(198)}😀x` }).isWellFormed()).toBe(true);
    expect(formatTitle("run_command", { command: "a  \u2028\u2029  b" })).toBe("a b");
  });
});

describe("the summary of a step", () => {
  const file = (members: object) => ({ files: [{ path: "a", ...members }] });

  it.each([
    ["run_command", "completed", { exit_code: 0, duration_ms: 1_234 }, "exit 0 · 1.2 s"],
    ["run_command", "failed", { exit_code: 124, timed_out: true, duration_ms: 600_000 }, "timed out · 600.0 s"],
    ["run_command", "failed", { interrupted: true }, "interrupted"],
    [
      "run_command",
      "completed",
      { command_id: "background-1", state: "running", ports: [80, 81] },
      "background-1 running · port 80, 81",
    ],
    [
      "read_command",
      "failed",
      { command_id: "background-1", state: "running", matched: false, waiting_for_input: true },
      "background-1 running · not seen · waits for input",
    ],
    [
      "stop_command",
      "completed",
      { command_id: "background-1", state: "ended", exit_code: 137, reason: "it was stopped" },
      "background-1 ended · exit 137 · it was stopped",
    ],
    ["read_command", "failed", { error: "there is no background command x" }, "there is no background command x"],
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
    ["run_command", "failed", { exceeded: "too much", timed_out: true, duration_ms: 50 }, "ended: too much · 0.1 s"],
    ["run_command", "failed", { signal: "SIGKILL", exit_code: 137 }, "ended by SIGKILL"],
    ["run_command", "failed", { exit_code: 3 }, "exit 3"],
    ["run_command", "failed", { timed_out: 1, exit_code: "3", error: "\n no shell\nx" }, "failed: no shell"],
    ["run_command", "denied", { stdout: "not now" }, "denied: not now"],
    ["run_command", "failed", { output: "out" }, "failed: out"],
    ["run_command", "failed", "no object", "failed:"],
    ["read_files", "failed", { error: { error: "first\nsecond" } }, "first"],
    ["read_files", "failed", { result: { message: "why" } }, "why"],
    [
      "read_files",
      "failed",
      { files: [{ error: "gone" }, { path: "b" }, { path: "c", error: "big" }] },
      "?: gone; c: big",
    ],
    ["Grep", "failed", { text: "\nline\nnext" }, "line"],
    ["Grep", "failed", { stdout: "out" }, "out"],
    ["Grep", "failed", { output: "out" }, "out"],
    ["Grep", "failed", {}, "failed"],
    ["read_files", "completed", { stdout: "a\nb" }, "2 lines"],
    ["read_files", "completed", file({ directory: true, count: 1 }), "1 entry"],
    ["read_files", "completed", file({ directory: true }), "0 entries"],
    ["read_files", "completed", file({ binary: true, size_bytes: 7 }), "binary, 7 bytes"],
    ["read_files", "completed", file({ binary: true }), "binary, 0 bytes"],
    ["read_files", "completed", file({ image: "PNG", size_bytes: 70 }), "PNG, 70 bytes"],
    ["read_files", "completed", file({ lines: 1 }), "1 line"],
    ["read_files", "completed", file({ start_line: 1, end_line: 8, lines: 9 }), "lines 1–8 of 9"],
    ["read_files", "completed", file({ start_line: 2, end_line: 10, lines: 9 }), "lines 2–10 of 9"],
    [
      "read_files",
      "completed",
      { files: [{ start_line: 3, end_line: 5 }, { binary: true }, { start_line: 1, end_line: 1 }] },
      "4 lines",
    ],
    ["edit_files", "completed", { files: [{ done: "deleted" }, { done: "deleted" }] }, "deleted"],
    ["search_files", "completed", { stdout: "a\nb\n" }, "2 lines"],
    ["search_files", "completed", { matches: ["a", "b"] }, "2 matches"],
    ["search_files", "completed", { matches: ["a", "b"], cut: true }, "more than 2 matches"],
    [
      "wait_for_agents",
      "completed",
      { agents: [{ run_id: "a", state: "FINISHED", message: "Done." }, { error: "gone" }] },
      "→ run a FINISHED: Done.; → run ? gone",
    ],
    ["start_agent", "completed", { run_id: "r", error: "gone", message: "no" }, "→ run r gone"],
    ["start_agent", "completed", {}, "→ run ?"],
    ["create_pull_request", "completed", { url: "https://x.test/1" }, "https://x.test/1"],
    ["call_mcp_tool", "completed", { text: "\nfirst\nsecond" }, "first"],
    ["call_mcp_tool", "completed", { stdout: "out" }, "out"],
  ] as const)("describes %s that %s with %j as %s", (name, state, output, summary) => {
    expect(describeEnd(name, state, output, undefined)).toEqual({ summary });
  });

  it.each([
    ["notify_user", { told: true }],
    ["run_command", {}],
    ["run_command", { duration_ms: Number.NaN, exit_code: Number.POSITIVE_INFINITY }],
    ["read_files", { files: "none" }],
    ["edit_files", { files: [{ done: "changed" }] }],
    ["edit_files", { files: [{ done: "created" }, { done: "deleted" }] }],
    ["search_files", {}],
    ["report_artifact", { artifact_uid: "art-1" }],
    ["call_mcp_tool", {}],
    ["call_mcp_tool", []],
  ])("is absent for %s with %j", (name, output) => {
    expect(describeEnd(name, "completed", output, undefined)).toEqual({});
  });

  it("begins with the numbers of a diff's lines, and is short", () => {
    const diff = { text: "--- a", added: 2, removed: 0 };
    const created = { files: [{ done: "created" }] };
    expect(describeEnd("edit_files", "completed", created, diff)).toEqual({
      summary: "+2 −0 · created",
      diff: "--- a",
    });
    expect(describeEnd("edit_files", "completed", {}, diff)).toEqual({ summary: "+2 −0", diff: "--- a" });
    const error = `${"\u0007".repeat(1_600)}not read`;
    expect(describeEnd("Bash", "failed", { error }, undefined)).toEqual({});
    const { summary } = describeEnd("Bash", "failed", { error: "x".repeat(401) }, undefined);
    expect(summary).toBe(`${"x".repeat(399)}…`);
    expect(describeEnd("Bash", "failed", { error: "x".repeat(400) }, undefined).summary).toBe("x".repeat(400));
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

  it("names created and deleted files, keeps three lines around a change, and moves its line numbers", () => {
    const lines = Array.from({ length: 20 }, (_, index) => `${index + 1}\n`);
    const after = lines.with(9, "ten\n").join("");
    const changes = [
      { path: "a", startLine: 101, before: lines.join(""), after },
      { path: "same", startLine: 1, before: "x\n", after: "x\n" },
      { path: "new", startLine: 1, before: undefined, after: "x\n" },
      { path: "old", startLine: 1, before: "x\n", after: undefined },
    ];
    expect(createDiff(changes)).toEqual({
      text:
        "--- a/a\n+++ b/a\n@@ -107,7 +107,7 @@\n 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13\n" +
        "--- /dev/null\n+++ b/new\n@@ -0,0 +1,1 @@\n+x\n--- a/old\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x\n",
      added: 2,
      removed: 2,
    });
  });

  it("has no line numbers if the position in the file is unknown", () => {
    expect(createSnippetDiff("a", "x\ny\n", "x\nz\n")).toEqual({
      text: "--- a/a\n+++ b/a\n@@\n x\n-y\n+z\n",
      added: 1,
      removed: 1,
    });
    const marked = createSnippetDiff("a", "@@ 1 @@\nx\n", "@@ 1 @@\n");
    expect(marked?.text).toBe("--- a/a\n+++ b/a\n@@\n @@ 1 @@\n-x\n");
    expect(createSnippetDiff("a", "x", "x")).toBeUndefined();
  });

  it("is made of hunks that are known", () => {
    const hunk = { oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, lines: ["-x", "+y"] };
    expect(formatHunks("a", [hunk])).toEqual({
      text: "--- a/a\n+++ b/a\n@@ -1,1 +1,1 @@\n-x\n+y\n",
      added: 1,
      removed: 1,
    });
    expect(formatHunks("a", [])).toBeUndefined();
  });

  it("is absent if nothing changed, and truncated if it is long", () => {
    expect(createDiff([{ path: "a", startLine: 1, before: "a\n", after: "a\n" }])).toBeUndefined();
    const long = createDiff([{ path: "a", startLine: 1, before: undefined, after: "line\n".repeat(20_000) }]);
    expect(long?.added).toBe(20_000);
    expect(long?.text).toMatch(/^--- \/dev\/null\n[\s\S]*truncated \.\.\.\]\n$/);
    expect(long?.text.length).toBeLessThan(50_000);
  });
});
