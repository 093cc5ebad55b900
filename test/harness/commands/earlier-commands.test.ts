import { describe, expect, it } from "vitest";
import { describeLostCommands, findEarlierCommands } from "#harness/commands/earlier-commands.ts";
import { createLineMatcher } from "#harness/commands/recent-output.ts";
import type { Message } from "#shared/wire/conversation.ts";

const use = (id: string, name: string, input: object, output: unknown): Message[] => [
  { role: "assistant", content: [{ type: "action", id, category: "command", name, input }] },
  {
    role: "tool",
    content: [{ type: "action_result", action_id: id, category: "command", name, state: "completed", output }],
  },
];
const start = (number: number) =>
  use(
    `${number}`,
    "run_command",
    { command: `serve ${number}\nmore` },
    { command_id: `background-${number}`, state: "running" },
  );

describe("findEarlierCommands", () => {
  it("finds commands whose end the conversation does not show", () => {
    const stopped = use("s", "stop_command", {}, { command_id: "background-1", state: "ended" });
    const found = findEarlierCommands([...start(1), ...start(2), ...stopped, ...use("x", "run_command", {}, "text")]);
    expect(found).toEqual([
      { id: "background-1", number: 1, command: "serve 1\nmore", isOpen: false },
      { id: "background-2", number: 2, command: "serve 2\nmore", isOpen: true },
    ]);
  });

  it("takes no id of another form, and no id that was not started", () => {
    const odd = use("a", "run_command", {}, { command_id: "background-1x", state: "running" });
    const read = use("b", "read_command", {}, { command_id: "background-7", state: "running" });
    expect(findEarlierCommands([...odd, ...read])).toEqual([]);
  });

  it("describes lost commands once", () => {
    const note = describeLostCommands(findEarlierCommands(start(3))) ?? "";
    expect(note).toBe(
      "The background command background-3 (serve 3) ended with the previous execution.\nStart again what you need.",
    );
    const told: Message = { role: "system", content: [{ type: "text", text: note }] };
    expect(describeLostCommands(findEarlierCommands([...start(3), told]))).toBe(undefined);
  });
});

describe("createLineMatcher", () => {
  it.each([
    ["ready", "server ready.", true],
    ["ready", "server is up", false],
    ["on *:* now", "on http:80 now", true],
    ["b*a", "a b", false],
    ["*", "", true],
    ["a.c", "abc", false],
  ])("says of %o whether it is in %o", (wanted, line, isIn) => {
    expect(createLineMatcher(wanted)(line)).toBe(isIn);
  });
});
