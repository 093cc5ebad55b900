import { expect, it } from "vitest";
import { sendReply } from "#harness/session/conversation.ts";
import type { Message } from "#shared/wire/conversation.ts";

const LIMIT = 120 * 1024;

it.each<[string, string, string]>([
  ["leaves one of 120 KiB whole", "a".repeat(LIMIT), "a".repeat(LIMIT)],
  ["truncates a longer one", "a".repeat(LIMIT + 1), "a".repeat(LIMIT)],
  ["truncates between two characters", `a${"é".repeat(LIMIT)}`, `a${"é".repeat(LIMIT / 2 - 1)}`],
  ["replaces characters that cannot be stored", "a\0\ud800", "a\ufffd\ufffd"],
])("the text of a response: %s", (_, text, sent) => {
  const messages: Message[] = [];
  const outbox = {
    message: (message: Message) => void messages.push(message),
    event: () => {},
    flush: async () => {},
    takeUnsent: async () => undefined,
  };
  sendReply(outbox, text);
  expect(messages).toEqual([{ role: "assistant", content: [{ type: "text", text: sent }] }]);
});
