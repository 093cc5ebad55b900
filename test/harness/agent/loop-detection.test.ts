import { describe, expect, it } from "vitest";
import { LoopDetector, repeatsItself } from "#harness/agent/loop-detection.ts";
import type { Message } from "#shared/wire/conversation.ts";

const use = (name: string, input: object = {}, output: object = { exit_code: 1 }) => ({ name, input, output });

/** The positions, from 1, of the uses at which the agent is told and at which the turn ends. */
function watch(uses: readonly ReturnType<typeof use>[]) {
  const detector = new LoopDetector();
  const found = uses.map((one) => detector.observe(one)?.ends);
  return { told: found.indexOf(false) + 1, ended: found.indexOf(true) + 1 };
}
const times = (count: number, make: (index: number) => ReturnType<typeof use>) =>
  Array.from({ length: count }, (_, index) => make(index));

describe("LoopDetector", () => {
  it("notices the same use with the same result, whatever its time limit and duration", () => {
    const same = times(9, (index) =>
      use("run_command", { command: "make", timeout_seconds: index }, { stdout: "x", duration_ms: index }),
    );
    expect(watch(same)).toEqual({ told: 4, ended: 8 });
  });

  it("notices two or three uses that alternate", () => {
    expect(watch(times(20, (index) => use("read", { file: index % 2 })))).toEqual({ told: 8, ended: 16 });
    expect(watch(times(30, (index) => use("read", { file: index % 3 })))).toEqual({ told: 12, ended: 24 });
  });

  it("lets uses repeat whose results or inputs differ, and those that wait for others", () => {
    expect(watch(times(30, (index) => use("run_command", { command: "date" }, { stdout: index })))).toEqual({
      told: 0,
      ended: 0,
    });
    expect(watch(times(30, (index) => use("read", { file: index })))).toEqual({ told: 0, ended: 0 });
    expect(watch(times(30, () => use("wait_for_agents")))).toEqual({ told: 0, ended: 0 });
  });

  it("ignores repetitions of a command that sleeps, because it waits for something slow", () => {
    const look = (command: string, duration_ms: number) =>
      watch(times(30, () => use("run_command", { command }, { exit_code: 0, stdout: "in_progress", duration_ms })));
    expect(look("sleep 60; gh run view 7", 60_500)).toEqual({ told: 0, ended: 0 });
    expect(look("sleep 1; gh run view 7", 1_500), "not long enough for a change").toEqual({ told: 4, ended: 8 });
    expect(look("make test", 60_500), "slow without waiting").toEqual({ told: 4, ended: 8 });
  });

  it("notices the same error of a tool, whatever its input", () => {
    const failed = (index: number, stdout: string) => ({
      ...use("run_command", { command: `make part-${"x".repeat(index)}` }, { exit_code: 2, stdout }),
      isError: true,
    });
    expect(watch(times(20, (index) => failed(index, "make: no rule")))).toEqual({ told: 8, ended: 16 });
    expect(watch(times(20, (index) => failed(index, ""))), "such as a search without matches").toEqual({
      told: 0,
      ended: 0,
    });
    expect(watch(times(20, (index) => failed(index, `no rule ${index}`)))).toEqual({ told: 0, ended: 0 });
  });

  it("notices the same output of inputs that differ in numbers alone", () => {
    const command = (input: string, stdout: string) => use("run_command", { command: input }, { exit_code: 0, stdout });
    expect(watch(times(20, (index) => command(`echo noop # ${index}`, "noop")))).toEqual({ told: 8, ended: 16 });
    expect(watch(times(20, (index) => command(`mkdir part-${index}`, "")))).toEqual({ told: 0, ended: 0 });
    expect(watch(times(20, (index) => command(`cat part-${"x".repeat(index)}`, "same")))).toEqual({
      told: 0,
      ended: 0,
    });
  });

  it("begins again after another use", () => {
    const uses = times(12, (index) => use("read", { file: index % 4 === 3 ? `other ${index}` : "same" }));
    expect(watch(uses)).toEqual({ told: 0, ended: 0 });
  });

  it("notices the same text next to different uses", () => {
    const detector = new LoopDetector();
    const found = Array.from(
      { length: 12 },
      (_, index) => detector.observe({ ...use("read", { file: index }), said: "Let me look at the next file." })?.ends,
    );
    expect([found.indexOf(false), found.indexOf(true)]).toEqual([5, 11]);
  });

  it("takes a result whose use precedes the turn, such as that of an approved call", () => {
    const kind = { category: "command" as const, name: "run_command" };
    const result = { type: "action_result", action_id: "a1", ...kind, state: "completed" } as const;
    const messages: Message[] = [
      { role: "tool", content: [{ ...result, output: { exit_code: 0, stdout: "Applied." } }] },
    ];
    expect(new LoopDetector(messages).observe(use("read"))).toBeUndefined();
  });

  it("counts the uses of earlier executions of the turn", () => {
    const kind = { category: "command" as const, name: "run_command" };
    const messages = Array.from({ length: 7 }, (_, index): Message[] => [
      { role: "assistant", content: [{ type: "action", id: `a${index}`, ...kind, input: { command: "make" } }] },
      {
        role: "tool",
        content: [
          { type: "action_result", action_id: `a${index}`, ...kind, state: "failed", output: { exit_code: 1 } },
        ],
      },
    ]).flat();
    const detector = new LoopDetector(messages);
    expect(detector.observe(use("run_command", { command: "make" }))).toEqual({
      ends: true,
      what: "the same use of a tool had the same result 8 times in a row",
    });
  });
});

describe("repeatsItself", () => {
  it("is true for a text that says the same passage many times", () => {
    const passage = "I should check the configuration of the server and then run the tests again to be sure. ";
    expect(repeatsItself(passage.repeat(40))).toBe(true);
    expect(repeatsItself(passage.repeat(3))).toBe(false);
    expect(repeatsItself(Array.from({ length: 400 }, (_, index) => `line ${index}`).join("\n"))).toBe(false);
    expect(repeatsItself("-".repeat(4_000))).toBe(false);
  });
});
