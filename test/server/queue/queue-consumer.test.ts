import type { SQSEvent } from "aws-lambda";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Database } from "#server/database/database.ts";
import { type Consumer, QueueConsumer } from "#server/queue/consumer.ts";
import { type MessageStore, messageStore } from "#server/queue/message-store.ts";
import type { QueueDefinition } from "#server/queue/queue-names.ts";
import { Queues } from "#server/queue/queues.ts";
import { useDataDirectory } from "../support/data-directory.ts";

// Keeps the consumers' log out of the test output.
const printed = vi.spyOn(process.stdout, "write").mockReturnValue(true);

const WORK: QueueDefinition = { name: "work", timeoutSeconds: 60, visibilitySeconds: 360, maxReceives: 3 };
const OTHER: QueueDefinition = { ...WORK, name: "other" };
const DONE = { batchItemFailures: [] };

const data = useDataDirectory();
let database: Database;
let store: MessageStore;
/** Ends the handling of each batch, in their order. */
let ends: ((failed?: string) => void)[];
let wakes: number;
beforeEach(() => {
  [ends, wakes] = [[], 0];
  printed.mockClear();
  database = data.open();
  store = messageStore(database, Date.now);
});

const add = (body: string, group = "") => store.add({ queue: WORK.name, group, body, visibleAt: 0 });

/** A consumer whose batches are handled until the test ends them. */
function makeConsumer(options: Partial<Consumer> = {}) {
  const batches: string[][] = [];
  const handle = ({ Records }: SQSEvent) => {
    batches.push(Records.map(({ body }) => body));
    return new Promise<{ batchItemFailures: { itemIdentifier: string }[] }>((resolve) => {
      ends.push((failed) => {
        const failures = Records.filter(({ body }) => body === failed);
        resolve({ batchItemFailures: failures.map(({ messageId }) => ({ itemIdentifier: messageId })) });
      });
    });
  };
  const context = { messages: store, wake: () => void wakes++ };
  const consumer = new QueueConsumer({ queue: WORK, concurrency: 10, handle, ...options }, context);
  return { consumer, batches };
}

describe("a consumer", () => {
  it("calls hasRoom with the number of batches being handled, and takes nothing if it returns false", async () => {
    const calls: number[] = [];
    const { consumer, batches } = makeConsumer({
      hasRoom(inFlight) {
        calls.push(inFlight);
        return inFlight < 2;
      },
    });
    for (const body of ["1", "2", "3"]) await add(body);
    consumer.takeAll();
    expect([calls, batches]).toEqual([
      [0, 1, 2],
      [["1"], ["2"]],
    ]);
    expect(consumer.hasRoom()).toBe(false);
    for (const end of ends) end();
    await consumer.idle();
    expect([consumer.hasRoom(), wakes]).toEqual([true, 2]);
  });

  it("calls accepts with a group and the messages being handled, of all groups and of this one", async () => {
    const calls: unknown[] = [];
    const { consumer, batches } = makeConsumer({
      accepts(...values) {
        calls.push(values);
        return values[2] < 1;
      },
    });
    await add("1", "a");
    await add("2", "a");
    await add("3", "b");
    consumer.takeAll();
    expect(batches).toEqual([["1"], ["3"]]);
    expect(calls).toEqual([
      ["a", 0, 0],
      ["b", 0, 0],
      ["a", 1, 1],
      ["b", 1, 0],
      ["a", 2, 1],
    ]);
    for (const end of ends) end();
    await consumer.idle();
    consumer.takeAll();
    expect([batches.at(-1), calls.at(5)]).toEqual([["2"], ["a", 0, 0]]);
    ends.at(-1)?.();
    await consumer.idle();
  });

  it("counts each message of a batch for its own group until the batch ends", async () => {
    const ofGroups: string[] = [];
    const { consumer } = makeConsumer({
      batchSize: 2,
      accepts(group, _, ofGroup) {
        ofGroups.push(`${group} ${ofGroup}`);
        return true;
      },
    });
    await add("1", "a");
    await add("2", "b");
    consumer.takeAll();
    for (const end of ends) end("2");
    await consumer.idle();
    ofGroups.length = 0;
    await add("3", "a");
    await add("4", "b");
    consumer.takeAll();
    expect(ofGroups.slice(0, 2)).toEqual(["a 0", "b 0"]);
    ends.at(-1)?.();
    await consumer.idle();
  });

  it("reports that it moved messages to the dead letters, also where others are delivered after them", async () => {
    const { consumer, batches } = makeConsumer({ queue: { ...WORK, maxReceives: 0 } });
    await add("1");
    expect(consumer.takeAll()).toBe(true);
    expect([batches, consumer.takeAll()]).toEqual([[], false]);
  });

  it("logs a message that it cannot complete, and continues", async () => {
    const { consumer } = makeConsumer();
    await add("1");
    consumer.takeAll();
    await database.close();
    for (const end of ends) end();
    await consumer.idle();
    expect([consumer.hasRoom(), wakes]).toEqual([true, 1]);
    expect(printed.mock.calls.join("\n")).toContain("messages could not be completed");
  });
});

describe("queues", () => {
  const started: Queues[] = [];
  const startTime = Date.parse("2026-05-18T19:00:00Z");
  beforeEach(() => void vi.useFakeTimers({ now: startTime, toFake: ["setTimeout", "clearTimeout", "Date"] }));
  afterEach(async () => {
    for (const queues of started.splice(0)) await queues.stop();
    vi.useRealTimers();
  });

  function makeQueues(definitions: readonly QueueDefinition[] = [WORK]) {
    const queues = new Queues(database, Date.now);
    started.push(queues);
    const taken: string[] = [];
    for (const queue of definitions) {
      queues.consume({
        queue,
        concurrency: 1,
        handle: async ({ Records }) => {
          taken.push(...Records.map(({ body }) => `${body} after ${(Date.now() - startTime) / 1000} s`));
          return DONE;
        },
      });
    }
    return { queues, taken };
  }

  it("have at most one consumer each", () => {
    const { queues } = makeQueues();
    const second = { queue: WORK, concurrency: 1, handle: async () => DONE };
    expect(() => queues.consume(second)).toThrow("queue work has a consumer already");
  });

  it("deliver each message at its time, whichever queue it is in and however long it waits", async () => {
    const { queues, taken } = makeQueues([WORK, OTHER]);
    queues.start();
    await queues.send(WORK, "last", { delaySeconds: 900 });
    await queues.send(OTHER, "first", { delaySeconds: 30 });
    await queues.send(WORK, "second", { delaySeconds: 59 });
    await vi.advanceTimersByTimeAsync(900_000);
    expect(taken).toEqual(["first after 30 s", "second after 59 s", "last after 900 s"]);
  });

  it("check the clock each minute, and so detect a change of it", async () => {
    const { queues, taken } = makeQueues();
    queues.start();
    await queues.send(WORK, "1", { delaySeconds: 900 });
    vi.setSystemTime(startTime + 3_600_000);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(taken).toEqual(["1 after 3660 s"]);
  });

  it("are read again one second after a failed read", async () => {
    const { queues, taken } = makeQueues();
    queues.start();
    await queues.send(WORK, "1", { delaySeconds: 30 });
    database.statement("ALTER TABLE messages RENAME TO elsewhere").run();
    await vi.advanceTimersByTimeAsync(30_000);
    expect(printed.mock.calls.join("\n")).toContain("the queues cannot be read");
    database.statement("ALTER TABLE elsewhere RENAME TO messages").run();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(taken).toEqual(["1 after 31 s"]);
  });
});
