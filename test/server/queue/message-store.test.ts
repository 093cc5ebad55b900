import { beforeEach, describe, expect, it } from "vitest";
import { type Delivery, type MessageStore, messageStore } from "#server/queue/message-store.ts";
import type { QueueDefinition } from "#server/queue/queue-names.ts";
import { toSqsEvent } from "#server/queue/sqs-event.ts";
import { MAX_RESTARTS } from "#shared/records/run.ts";
import { useDataDirectory } from "../support/data-directory.ts";

const WORK: QueueDefinition = { name: "work", timeoutSeconds: 10, visibilitySeconds: 60, maxReceives: 2 };
const DEAD: QueueDefinition = { ...WORK, name: "work-dead", maxReceives: undefined };
const MINUTE = 60_000;

const data = useDataDirectory();
let now: number;
let store: MessageStore;
beforeEach(() => {
  now = 1_000_000;
  store = messageStore(data.open(), () => now);
});

const add = (body: string, { group = "", queue = WORK.name, visibleAt = now } = {}) =>
  store.add({ queue, group, body, visibleAt });
const take = (queue: QueueDefinition = WORK, accepts: (group: string) => boolean = () => true) =>
  store.take(queue, () => 0, accepts);
function delivery(queue: QueueDefinition = WORK): Delivery {
  const { delivery: found } = take(queue);
  if (found === undefined) throw new Error(`no message of ${queue.name} is visible at ${now}`);
  return found;
}
const takeBodies = (): string[] => {
  const bodies: string[] = [];
  for (let next = take().delivery; next !== undefined; next = take().delivery) bodies.push(next.body);
  return bodies;
};

describe("a stored message", () => {
  it("is delivered in the order of visibility, and then in the order of arrival", async () => {
    await add("late", { visibleAt: now + 5 });
    for (const body of ["1", "2", "3"]) await add(body, { visibleAt: now + 1 });
    expect(takeBodies()).toEqual([]);
    now += 5;
    expect(takeBodies()).toEqual(["1", "2", "3", "late"]);
  });

  it("of several groups that are equal is delivered in the order of arrival", async () => {
    await add("1", { group: "b" });
    await add("2", { group: "a" });
    await add("3", { group: "c" });
    expect(takeBodies()).toEqual(["1", "2", "3"]);
  });

  it("is left in its queue if its group is not accepted", async () => {
    await add("1", { group: "a" });
    await add("2", { group: "b" });
    expect(take(WORK, (group) => group === "b").delivery?.body).toBe("2");
    expect(take(WORK, (group) => group === "b").delivery).toBeUndefined();
    expect(take().delivery?.body).toBe("1");
  });

  it("is hidden until its visibility time-out, and keeps the times when it was sent and first received", async () => {
    await add("1");
    now += 7;
    const first = delivery();
    expect(first).toMatchObject({ sentAt: 1_000_000, firstReceivedAt: 1_000_007, receives: 1 });
    now += MINUTE - 1;
    expect(take().delivery).toBeUndefined();
    now += 1;
    expect(delivery().receipt).not.toBe(first.receipt);
    now += MINUTE;
    const third = delivery({ ...WORK, maxReceives: 3 });
    expect(third).toMatchObject({ sentAt: 1_000_000, firstReceivedAt: 1_000_007, receives: 3 });
    expect(toSqsEvent("work", [third]).Records[0]).toMatchObject({
      messageId: first.messageId,
      receiptHandle: third.receipt,
      attributes: {
        ApproximateReceiveCount: "3",
        SentTimestamp: "1000000",
        ApproximateFirstReceiveTimestamp: "1000007",
      },
    });
  });

  it("is neither completed nor returned by a delivery whose visibility time-out has passed", async () => {
    await add("1");
    const first = delivery();
    now += MINUTE;
    const second = delivery();
    store.complete(first);
    store.giveBack(first);
    expect(await store.depth(WORK.name)).toMatchObject({ total: 1, in_flight: 1 });
    store.giveBack(second);
    expect(await store.depth(WORK.name)).toMatchObject({ total: 1, in_flight: 0 });
    store.complete(second);
    expect(await store.depth(WORK.name)).toMatchObject({ total: 1 });
  });

  it("that reached the receive limit becomes a dead letter, which counts its deliveries from the start", async () => {
    await add("poison");
    await add("next");
    for (const receives of [1, 2]) {
      expect(delivery()).toMatchObject({ body: "poison", receives });
      expect(delivery()).toMatchObject({ body: "next", receives });
      now += MINUTE;
    }
    expect(take()).toEqual({ delivery: undefined, buried: true });
    expect(take()).toEqual({ delivery: undefined, buried: false });
    expect(delivery(DEAD)).toMatchObject({ body: "poison", receives: 1, sentAt: 1_000_000 });
  });
});

describe("the depth of a queue", () => {
  it("counts its own messages, those in flight among them, and has the time of the oldest one", async () => {
    expect(await store.depth(WORK.name)).toEqual({ total: 0, in_flight: 0, oldest: null });
    await add("1");
    now += 5;
    await add("2");
    await add("of another queue", { queue: "other" });
    delivery();
    expect(await store.depth(WORK.name)).toEqual({ total: 2, in_flight: 1, oldest: 1_000_000 });
  });
});

describe("a redrive", () => {
  it("moves the dead letters back that no consumer handles, with all their attempts", async () => {
    const limited = { ...WORK, maxReceives: 1 };
    for (const body of ["1", "2"]) await add(body);
    for (const _ of ["1", "2"]) delivery(limited);
    now += MINUTE;
    expect(take(limited).buried).toBe(true);
    expect(delivery(DEAD).body).toBe("1");
    expect(await store.redrive(WORK.name)).toBe(1);
    expect(await store.depth(DEAD.name)).toMatchObject({ total: 1, in_flight: 1 });
    expect(delivery(limited)).toMatchObject({ body: "2", receives: 1 });
  });
});

describe("the release of messages after a restart", () => {
  const interrupt = (times: number, queue = WORK) => {
    for (let count = 0; count < times; count++) {
      expect(delivery(queue).receives).toBe(1);
      store.releaseAll();
    }
  };
  const bury = () => {
    const limited = { ...WORK, maxReceives: 1 };
    delivery(limited);
    now += MINUTE;
    expect(take(limited).buried).toBe(true);
  };

  it("does not count as a delivery until it has happened repeatedly", async () => {
    await add("1");
    interrupt(MAX_RESTARTS);
    expect(delivery().receives).toBe(1);
    store.releaseAll();
    expect(delivery().receives).toBe(2);
  });

  it("is counted from the start for a dead letter, and again for one that is redriven", async () => {
    await add("1");
    interrupt(MAX_RESTARTS);
    bury();
    interrupt(MAX_RESTARTS, DEAD);
    expect(await store.redrive(WORK.name)).toBe(1);
    interrupt(MAX_RESTARTS);
  });

  it("does not change waiting messages, including delayed ones", async () => {
    await add("delayed", { visibleAt: now + MINUTE });
    store.releaseAll();
    expect(take().delivery).toBeUndefined();
    expect(store.nextTime(WORK.name, now)).toBe(now + MINUTE);
  });
});

describe("the next time of a queue", () => {
  it("is the earliest after a time, of this queue alone", async () => {
    expect(store.nextTime(WORK.name, 0)).toBeUndefined();
    await add("1", { visibleAt: 20 });
    await add("2", { visibleAt: 10 });
    await add("of another queue", { queue: "other", visibleAt: 15 });
    expect([0, 9, 10, 20].map((after) => store.nextTime(WORK.name, after))).toEqual([10, 10, 20, undefined]);
  });
});
