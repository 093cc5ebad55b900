import { beforeEach, describe, expect, test } from "vitest";
import { EventPrinter } from "../../cli/src/follow/event-printer.ts";
import { styleFor } from "../../cli/src/style.ts";
import type { Block, RunEvent } from "../../clients/typescript/src/index.ts";

const began = Date.parse("2026-05-18T19:00:00.000Z");
const at = (milliseconds: number): string => new Date(began + milliseconds).toISOString();

describe("the event printer", () => {
  let lines: string[];
  let printer: EventPrinter;

  beforeEach(() => {
    lines = [];
    const style = styleFor({}, false);
    printer = new EventPrinter({ style, print: (line) => lines.push(line), verbose: false, since: began });
  });

  const event = (type: RunEvent["type"], milliseconds: number, data: Record<string, unknown> = {}): RunEvent => ({
    sequence: 1,
    type,
    occurred_at: at(milliseconds),
    data,
  });
  const message = (role: string, block: Block, milliseconds = 1000): RunEvent =>
    event("messages", milliseconds, { messages: [{ role, content: [block] }] });
  const command = (text: string, milliseconds?: number): RunEvent =>
    message(
      "assistant",
      { type: "action", id: "1", category: "command", name: "run_command", input: { command: text } },
      milliseconds,
    );
  const result = (output: unknown, state: "completed" | "failed" = "completed"): RunEvent =>
    message("tool", { type: "action_result", action_id: "1", category: "command", name: "run_command", state, output });

  test("names states and steps with the time since the submission and their durations", () => {
    printer.print(event("run_created", 0, { state: "QUEUED" }));
    printer.print(event("worker_container_ready", 900, { state: "INPROGRESS", duration_ms: 300 }));
    printer.print(event("setup_repo_clone", 1500, { duration_ms: 420, is_error: false }));
    printer.print(event("setup_commands", 1600, { duration_ms: 10, is_error: true, detail: "npm ci" }));
    printer.print(event("run_succeeded", 2000, { state: "SUCCEEDED", message: "Ran it." }));
    expect(lines).toEqual([
      "    0.0 s  QUEUED",
      "    0.9 s  INPROGRESS  sandbox ready  0.3 s",
      "    1.5 s  cloned  0.4 s",
      "    1.6 s  setup  failed  npm ci  0.0 s",
      "    2.0 s  SUCCEEDED  Ran it.",
    ]);
  });

  test("shows the first line of a command", () => {
    printer.print(command("# List the files\n\nls\nls -l", 700));
    printer.print(command("true", 900));
    expect(lines).toEqual(["    0.7 s  $ # List the files … 2 more lines", "    0.9 s  $ true"]);
  });

  test("prints lines of live output once, and then only the rest of the whole output", () => {
    const live = (offset: number, text: string) =>
      printer.printLive({ action_id: "1", stream: "stdout", offset, text });
    printer.print(command("make", 700));
    live(0, "one\ntw");
    live(6, "o\nthr");
    printer.print(result({ exit_code: 0, stdout: "one\ntwo\nthree\nfour\n" }));
    expect(lines).toEqual([
      "    0.7 s  $ make",
      "             one",
      "             two",
      "             three",
      "             four",
      "    1.0 s  exit 0",
    ]);
  });

  test("marks skipped live output, and does not repeat printed lines of truncated output", () => {
    printer.print(command("make", 700));
    printer.printLive({ action_id: "1", stream: "stdout", offset: 9_000, text: "near the end\nthe e" });
    printer.print(result({ exit_code: 0, stdout: "start\n[... 9000 bytes omitted ...]\nnear the end\nthe end\n" }));
    expect(lines).toEqual([
      "    0.7 s  $ make",
      "             […]",
      "             near the end",
      "             the end",
      "    1.0 s  exit 0",
    ]);
  });

  test("keeps live output for its command, and repeats a command whose output goes on after another one's", () => {
    const live = (action_id: string, text: string, offset = 0) =>
      printer.printLive({ action_id, stream: "stdout", offset, text });
    const start = (id: string, text: string) =>
      message("assistant", { type: "action", id, category: "command", name: "run_command", input: { command: text } });
    const end = (action_id: string, stdout: string): RunEvent => {
      const output = { exit_code: 0, stdout };
      return message("tool", {
        type: "action_result",
        action_id,
        category: "command",
        name: "run_command",
        state: "completed",
        output,
      });
    };
    live("b", "early\n");
    printer.print(start("a", "make"));
    live("a", "one\n");
    printer.print(start("b", "lint"));
    live("a", "two\n", 4);
    printer.print(end("a", "one\ntwo\n"));
    printer.print(end("b", "early\nlate\n"));
    live("b", "late\n", 6);
    expect(lines).toEqual([
      "    1.0 s  $ make",
      "             one",
      "    1.0 s  $ lint",
      "             early",
      "             $ make",
      "             two",
      "    1.0 s  exit 0",
      "             $ lint",
      "             late",
      "    1.0 s  exit 0",
    ]);
  });

  test("keeps no more than the last 500 pieces of live output for a command that is not shown yet", () => {
    for (let index = 0; index < 501; index += 1)
      printer.printLive({
        action_id: "1",
        stream: "stdout",
        offset: 4 * index,
        text: `${String(index).padStart(3)}\n`,
      });
    printer.print(command("seq", 700));
    expect(lines.slice(0, 3)).toEqual(["    0.7 s  $ seq", "             […]", "               1"]);
    expect(lines).toHaveLength(502);
  });

  test("shows the last lines of the output of a set-up command that failed", () => {
    const detail = 'the setup command "npm ci" ended with exit code 1:\nnpm error code E404\nnpm error 404 Not Found';
    printer.print(event("setup_commands", 1600, { duration_ms: 10, is_error: true, detail }));
    expect(lines).toEqual([
      '    1.6 s  setup  failed  the setup command "npm ci" ended with exit code 1:  0.0 s',
      "             npm error code E404",
      "             npm error 404 Not Found",
    ]);
  });

  test("shows what a set-up command prints while it runs, and then only the rest", () => {
    const setup = { action_id: "s", detail: "npm ci", step: "setup_commands" };
    printer.print(event("setup_started", 1000, setup));
    printer.printLive({ action_id: "s", stream: "stdout", offset: 0, text: "added 1 package\nadded 2" });
    printer.print(
      event("setup_commands", 4000, {
        ...{ action_id: "s", duration_ms: 3000, is_error: false, detail: "npm ci\nadded 2 packages" },
        output: "added 1 package\nadded 2 packages\n",
      }),
    );
    expect(lines).toEqual([
      "    1.0 s  setup …  npm ci",
      "             added 1 package",
      "             added 2 packages",
      "    4.0 s  setup  npm ci  3.0 s",
    ]);
  });

  test("shows what a set-up command printed that succeeded at once", () => {
    const data = { action_id: "s", duration_ms: 10, is_error: false, detail: "make\nbuilt", output: "built\n" };
    printer.print(event("setup_commands", 1600, data));
    expect(lines).toEqual(["    1.6 s  setup  make  0.0 s", "             built"]);
  });

  test("prints the model's text while it is written, and then only the rest", () => {
    printer.printLive({ message_id: "m", stream: "text", offset: 0, text: "I will look.\nFir" });
    printer.print(message("assistant", { type: "text", text: "I will look.\nFirst the test.", message_id: "m" }));
    expect(lines).toEqual(["             I will look.", "    1.0 s  First the test."]);
  });

  test("shows exit codes with the first and last lines of an output", () => {
    printer.print(result({ exit_code: 0, stdout: "1\n2\n\n3\n4\n5\n6\n7\n" }));
    printer.print(result({ exit_code: 3, stdout: "no such thing" }, "failed"));
    printer.print(result("plain", "completed"));
    const shown = lines.map((line) => line.trim());
    expect(shown).toEqual([
      "1",
      "2",
      "3",
      "… 3 more lines",
      "7",
      "1.0 s  exit 0",
      "no such thing",
      "1.0 s  exit 3",
      "plain",
      "1.0 s  completed",
    ]);
  });

  const edit = { category: "files", name: "edit_files", title: "Edit calc.py" } as const;
  const edited = {
    ...edit,
    type: "action_result",
    action_id: "2",
    state: "completed",
    summary: "+1 −1",
    diff: "--- a/calc.py\n+++ b/calc.py\n@@ -1 +1 @@\n-a\n+b\n",
    output: { files: [{ path: "calc.py", done: "changed" }] },
  } as const;
  const editing: Block = { ...edit, type: "action", id: "2", input: { edits: ["…"] } };
  const both = event("messages", 1000, {
    messages: [
      { role: "assistant", content: [editing] },
      { role: "tool", content: [edited] },
    ],
  });

  test.each([
    [24, 24, []],
    [25, 24, ["… 1 more lines"]],
    [40, 24, ["… 16 more lines"]],
  ])("shows a diff of %i lines up to its first %i", (count, shown, note) => {
    const added = Array.from({ length: count - 1 }, (_, index) => `+${index}`);
    const diff = `--- a/calc.py\n+++ b/calc.py\n@@ -0,0 +1 @@\n${added.join("\n")}\n`;
    printer.print(message("tool", { ...edited, diff }));
    const [, ...below] = lines.map((line) => line.trim());
    expect(below).toEqual(["@@ -0,0 +1 @@", ...added.slice(0, shown - 1), ...note]);
  });

  test("shows an action with its result in one line, and the diff below", () => {
    printer.print(both);
    const [headline, ...diff] = lines;
    expect(headline).toBe("    1.0 s  • Edit calc.py  +1 −1");
    expect(diff.map((line) => line.trim())).toEqual(["@@ -1 +1 @@", "-a", "+b"]);
  });

  test("shows the result of an earlier action with its title", () => {
    const { diff: _, ...failed } = edited;
    printer.print(message("assistant", editing));
    printer.print(message("tool", { ...failed, state: "failed", summary: "calc.py: permission denied" }));
    expect(lines).toEqual(["    1.0 s  • Edit calc.py", "    1.0 s  Edit calc.py  calc.py: permission denied"]);
  });

  test("shows inputs and outputs whole with verbose, with their blank lines", () => {
    const style = styleFor({}, false);
    const whole = new EventPrinter({ style, print: (line) => lines.push(line), verbose: true, since: began });
    whole.print(command("cat <<E\n\nx\nE"));
    whole.print(result({ exit_code: 0, stdout: "a\n\nb\n\n" }));
    whole.print(both);
    const shown = lines.map((line) => line.replace(/^ {4}1\.0 s {2}|^ {13}/, ""));
    expect(shown).toEqual(
      expect.arrayContaining(["$ cat <<E", "", "x", "E", "a", "b", "--- a/calc.py", '  "edits": [']),
    );
    expect(shown.filter((line) => line === "")).toHaveLength(3);
  });

  test("shows why a model call failed, when it is retried, and what the run waits for", () => {
    printer.print(event("run_waiting", 0, { position: 3, detail: "waiting for capacity, position 3 in the queue" }));
    printer.printWaiting(3);
    printer.printWaiting(2);
    printer.print(event("setup_started", 0, { step: "setup_repo_clone", detail: "https://github.com/acme/shop" }));
    printer.print(event("model_retry", 0, { attempt: 1, of: 10, reason: "status 503: down", next_in_ms: 500 }));
    expect(lines).toEqual([
      "    0.0 s  waiting for capacity, position 3 in the queue",
      "             waiting for capacity, position 2 in the queue",
      "    0.0 s  cloning …  https://github.com/acme/shop",
      "    0.0 s  model failed  attempt 1 of 10, next in 0.5 s: status 503: down",
    ]);
  });

  test("shows times that never decrease, regardless of the sandbox's clock", () => {
    const said = (timestamp: string): RunEvent =>
      event("messages", 3000, { messages: [{ role: "assistant", content: [{ type: "text", text: "x" }], timestamp }] });
    printer.print(event("agent_started", 2000));
    for (const timestamp of [at(-3_600_000), at(3_600_000), at(2500)]) printer.print(said(timestamp));
    expect(lines.map((line) => line.slice(4, 9))).toEqual(["2.0 s", "2.0 s", "3.0 s", "3.0 s"]);
  });

  test("keeps a run's text from controlling the terminal", () => {
    printer.print(result({ exit_code: 0, stdout: "\u001b]0;title\u0007a\u009b2Jb\rc\u0008d" }));
    expect(lines[0]?.trim()).toBe("abcd");
  });

  test("truncates long lines, and shows the agent's messages but not its prompt", () => {
    printer.print(message("assistant", { type: "text", text: "x".repeat(500) }));
    printer.print(message("user", { type: "text", text: "the prompt" }));
    expect(lines).toHaveLength(1);
    expect(lines[0]?.length).toBeLessThan(130);
  });

  test("ignores unknown events", () => {
    printer.print(event("messages", 0, { messages: [{ role: "robot" }] }));
    printer.print(event("agent_started", 0, { duration_ms: "long" }));
    expect(lines).toEqual(["    0.0 s  agent started"]);
  });
});
