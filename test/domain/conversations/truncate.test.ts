import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { truncateConversation, truncateMessages, truncateSteps, truncateText } from "#shared/conversations/truncate.ts";
import { shownArtifacts } from "#shared/runs/run-item.ts";
import type { Message, Step } from "#shared/wire/conversation.ts";

const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;
const countBytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

/** A few texts of every size, so that creating them is cheap. */
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

describe("a truncated conversation", () => {
  // @contract general.responses.4mib
  it("has at most 4 MiB, keeps the order, and marks missing parts", () => {
    fc.assert(
      fc.property(steps, (given) => {
        const shown = truncateConversation({ conversation_id: "c", steps: given });
        expect(countBytes(shown)).toBeLessThanOrEqual(MAX_RESPONSE_BYTES);
        const ids = shown.steps.map(({ id }) => id).filter((id) => id !== "c:left-out");
        expect(given.map(({ id }) => id).slice(given.length - ids.length)).toEqual(ids);
        if (JSON.stringify(shown.steps) !== JSON.stringify(given))
          expect(JSON.stringify(shown)).toContain("transcript");
      }),
      { numRuns: 40 },
    );
  });

  it("in pages omits no message, unless a step is too long by itself", () => {
    fc.assert(
      fc.property(steps, (given) => {
        const shown: Step[] = [];
        for (let rest = given; rest.length > 0; ) {
          const page = truncateSteps(rest);
          expect(page).toEqual(rest.slice(0, Math.max(1, page.length)));
          const response = truncateConversation({ conversation_id: "c", steps: page });
          expect(countBytes(response)).toBeLessThanOrEqual(MAX_RESPONSE_BYTES);
          const isWhole = response.steps.every(
            ({ messages }, index) => messages.length === page[index]?.messages.length,
          );
          expect(isWhole || page.length === 1).toBe(true);
          shown.push(...response.steps.filter(({ id }) => id !== "c:left-out"));
          rest = rest.slice(page.length);
        }
        expect(shown.map(({ id }) => id)).toEqual(given.map(({ id }) => id));
      }),
      { numRuns: 40 },
    );
  });

  it("is unchanged if it fits", () => {
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
        expect(truncateConversation(conversation)).toEqual(conversation);
        expect(truncateMessages(messages)).toEqual(messages);
      }),
    );
  });

  it("for a new execution keeps the user's last message whole", () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 60 }), (given) => {
        const shown = truncateMessages(given);
        expect(countBytes(shown)).toBeLessThanOrEqual(MAX_RESPONSE_BYTES);
        const prompt = given.findLast(({ role }) => role === "user");
        if (prompt !== undefined && countBytes(prompt) < MAX_RESPONSE_BYTES / 2) expect(shown).toContainEqual(prompt);
      }),
      { numRuns: 40 },
    );
  });
});

describe("messages with a summary", () => {
  it("keep it, the user's requests and what follows it whole, and shorten what it covers", () => {
    const output = (size: number) => ({
      type: "action_result" as const,
      ...action,
      state: "completed" as const,
      output: "o".repeat(size),
    });
    const covered: Message = { role: "tool", content: [output(9_000)] };
    const request: Message = { role: "user", content: [{ type: "text", text: "r".repeat(9_000) }] };
    const later: Message = { role: "tool", content: [output(9_000)] };
    const data = { summary: "s".repeat(9_000), kept_messages: 1, files: [] };
    const event: Message = { role: "system", content: [{ type: "event", name: "conversation_compacted", data }] };
    const [shortened, ...rest] = truncateMessages([covered, request, later, event, later]);
    expect(countBytes(shortened)).toBeLessThan(1_000);
    expect(rest).toEqual([request, later, event, later]);
    const many = Array.from({ length: 600 }, () => later);
    expect(truncateMessages([...Array.from({ length: 9 }, () => covered), event, ...many])).toContainEqual(event);
  });
});

describe("a response about a run", () => {
  it("fits its final message and artifacts, however many and long they are", () => {
    const wide = "\u0001".repeat(255);
    const data = { artifact_uid: "a", filepath: wide.repeat(4), filename: wide, mime_type: "a/b", description: wide };
    const artifacts = Array.from({ length: 1_000 }, () => ({
      artifact_type: "FILE" as const,
      created_at: "2026-05-18T19:00:00.000Z",
      data,
    }));
    const body = { text: truncateText("\u0001".repeat(4_000_000)), artifacts: shownArtifacts(artifacts) };
    expect(countBytes(body)).toBeLessThanOrEqual(MAX_RESPONSE_BYTES);
    expect(body.artifacts.length).toBeGreaterThan(100);
    expect(body.text).toContain("transcript");
    expect(truncateText("done")).toBe("done");
    expect(shownArtifacts(artifacts.slice(0, 20))).toHaveLength(20);
  });
});
