import { beforeEach, describe, expect, test } from "vitest";
import { EventPrinter } from "../../cli/src/follow/event-printer.ts";
import { styleFor } from "../../cli/src/style.ts";
import type { Block, RunEvent } from "../../clients/typescript/src/index.ts";

const began = Date.parse("2026-05-18T19:00:00.000Z");
const at = (milliseconds: number): string => new Date(began + milliseconds).toISOString();

describe("following a run", () => {
  let lines: string[];
  let printer: EventPrinter;

  beforeEach(() => {
    lines = [];
    const style = styleFor({ env: {}, outIsTerminal: false });
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
      "    0.9 s  INPROGRESS  worker container ready  0.3 s",
      "    1.5 s  setup repo clone  0.4 s",
      "    1.6 s  setup commands  0.0 s  npm ci  failed",
      "    2.0 s  SUCCEEDED  Ran it.",
    ]);
  });

  test("shows a command by its first line", () => {
    printer.print(command("# List the files\n\nls\nls -l", 700));
    printer.print(command("true", 900));
    expect(lines).toEqual(["    0.7 s  $ # List the files … 2 more lines", "    0.9 s  $ true"]);
  });

  test("shows exit codes with the first and last lines of an output", () => {
    printer.print(result({ exit_code: 0, stdout: "1\n2\n\n3\n4\n5\n6\n7\n" }));
    printer.print(result({ exit_code: 3, stdout: "no such thing" }, "failed"));
    printer.print(result("plain", "completed"));
    const [, ...shown] = lines.map((line) => line.trim());
    expect(lines[0]).toBe("    1.0 s  exit 0");
    expect(shown).toEqual([
      "1",
      "2",
      "3",
      "… 3 more lines",
      "7",
      "1.0 s  exit 3",
      "no such thing",
      "1.0 s  completed",
      "plain",
    ]);
  });

  test("lets nothing that a run says reach the terminal's controls", () => {
    printer.print(result({ exit_code: 0, stdout: "\u001b]0;title\u0007a\u009b2Jb\rc\u0008d" }));
    expect(lines[1]?.trim()).toBe("]0;titlea2Jbcd");
  });

  test("cuts long lines, and shows what the agent says but not its prompt", () => {
    printer.print(message("assistant", { type: "text", text: "x".repeat(500) }));
    printer.print(message("user", { type: "text", text: "the prompt" }));
    expect(lines).toHaveLength(1);
    expect(lines[0]?.length).toBeLessThan(130);
  });

  test("passes over what it does not understand", () => {
    printer.print(event("messages", 0, { messages: [{ role: "robot" }] }));
    printer.print(event("agent_started", 0, { duration_ms: "long" }));
    expect(lines).toEqual(["    0.0 s  agent started"]);
  });
});
