import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { ControlPlane } from "#harness/control-plane/control-plane.ts";
import { createRedactor } from "#harness/redaction/redactor.ts";
import { createOutbox } from "#harness/reporting/outbox.ts";
import type { Message } from "#shared/wire/conversation.ts";
import type { ClientEvent } from "#shared/wire/event.ts";

const say = (text: string): Message => ({ role: "assistant", content: [{ type: "text", text }] });

interface FakePlane extends Pick<ControlPlane, "sendEvent" | "sendMessages"> {
  failure: Error | undefined;
}

function recorder() {
  const sent: string[] = [];
  const plane: FakePlane = {
    failure: undefined,
    async sendEvent(event: ClientEvent) {
      await sleep(2);
      if (plane.failure) throw plane.failure;
      sent.push(event.event_name);
    },
    async sendMessages(first: number, messages: readonly Message[]) {
      await sleep(2);
      if (plane.failure) throw plane.failure;
      const texts = messages
        .flatMap((message) => message.content)
        .map((block) => (block.type === "text" ? block.text.slice(0, 10) : ""));
      sent.push(`${first}: ${texts.join(",")}`);
      return first + messages.length;
    },
  };
  const failures: unknown[] = [];
  const options = {
    plane,
    redactor: createRedactor(["a-known-secret"]),
    nextSequence: 5,
    onFailure: (error: unknown) => failures.push(error),
  };
  return { sent, plane, failures, options };
}

describe("outbox", () => {
  it("sends in order, with messages together", async () => {
    const { sent, options } = recorder();
    const outbox = createOutbox(options);
    outbox.event("setup_repo_clone");
    outbox.message(say("a"));
    outbox.message(say("b"));
    outbox.event("agent_started");
    outbox.message(say("c"));
    await outbox.flush();
    expect(sent).toEqual(["setup_repo_clone", "5: a,b", "agent_started", "7: c"]);
  });

  it("holds messages to join others, up to its time limit", async () => {
    const { sent, options } = recorder();
    const outbox = createOutbox({ ...options, holdMs: 40 });
    outbox.message(say("a"));
    await sleep(10);
    outbox.message(say("b"));
    expect(sent).toEqual([]);
    await expect.poll(() => sent, { interval: 5 }).toEqual(["5: a,b"]);
  });

  it("sends a full batch at once, and an oversized one separately", async () => {
    const { sent, options } = recorder();
    const outbox = createOutbox({ ...options, holdMs: 60_000 });
    outbox.message(say("small"));
    outbox.message(say("L".repeat(40_000)));
    outbox.message(say("small too"));
    await expect.poll(() => sent, { interval: 5 }).toEqual(["5: small", "6: LLLLLLLLLL"]);
    await outbox.flush();
    expect(sent.at(-1)).toBe("7: small too");
  });

  it("reports when a message is stored, and redacts it", async () => {
    const { sent, options } = recorder();
    const outbox = createOutbox(options);
    let stored = false;
    outbox.message(say("a-known-secret"), () => {
      stored = true;
    });
    expect(stored).toBe(false);
    await outbox.flush();
    expect(stored).toBe(true);
    expect(sent).toEqual(["5: ***"]);
  });

  it("stops at a failure, reports it once, and fails every flush", async () => {
    const { sent, plane, failures, options } = recorder();
    const outbox = createOutbox(options);
    plane.failure = new Error("gone");
    outbox.message(say("a"));
    await expect(outbox.flush()).rejects.toThrow("gone");
    outbox.message(say("b"));
    await expect(outbox.flush()).rejects.toThrow("gone");
    expect(failures).toEqual([plane.failure]);
    expect(sent).toEqual([]);
  });
});
