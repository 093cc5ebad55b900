import { beforeEach, describe, expect, it } from "vitest";
import { streamRunEvents } from "#shared/conversations/event-stream.ts";
import type { EventPorts } from "#shared/conversations/live-output.ts";
import { waitForEvents } from "#shared/conversations/wait-for-events.ts";
import type { RunHead } from "#shared/records/run-head.ts";
import { keys } from "#shared/table/keys.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { workingRun } from "../../support/execution.ts";

let plane: TestControlPlane;
let ports: EventPorts;
let open: number;
/** Called when a reader waits. */
let wait: (milliseconds: number) => Promise<void>;
beforeEach(async () => {
  plane = await createTestControlPlane();
  open = 0;
  wait = () => Promise.reject(new Error("nothing is new"));
  const subscribe = () => {
    open++;
    return { next: (milliseconds: number) => wait(milliseconds), close: () => void open-- };
  };
  ports = { ...plane.ports, signals: { subscribe } };
});

const read = async (id: string): Promise<RunHead> => {
  const head = await plane.ports.runs.head(id);
  if (head === undefined) throw new Error("there is no such run");
  return head;
};

describe("a stream of a run's events", () => {
  const stream = async (id: string, isLive = false) =>
    streamRunEvents(await read(id), { after: 0, isLive, streamSeconds: 60 }, ports);
  /** Returns what a stream sends until it ends or has to wait. */
  async function collect(id: string, isLive = false): Promise<string> {
    const texts: string[] = [];
    try {
      for await (const text of await stream(id, isLive)) texts.push(text);
    } catch (error) {
      texts.push(String(error));
    }
    return texts.join("");
  }

  it("ends its subscription with the run", async () => {
    const harness = await workingRun(plane);
    await harness.finish();
    expect(await collect(harness.run_id)).toMatch(/event: end\ndata: \{"next":\d+,"ended":true\}\n\n$/);
    expect(open).toBe(0);
  });

  it("ends its subscription if the reader disconnects, and if reading fails", async () => {
    const { run_id } = await workingRun(plane);
    const leaving = await stream(run_id);
    await leaving.next();
    expect(open).toBe(1);
    await leaving.return();
    expect(open).toBe(0);
    expect(await collect(run_id)).toMatch(/Error: nothing is new$/);
    expect(open).toBe(0);
  });

  it("sends new events after it was woken, and requests a reconnection when its time is over", async () => {
    const harness = await workingRun(plane);
    let waits = 0;
    wait = async () => {
      waits++;
      if (waits === 1) await harness.messages(1, "hello");
      else plane.clock.now += 60_000;
    };
    const texts = await collect(harness.run_id);
    expect(texts).toMatch(/\nid: 4\ndata: .*hello/);
    expect(texts).toMatch(/retry: 1000\n\n$/);
    expect(texts).not.toContain("event: end");
    expect(waits).toBe(2);
  });

  it.each([
    ["events", false, {}, [10, 5, 10, 5, 10, 5, 10, 5]],
    ["events and live output", true, {}, [10, 5, 10, 5, 10, 5, 10, 5]],
    ["events and live output of a run that waits", true, { waiting: "owner" }, [2, 2, 2, 2, 2, 2, 2, 1]],
    ["events of a run that waits", false, { waiting: "owner" }, [10, 5, 10, 5, 10, 5, 10, 5]],
  ] as const)(
    "polls for %s every few seconds, sends a comment after 15, and ends after its time limit",
    async (_, isLive, more, first) => {
      const { run_id } = await workingRun(plane);
      const head = async () => ({ ...(await read(run_id)), ...more });
      ports = { ...ports, runs: { ...plane.ports.runs, head } };
      const waits: number[] = [];
      wait = async (milliseconds) => {
        waits.push(milliseconds / 1000);
        plane.clock.now += milliseconds;
      };
      const texts: string[] = [];
      const request = { after: 3, isLive, streamSeconds: 60 };
      for await (const text of streamRunEvents(await head(), request, ports)) texts.push(text);
      const comments = Array.from({ length: 3 }, () => ": waiting\n\n");
      expect(texts).toEqual(["retry: 1000\n\n", ...comments, "retry: 1000\n\n"]);
      expect(waits.slice(0, 8)).toEqual(first);
      expect(waits.reduce((sum, seconds) => sum + seconds)).toBe(60);
      expect((await read(run_id)).watched_at).toEqual(isLive ? expect.any(Number) : undefined);
      expect(open).toBe(0);
    },
  );

  it("sends no live output of a message that it has sent in full", async () => {
    const harness = await workingRun(plane);
    const block = { type: "text", text: "hello", message_id: "m" };
    const messages = [{ role: "assistant", content: [block] }];
    await harness.support("messages", { execution_id: harness.execution_id, first_sequence: 1, messages });
    const toFrame = (message_id: string) => ({
      stream: "text" as const,
      message_id,
      offset: 0,
      text: `live ${message_id}`,
    });
    const tail = { execution_id: harness.execution_id, streams: [toFrame("m"), toFrame("n")] };
    ports = { ...ports, live: { ...plane.ports.live, read: () => Promise.resolve(tail) } };
    const texts = await collect(harness.run_id, true);
    expect(texts).toContain("hello");
    expect(texts).toContain("live n");
    expect(texts).not.toContain("live m");
  });

  it("sends no live output of an earlier execution", async () => {
    const { run_id, execution_id } = await workingRun(plane);
    const streams = [{ stream: "text" as const, message_id: "m", offset: 0, text: "live" }];
    const collectFrom = (execution: string) => {
      const tail = { execution_id: execution, streams };
      ports = { ...ports, live: { ...plane.ports.live, read: () => Promise.resolve(tail) } };
      return collect(run_id, true);
    };
    expect(await collectFrom(execution_id)).toContain("event: live");
    expect(await collectFrom("another")).not.toContain("event: live");
    expect(await collect(run_id), "not requested").not.toContain("event: live");
  });

  it("sends the position of a waiting run if live output is requested", async () => {
    const { run_id } = await workingRun(plane);
    const owner = { type: "Team", uid: plane.team } as const;
    await plane.table.write({ kind: "put", item: { ...keys.waitingForOwner(owner, run_id), run_id } });
    await plane.table.write({ kind: "update", key: keys.head(run_id), set: { waiting: "owner" } });
    expect(await collect(run_id, true)).toContain('event: waiting\ndata: {"position":1}\n\n');
    expect(await collect(run_id)).not.toContain("event: waiting");
  });

  it("waits for events that cannot be read yet", async () => {
    const { run_id } = await workingRun(plane);
    let reads = 0;
    const timelineItems: EventPorts["runs"]["timelineItems"] = async () => {
      reads++;
      if (reads > 10) throw new Error("too many reads");
      return { items: [], more: false };
    };
    ports = { ...ports, runs: { ...plane.ports.runs, timelineItems } };
    expect(await collect(run_id)).toBe("retry: 1000\n\nError: nothing is new");
    expect(reads).toBe(1);
  });
});

describe("a request that waits for a run's events", () => {
  const requestEvents = async (id: string, after: number) =>
    waitForEvents(await read(id), { after, waitSeconds: 5, isLive: false }, ports);

  it("ends its subscription with its response, and if reading fails", async () => {
    const { run_id } = await workingRun(plane);
    expect((await requestEvents(run_id, 0)).events).not.toEqual([]);
    expect(open).toBe(0);
    await expect(requestEvents(run_id, 99)).rejects.toThrow("nothing is new");
    expect(open).toBe(0);
  });

  it("reports the end of a run only with its last event", async () => {
    const harness = await workingRun(plane);
    for (let number = 1; number <= 201; number++) await harness.messages(number, "a");
    await harness.finish();
    const first = await requestEvents(harness.run_id, 0);
    expect([first.events.length, first.next, first.ended]).toEqual([203, 203, false]);
    const rest = await requestEvents(harness.run_id, first.next);
    expect(rest).toMatchObject({ ended: true, next: 205 });
  });
});
