import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as pause } from "node:timers/promises";
import type { SQSEvent } from "aws-lambda";
import * as v from "valibot";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Database } from "#server/database/database.ts";
import type { Consumer } from "#server/queue/consumer.ts";
import { QUEUES, type QueueDefinition } from "#server/queue/queue-names.ts";
import { Queues } from "#server/queue/queues.ts";
import { sqlitePassQueue, sqliteRunQueue } from "#server/queue/run-queues.ts";
import { queueConsumer } from "#shared/queue/consumer.ts";
import { MAX_RESTARTS } from "#shared/records/run.ts";
import { parseRunId } from "#shared/records/run-head.ts";
import type { Key } from "#shared/table/table.ts";
import { QueueEvent } from "../../events/shapes.ts";
import { useDataDirectory } from "../support/data-directory.ts";
import { eventually } from "../support/eventually.ts";

// Keeps the consumers' log out of the test output.
vi.spyOn(process.stdout, "write").mockReturnValue(true);

const data = useDataDirectory();
const started: Queues[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((queues) => queues.stop()));
});

const WORK: QueueDefinition = { name: "work", timeoutSeconds: 60, visibilitySeconds: 360, maxReceives: 3 };
/** Repeats failed messages soon. */
const QUICK: QueueDefinition = { ...WORK, visibilitySeconds: 0.1 };
const DEAD: QueueDefinition = { ...WORK, name: "work-dead", maxReceives: undefined };
const DONE = { batchItemFailures: [] };
const failAll = (event: SQSEvent) => ({
  batchItemFailures: event.Records.map(({ messageId }) => ({ itemIdentifier: messageId })),
});

/** Starts queues with one consumer that records its events. */
function startQueues(
  handle: (event: SQSEvent) => Promise<void> | void = () => undefined,
  { database = data.open(), ...options }: Partial<Consumer> & { database?: Database } = {},
) {
  const queues = new Queues(database, Date.now);
  started.push(queues);
  const bodies: string[] = [];
  const events: SQSEvent[] = [];
  queues.consume({
    queue: WORK,
    concurrency: 1,
    async handle(event) {
      events.push(event);
      bodies.push(...event.Records.map(({ body }) => body));
      await handle(event);
      return DONE;
    },
    ...options,
  });
  queues.start();
  return { queues, bodies, events };
}

