import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { RunEvent, RunStreamItem } from "../../clients/typescript/src/index.ts";
import { readTogether, type StreamPart } from "../../web/run/shared-stream.ts";

const toEvent = (sequence: number): RunEvent => ({
  sequence,
  type: "messages",
  occurred_at: "2026-05-18T19:00:00Z",
  data: {},
});

/** A service with one run, which counts the streams that are open. */
function createService() {
  const events: RunEvent[] = [];
  const watchers = new Set<() => void>();
  const wake = () => {
    for (const watcher of watchers) watcher();
  };
  let ended = false;
  const service = {
    open: 0,
    opened: 0,
    listed: 0,
    fails: false,
    add() {
      events.push(toEvent(events.length + 1));
      wake();
    },
    end() {
      ended = true;
      wake();
    },
    breakStreams() {
      service.fails = true;
      wake();
    },
    async list(after: number) {
      service.listed++;
      return { events: events.slice(after), live: [], waiting: { position: 3 } };
    },
    async *stream(
      after: number,
      { signal, onWaiting }: { signal: AbortSignal; onWaiting: (position: number) => void },
    ) {
      service.open++;
      service.opened++;
      try {
        onWaiting(4);
        for (let last = after; ; ) {
          for (const event of events.slice(last)) yield { kind: "event", event } satisfies RunStreamItem;
          last = events.length;
          if (ended) return;
          await new Promise<void>((resolve) => {
            watchers.add(resolve);
            signal.addEventListener("abort", () => resolve());
          });
          signal.throwIfAborted();
          if (service.fails) {
            service.fails = false;
            throw new Error("the connection is lost");
          }
        }
      } finally {
        service.open--;
      }
    },
  };
  return service;
}

let names = 0;
function createPages(service: ReturnType<typeof createService>) {
  const name = `run ${++names}`;
  return function openPage(after = 0) {
    const visit = new AbortController();
    const parts: StreamPart[] = [];
    const ends = readTogether({
      name,
      after,
      source: service,
      signal: visit.signal,
      onPart: (part) => void parts.push(part),
    });
    const outcome = ends.then(
      () => "ended",
      (error: unknown) => String(error),
    );
    const numbers = () => parts.flatMap((part) => (part.kind === "event" ? [part.event.sequence] : []));
    const positions = () => parts.flatMap((part) => (part.kind === "waiting" ? [part.position] : []));
    return { close: () => visit.abort(), numbers, positions, outcome };
  };
}

const quick = { timeout: 20_000, interval: 5 };

/** A service with one event, and two pages that have read it: the first one reads the stream. */
async function openTwoPages() {
  const service = createService();
  const openPage = createPages(service);
  service.add();
  const first = openPage();
  await expect.poll(first.numbers, quick).toEqual([1]);
  const second = openPage();
  await expect.poll(second.numbers, quick).toEqual([1]);
  return { service, first, second };
}

describe("the pages of a browser that show the same run", () => {
  it("have one stream, and each gets every event once and in order", async () => {
    const service = createService();
    const openPage = createPages(service);
    service.add();
    const first = openPage();
    await expect.poll(first.numbers, quick).toEqual([1]);
    const others = [openPage(), openPage(), openPage(1)];
    service.add();
    service.add();
    for (const page of others.slice(0, 2)) await expect.poll(page.numbers, quick).toEqual([1, 2, 3]);
    await expect.poll(() => others[2]?.numbers(), quick).toEqual([2, 3]);
    expect(service).toMatchObject({ open: 1, opened: 1 });
    service.end();
    for (const page of [first, ...others]) expect(await page.outcome).toBe("ended");
    expect(first.numbers()).toEqual([1, 2, 3]);
    expect(service.open).toBe(0);
  });

  it("show the position in the queue, also if they are opened later", async () => {
    const service = createService();
    const openPage = createPages(service);
    service.add();
    const first = openPage();
    await expect.poll(first.positions, quick).toEqual([4]);
    const second = openPage();
    await expect.poll(second.positions, quick).toContain(3);
    service.end();
    await Promise.all([first.outcome, second.outcome]);
  });

  it("miss no event when the page that reads the stream is hidden and another page takes over", async () => {
    const { service, first, second } = await openTwoPages();
    first.close();
    expect(await first.outcome).toContain("AbortError");
    await expect.poll(() => service.open, quick).toBe(1);
    service.add();
    await expect.poll(second.numbers, quick).toEqual([1, 2]);
    service.end();
    expect(await second.outcome).toBe("ended");
    expect(service.opened).toBe(2);
  });

  it("take over when the page that reads the stream loses its connection", async () => {
    const { service, first, second } = await openTwoPages();
    service.breakStreams();
    expect(await first.outcome).toContain("the connection is lost");
    service.add();
    await expect.poll(second.numbers, quick).toEqual([1, 2]);
    service.end();
    expect(await second.outcome).toBe("ended");
  });

  it("read the events that they have missed before they take one from another page", async () => {
    const service = createService();
    const openPage = createPages(service);
    for (let number = 0; number < 5; number++) service.add();
    const first = openPage(5);
    await expect.poll(() => service.open, quick).toBe(1);
    const second = openPage(2);
    await expect.poll(second.numbers, quick).toEqual([3, 4, 5]);
    const channel = new BroadcastChannel(`run ${names}`);
    for (let number = 0; number < 2; number++) service.add();
    channel.postMessage({ kind: "event", event: toEvent(7) });
    await expect.poll(second.numbers, quick).toEqual([3, 4, 5, 6, 7]);
    channel.close();
    service.end();
    expect(await first.outcome).toBe("ended");
    expect(await second.outcome).toBe("ended");
  });

  it("open no stream once they are closed, even when the page that reads it stops", async () => {
    const { service, first, second } = await openTwoPages();
    second.close();
    expect(await second.outcome).toContain("AbortError");
    first.close();
    await first.outcome;
    await pause(20);
    expect(service).toMatchObject({ open: 0, opened: 1 });
  });

  it("report that the events they have missed could not be read", async () => {
    const service = createService();
    const openPage = createPages(service);
    const first = openPage();
    await expect.poll(() => service.open, quick).toBe(1);
    Object.assign(service, { list: () => Promise.reject(new Error("not found")) });
    expect(await openPage().outcome).toContain("not found");
    first.close();
    await first.outcome;
  });
});
