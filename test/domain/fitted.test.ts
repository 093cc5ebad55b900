import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fitted, fittedMessages } from "#shared/runs/fitted.ts";
import type { Message, Step } from "#shared/wire/conversation.ts";

const ANSWER_BYTES = 4 * 1024 * 1024;
const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

/** A few texts of every size, so that making them costs nothing. */
const texts = [0, 1, 200, 5_000, 60_000, 250_000].flatMap((size) =>
  ["x", "é", '"', "\n", "😀"].map((unit) => unit.repeat(Math.ceil(size / Buffer.byteLength(unit)))),
);
const text = fc.constantFrom(...texts);
const action = { action_id: "a", category: "command" as const, name: "run_command" };
const block = fc.oneof(
  text.map((it) => ({ type: "text" as const, text: it })),
  text.map((it) => ({
    type: "action" as const,
    id: "a",
    category: "files" as const,
    name: "edit_files",
    input: { it },
  })),
  fc
    .oneof(
      text,
      fc.array(text, { maxLength: 3 }),
      fc.record({ stdout: text, stderr: text, exit_code: fc.nat() }),
      fc.constant(null),
    )
    .map((output) => ({ type: "action_result" as const, ...action, state: "completed" as const, output })),
  text.map((data) => ({ type: "event" as const, name: "note", data: [data] })),
);
const message: fc.Arbitrary<Message> = fc.record({
  role: fc.constantFrom("user" as const, "assistant" as const, "tool" as const),
  content: fc.array(block, { maxLength: 12 }),
});
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({ id: fc.uuid(), messages: fc.array(message, { minLength: 1, maxLength: 8 }), steps: fc.constant([]) }),
  { maxLength: 12 },
);

describe("a conversation that is cut to fit", () => {
  it("has at most 4 MiB, keeps the order, and says so where it is not whole", () => {
    fc.assert(
      fc.property(steps, (given) => {
        const shown = fitted({ conversation_id: "c", steps: given });
        expect(bytesOf(shown)).toBeLessThanOrEqual(ANSWER_BYTES);
        const ids = shown.steps.map(({ id }) => id).filter((id) => id !== "c:left-out");
        expect(given.map(({ id }) => id).slice(given.length - ids.length)).toEqual(ids);
        if (JSON.stringify(shown.steps) !== JSON.stringify(given))
          expect(JSON.stringify(shown)).toContain("transcript");
      }),
      { numRuns: 40 },
    );
  });

  it("is itself where nothing has to be cut", () => {
    const short: fc.Arbitrary<Message> = fc.record({
      role: fc.constant("user" as const),
      content: fc.string().map((it) => [{ type: "text" as const, text: it }]),
    });
    const small = fc.array(short, { maxLength: 50 });
    fc.assert(
      fc.property(small, (messages) => {
        const conversation = {
          conversation_id: "c",
          steps: messages.map((it, n) => ({ id: `${n}`, messages: [it], steps: [] })),
        };
        expect(fitted(conversation)).toEqual(conversation);
        expect(fittedMessages(messages)).toEqual(messages);
      }),
    );
  });

  it("for a new execution keeps whole what the user said last", () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 60 }), (given) => {
        const shown = fittedMessages(given);
        expect(bytesOf(shown)).toBeLessThanOrEqual(ANSWER_BYTES);
        const asked = given.findLast(({ role }) => role === "user");
        if (asked !== undefined && bytesOf(asked) < ANSWER_BYTES / 2) expect(shown).toContainEqual(asked);
      }),
      { numRuns: 40 },
    );
  });
});