/** A promise that the test resolves. */
function gate() {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

describe("a queue", () => {
  it("delivers a message that is sent again where it is lost without waiting for the disk", async () => {
    const database = data.open();
    const { queues, bodies } = startQueues(undefined, { database });
    const write = vi.spyOn(database, "write");
    await queues.send(WORK, "1", { isSentAgain: true });
    expect(write).not.toHaveBeenCalled();
    await eventually(() => expect(bodies).toEqual(["1"]));
  });

  it("delivers a message once, as a Lambda event, and deletes it", async () => {
    const { queues, events } = startQueues();
    await queues.send(WORK, "hello", { group: "TEAM#1" });
    await eventually(() => expect(events).toHaveLength(1));
    const event = v.parse(QueueEvent, events[0]);
    expect(event.Records[0]).toMatchObject({
      body: "hello",
      attributes: { ApproximateReceiveCount: "1", MessageGroupId: "TEAM#1" },
      eventSourceARN: "arn:aws:sqs:us-east-1:000000000000:runyard-work",
    });
    await eventually(async () => expect(await queues.depth(WORK)).toMatchObject({ waiting: 0, inFlight: 0 }));
    await pause(200);
    expect(events).toHaveLength(1);
  });

  it("delivers without polling delays", async () => {
    const { queues, bodies } = startQueues();
    const began = performance.now();
    for (let n = 0; n < 20; n++) {
      await queues.send(WORK, String(n));
      await eventually(() => expect(bodies).toContain(String(n)));
    }
    expect(performance.now() - began).toBeLessThan(10_000);
  });

  it("delivers a delayed message after its delay and not before", async () => {
    const { queues, bodies } = startQueues();
    const sent = Date.now();
    await queues.send(WORK, "later", { delaySeconds: 1 });
    await queues.send(WORK, "now");
    await eventually(() => expect(bodies).toEqual(["now"]));
    await eventually(() => expect(bodies).toEqual(["now", "later"]));
    expect(Date.now() - sent).toBeGreaterThanOrEqual(1_000);
  });

  it("runs its consumer outside the asynchronous context of the sender", async () => {
    const context = new AsyncLocalStorage<string>();
    const seen: (string | undefined)[] = [];
    const { queues } = startQueues(() => void seen.push(context.getStore()));
    await context.run("a request", () => queues.send(WORK, "now"));
    await context.run("a request", () => queues.send(WORK, "later", { delaySeconds: 1 }));
    await eventually(() => expect(seen).toEqual([undefined, undefined]));
  });

  it.each([
    ["an empty message", "", {}],
    ["more than 1 MiB", "ä".repeat(524_289), {}],
    ["a delay of more than 900 seconds", "a", { delaySeconds: 901 }],
    ["a negative delay", "a", { delaySeconds: -1 }],
    ["a delay of half a second", "a", { delaySeconds: 0.5 }],
  ])("rejects %s, as SQS does", async (_, body, options) => {
    const { queues } = startQueues();
    await expect(queues.send(WORK, body, options)).rejects.toThrow(RangeError);
  });

  it("accepts 1 MiB with a delay of 900 seconds", async () => {
    const { queues } = startQueues();
    await queues.send(WORK, "ä".repeat(524_288), { delaySeconds: 900 });
    expect(await queues.depth(WORK)).toEqual({ waiting: 1, inFlight: 0, oldestSentAt: expect.any(Number) });
  });

  it("does not exceed its concurrency limit", async () => {
    const { opened, open } = gate();
    const { queues, bodies } = startQueues(() => opened, { concurrency: 3 });
    await Promise.all(Array.from({ length: 8 }, (_, n) => queues.send(WORK, String(n))));
    await eventually(() => expect(bodies).toHaveLength(3));
    expect(await queues.depth(WORK)).toMatchObject({ waiting: 5, inFlight: 3 });
    open();
    await eventually(() => expect(bodies).toHaveLength(8));
  });

  it("delivers several messages at once to a consumer with a batch size", async () => {
    const { opened, open } = gate();
    const { queues, events } = startQueues(() => opened, { batchSize: 4 });
    await queues.send(WORK, "first");
    await eventually(() => expect(events).toHaveLength(1));
    await Promise.all(Array.from({ length: 6 }, (_, n) => queues.send(WORK, String(n))));
    open();
    await eventually(() => expect(events.map(({ Records }) => Records.length)).toEqual([1, 4, 2]));
  });

  it("serves its groups in turn, so that one with 1,000 messages does not delay another", async () => {
    const { opened, open } = gate();
    const order: string[] = [];
    const { queues } = startQueues(async ({ Records }) => {
      order.push(Records[0]?.attributes.MessageGroupId ?? "");
      if (order.length === 1) await opened;
    });
    await Promise.all(Array.from({ length: 1_000 }, (_, n) => queues.send(WORK, String(n), { group: "TEAM#busy" })));
    await Promise.all(["TEAM#a", "TEAM#b"].map((group) => queues.send(WORK, "quiet", { group })));
    open();
    await eventually(() => expect(order.length).toBeGreaterThan(5));
    expect(order.slice(1, 3).toSorted()).toEqual(["TEAM#a", "TEAM#b"]);
  });

  it("prefers the group with the fewest messages being handled", async () => {
    const gates = new Map<string, ReturnType<typeof gate>>();
    const running: string[] = [];
    const { queues, bodies } = startQueues(
      async ({ Records: [record] }) => {
        const mine = gate();
        gates.set(record?.body ?? "", mine);
        running.push(record?.attributes.MessageGroupId ?? "");
        await mine.opened;
      },
      { concurrency: 4 },
    );
    for (let n = 0; n < 6; n++) await queues.send(WORK, `busy ${n}`, { group: "TEAM#busy" });
    await eventually(() => expect(bodies).toHaveLength(4));
    for (let n = 0; n < 2; n++) await queues.send(WORK, `quiet ${n}`, { group: "TEAM#quiet" });
    gates.get("busy 0")?.open();
    gates.get("busy 1")?.open();
    await eventually(() => expect(running).toHaveLength(6));
    expect(running.slice(4)).toEqual(["TEAM#quiet", "TEAM#quiet"]);
    for (const { open } of gates.values()) open();
    await eventually(() => expect(running).toHaveLength(8));
    for (const { open } of gates.values()) open();
  });
});

describe("a message that fails", () => {
  it("is delivered again after its visibility time-out, without the rest of its batch and with its receive count", async () => {
    const times: number[] = [];
    const seen: string[] = [];
    const { queues } = startQueues(undefined, {
      queue: QUICK,
      batchSize: 2,
      async handle(event) {
        seen.push(...event.Records.map(({ body, attributes }) => `${body} ${attributes.ApproximateReceiveCount}`));
        const bad = event.Records.filter(({ body }) => body === "bad");
        if (bad.length > 0) times.push(Date.now());
        return failAll({ Records: times.length < 2 ? bad : [] });
      },
    });
    await Promise.all(["bad", "good"].map((body) => queues.send(WORK, body)));
    await eventually(() => expect(seen).toContain("bad 2"));
    await eventually(async () => expect(await queues.depth(WORK)).toMatchObject({ waiting: 0, inFlight: 0 }));
    expect(seen.toSorted()).toEqual(["bad 1", "bad 2", "good 1"]);
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(95);
  });

  it.each<[string, (event: SQSEvent) => Promise<void>]>([
    ["throws", () => Promise.reject(new Error("no"))],
    ["does not end in time", () => pause(60_000, undefined, { ref: false })],
  ])("because its consumer %s is delivered again and finally becomes a dead letter", async (_, handle) => {
    const queue = { ...QUICK, timeoutSeconds: 0.03 };
    const { queues, bodies } = startQueues(handle, { queue });
    await queues.send(queue, "poison");
    await eventually(async () => expect(await queues.deadLetters(queue)).toMatchObject({ waiting: 1 }));
    expect(bodies).toEqual(["poison", "poison", "poison"]);
    expect(await queues.depth(queue)).toMatchObject({ waiting: 0, inFlight: 0 });
  });

  it("is delivered although it becomes visible between two reads of the clock", async () => {
    let time = 1_000_000;
    // Each read of the clock returns one millisecond more.
    const queues = new Queues(data.open(), () => time++);
    started.push(queues);
    let isBroken = true;
    const bodies: string[] = [];
    queues.consume({
      queue: { ...WORK, visibilitySeconds: 0.005, maxReceives: 1_000 },
      concurrency: 1,
      async handle(event) {
        if (isBroken) return failAll(event);
        bodies.push(...event.Records.map(({ body }) => body));
        return DONE;
      },
    });
    queues.start();
    for (let n = 0; n < 20; n++) {
      isBroken = true;
      await queues.send(WORK, String(n));
      await pause(n);
      isBroken = false;
      await eventually(() => expect(bodies).toContain(String(n)));
    }
  });

  it("is delivered to the consumer of dead letters, if there is one", async () => {
    const { queues } = startQueues(undefined, { queue: QUICK, handle: async (event) => failAll(event) });
    const dead: SQSEvent[] = [];
    queues.consume({
      queue: DEAD,
      concurrency: 1,
      handle: async (event) => {
        dead.push(event);
        return DONE;
      },
    });
    await queues.send(WORK, "poison", { group: "TEAM#1" });
    await eventually(() => expect(dead).toHaveLength(1));
    expect(dead[0]?.Records[0]).toMatchObject({
      body: "poison",
      attributes: { ApproximateReceiveCount: "1", MessageGroupId: "TEAM#1" },
      eventSourceARN: "arn:aws:sqs:us-east-1:000000000000:runyard-work-dead",
    });
  });

  it("can be redriven from the dead letters, with a new receive count", async () => {
    let isBroken = true;
    const { queues, bodies } = startQueues(undefined, {
      queue: QUICK,
      async handle(event) {
        if (isBroken) return failAll(event);
        bodies.push("handled");
        return DONE;
      },
    });
    await queues.send(WORK, "poison");
    await eventually(async () => expect(await queues.deadLetters(WORK)).toMatchObject({ waiting: 1 }));
    isBroken = false;
    expect(await queues.redrive(WORK)).toBe(1);
    expect(await queues.redrive(WORK)).toBe(0);
    await eventually(() => expect(bodies).toEqual(["handled"]));
  });
});

describe("a restart", () => {
  it("delivers waiting messages, and immediately those that the previous process was handling", async () => {
    const database = data.open();
    const slow = { ...WORK, visibilitySeconds: 600 };
    const stuck = gate();
    const before = startQueues(() => stuck.opened, { database, queue: slow, concurrency: 2 });
    for (const body of ["a", "b", "c"]) await before.queues.send(slow, body);
    await eventually(() => expect(before.bodies).toEqual(["a", "b"]));
    // The previous process crashed: it is not stopped, and it completes nothing.
    started.splice(started.indexOf(before.queues), 1);
    const after = startQueues(undefined, { database, queue: slow });
    await eventually(() => expect(after.bodies.toSorted()).toEqual(["a", "b", "c"]));
    const counts = after.events.map(({ Records: [record] }) => record?.attributes.ApproximateReceiveCount);
    expect(counts).toEqual(["1", "1", "1"]);
    stuck.open();
    await before.queues.stop();
    expect(await after.queues.depth(slow)).toMatchObject({ waiting: 0, inFlight: 0 });
  });

  it("moves a message that repeatedly crashes the process to the dead letters", async () => {
    const database = data.open();
    for (let start = 0; start < MAX_RESTARTS + 3; start++) {
      const { queues, bodies } = startQueues(() => new Promise(() => undefined), { database });
      started.splice(started.indexOf(queues), 1);
      if (start === 0) await queues.send(WORK, "deadly");
      await eventually(() => expect(bodies).toEqual(["deadly"]));
    }
    const { queues, bodies } = startQueues(undefined, { database });
    await eventually(async () => expect(await queues.deadLetters(WORK)).toMatchObject({ waiting: 1 }));
    expect(bodies).toEqual([]);
  });

  it("stops after the messages that are being handled", async () => {
    const { opened, open } = gate();
    const { queues, bodies } = startQueues(() => opened);
    await queues.send(WORK, "a");
    await queues.send(WORK, "b");
    await eventually(() => expect(bodies).toEqual(["a"]));
    const stopping = queues.stop();
    open();
    await stopping;
    await pause(50);
    expect(bodies).toEqual(["a"]);
    expect(await queues.depth(WORK)).toMatchObject({ waiting: 1, inFlight: 0 });
  });
});

/** A table with the heads of runs, by their ids. */
const tableOf = (heads: Readonly<Record<string, Readonly<Record<string, string>>>>) => ({
  async get(key: Key) {
    const head = heads[parseRunId(key)];
    return head === undefined ? undefined : { ...key, ...head };
  },
});

describe("the queues of the control plane", () => {
  it("carry the messages that their consumers accept, with the owner as group", async () => {
    const queues = new Queues(data.open(), Date.now);
    started.push(queues);
    const taken: [string, unknown, string | undefined][] = [];
    for (const queue of [QUEUES.runs, QUEUES.workerRuns, QUEUES.ends, QUEUES.reaper]) {
      const consumer = queueConsumer({
        message: v.union([
          v.strictObject({ v: v.literal(1), run_id: v.string() }),
          v.strictObject({ v: v.literal(1), pass: v.number() }),
        ]),
        run: async (message, note: (message: unknown) => void) => note(message),
      });
      queues.consume({
        queue,
        concurrency: 1,
        handle: (event) =>
          consumer.handle(event, (message) => {
            taken.push([queue.name, message, event.Records[0]?.attributes.MessageGroupId]);
          }),
      });
    }
    queues.start();
    const runQueue = sqliteRunQueue(queues, tableOf({ "run-3": { worker_host: "rack-7" }, "run-1": {} }));
    await runQueue.sendRun("run-1", { type: "Team", uid: "t" });
    await runQueue.sendRun("run-3", { type: "Team", uid: "t" });
    await runQueue.sendEnd("run-2", { type: "User", uid: "u" });
    await sqlitePassQueue(queues).sendPass(1, 0);
    await eventually(() => expect(taken).toHaveLength(4));
    expect(taken.toSorted()).toEqual([
      ["ends", { v: 1, run_id: "run-2" }, "USER#u"],
      ["reaper", { v: 1, pass: 1 }, undefined],
      ["runs", { v: 1, run_id: "run-1" }, "TEAM#t"],
      ["worker-runs", { v: 1, run_id: "run-3" }, "TEAM#t"],
    ]);
  });

  it("have the limits that they have on AWS, with dead letters of runs that are delivered until they are handled", () => {
    const limits = Object.values(QUEUES).map(({ name, timeoutSeconds, visibilitySeconds, maxReceives }) => [
      name,
      timeoutSeconds,
      visibilitySeconds,
      maxReceives,
    ]);
    expect(limits).toEqual([
      ["runs", 30, 180, 1_000],
      ["worker-runs", 30, 180, 1_000],
      ["ends", 60, 360, 5],
      ["events", 30, 180, 5],
      ["reaper", 60, 360, 5],
      ["ticks", 30, 180, 5],
      ["webhook-events", 30, 180, 5],
      ["webhook-attempts", 80, 480, 5],
      ["runs-dead", 30, 180, undefined],
      ["worker-runs-dead", 30, 180, undefined],
    ]);
  });

  it("delay only the messages of runs and passes that request it", async () => {
    const time = 1_000_000;
    const database = data.open();
    const queues = new Queues(database, () => time);
    const runQueue = sqliteRunQueue(queues, tableOf({}));
    const owner = { type: "Team", uid: "t" } as const;
    await runQueue.sendRun("now", owner);
    await runQueue.sendRun("later", owner, 30);
    await runQueue.sendEnd("end", owner);
    await sqlitePassQueue(queues).sendPass(2, 15);
    const rows = database.statement("SELECT queue, body, visible_at FROM messages ORDER BY id").all();
    expect(rows.map(({ queue, body, visible_at }) => [queue, JSON.parse(String(body)), visible_at])).toEqual([
      ["runs", { v: 1, run_id: "now" }, time],
      ["runs", { v: 1, run_id: "later" }, time + 30_000],
      ["ends", { v: 1, run_id: "end" }, time],
      ["reaper", { v: 1, pass: 2 }, time + 15_000],
    ]);
    expect(sqlitePassQueue(queues).everySeconds).toBe(15);
  });

  it("delete messages after 14 days", async () => {
    const database = data.open();
    let time = Date.now();
    const queues = new Queues(database, () => time);
    await queues.send(QUEUES.ends, "old");
    time += 14 * 24 * 3_600_000;
    await queues.send(QUEUES.ends, "new");
    expect(await queues.purgeOld()).toBe(0);
    time += 1;
    expect(await queues.purgeOld()).toBe(1);
    expect(await queues.depth(QUEUES.ends)).toMatchObject({ waiting: 1 });
  });
});
