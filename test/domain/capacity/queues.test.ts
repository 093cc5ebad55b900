import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { setLogOutput } from "#shared/log/log.ts";
import { queueConsumer } from "#shared/queue/consumer.ts";
import { invocation } from "#shared/queue/invocation.ts";
import { formatMessageGroup, RunMessage } from "#shared/queue/run-queue.ts";
import { memoryScheduler } from "#shared/timers/memory-scheduler.ts";
import { TimerRefused } from "#shared/timers/scheduler.ts";
import { memorySecretVault } from "#shared/vault/memory-secret-vault.ts";
import { sqsEvent } from "../../support/sqs-event.ts";

let lines: Record<string, unknown>[];
beforeEach(() => {
  lines = [];
  setLogOutput((line) => void lines.push(JSON.parse(line)));
});
afterEach(() => setLogOutput((line) => void process.stdout.write(line)));

describe("a consumer of a queue", () => {
  const ran: [string, string][] = [];
  const consumer = queueConsumer({
    message: RunMessage,
    async run({ run_id }, name: string) {
      if (run_id === "bad") throw new Error("broken");
      ran.push([run_id, name]);
    },
  });
  const message = (run_id: string) => ({ v: 1, run_id });
  const failed = (...numbers: number[]) => ({
    batchItemFailures: numbers.map((number) => ({ itemIdentifier: `message-${number}` })),
  });

  it("handles each message of a batch, and reports those that are malformed or fail", async () => {
    ran.splice(0);
    const batch = sqsEvent("runs", [message("a"), "{", { v: 2, run_id: "b" }, message("bad"), message("c")]);
    expect(await consumer.handle(batch, "ports")).toEqual(failed(2, 3, 4));
    expect(ran).toEqual([
      ["a", "ports"],
      ["c", "ports"],
    ]);
    const shown = lines.map(({ level, message: text, message_id, attempt }) => [level, text, message_id, attempt]);
    expect(shown.toSorted()).toEqual([
      ["error", "message failed", "message-2", "1"],
      ["error", "message failed", "message-3", "1"],
      ["error", "message failed", "message-4", "1"],
      ["info", "message", "message-1", "1"],
      ["info", "message", "message-5", "1"],
    ]);
    expect(
      lines.filter(({ level, ms }) => level === "info" && Number.isInteger(ms) && Number(ms) < 10_000),
    ).toHaveLength(2);
    expect(await consumer.handle(sqsEvent("runs", []), "ports")).toEqual(failed());
    expect(consumer.message).toBe(RunMessage);
  });

  it("creates its ports at the first event, once", async () => {
    ran.splice(0);
    let created = 0;
    const handler = consumer.lambda(() => `ports ${++created}`);
    expect(created).toBe(0);
    const context = Object.create(null);
    const handle = (run: string) => handler(sqsEvent("runs", [message(run)]), context);
    expect([await handle("a"), await handle("bad"), await handle("b")]).toEqual([failed(), failed(1), failed()]);
    expect(ran).toEqual([
      ["a", "ports 1"],
      ["b", "ports 1"],
    ]);
  });
});

describe("a function with an event of its own", () => {
  it("creates its ports at the first event, once", async () => {
    let created = 0;
    const { handle, lambda } = invocation(async (event: number, ports: string) => `${ports}: ${event}`);
    expect(await handle(7, "given")).toBe("given: 7");
    const handler = lambda(() => `ports ${++created}`);
    expect(created).toBe(0);
    expect([await handler(1), await handler(2)]).toEqual(["ports 1: 1", "ports 1: 2"]);
  });
});

describe("the messages of an owner", () => {
  it("have a group of their own", () => {
    expect(formatMessageGroup({ type: "Team", uid: "t" })).toBe("TEAM#t");
    expect(formatMessageGroup({ type: "User", uid: "u" })).toBe("USER#u");
  });
});

describe("the vault in memory", () => {
  it("keeps the values of each team apart", async () => {
    const vault = memorySecretVault();
    await vault.put("a", "1", "one");
    await vault.put("a", "2", "");
    await vault.put("b", "1", "other");
    expect(await vault.getAll("a", ["2", "1", "3"])).toEqual(
      new Map([
        ["2", ""],
        ["1", "one"],
      ]),
    );
    await vault.remove("a", "1");
    await vault.remove("a", "1");
    expect(await vault.getAll("a", ["1"])).toEqual(new Map());
    expect([...vault.values]).toEqual([
      ["a/2", ""],
      ["b/1", "other"],
    ]);
  });
});

describe("the scheduler in memory", () => {
  it("keeps the last timer of each schedule", async () => {
    const scheduler = memoryScheduler();
    const timer = (expression: string) => ({ id: "s", expression, timeZone: "UTC" });
    await scheduler.put(timer("cron(0 3 * * ? *)"));
    await scheduler.put(timer("cron(0 4 * * ? *)"));
    expect([...scheduler.timers]).toEqual([["s", timer("cron(0 4 * * ? *)")]]);
    await scheduler.remove("s");
    await scheduler.remove("s");
    expect(scheduler.timers.size).toBe(0);
    expect(new TimerRefused("no").name).toBe("TimerRefused");
  });
});
