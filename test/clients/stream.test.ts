import { createServer, type ServerResponse } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { APIUserAbortError, NotFoundError, type RunStreamItem, Runyard } from "../../clients/typescript/src/index.ts";
import { createEventParser } from "../../clients/typescript/src/stream/event-parser.ts";

const EVENTS = 5_000;
const KILLS = 100;
const LINES = 40;

const createEvent = (sequence: number) => ({
  sequence,
  type: "agent_started",
  occurred_at: "2026-05-18T19:00:00.000Z",
  data: sequence % 7 === 0 ? { note: "a\u2028b\u0085c" } : {},
});
const range = (first: number, last: number): number[] =>
  Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
const line = (number: number): string => `line ${String(number).padStart(2, "0")}\n`;
/** Ten lines of eight bytes. */
const createFrame = (offset: number) => ({
  action_id: "a1",
  stream: "stdout",
  offset,
  text: range(offset / 8, offset / 8 + 9)
    .map(line)
    .join(""),
});

function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

/** Serves 5,000 events, as a stream or as JSON, and breaks off 100 responses. */
class HoppingServer {
  kills = KILLS;
  readonly seen: { readonly url: string; readonly lastEventId: string | undefined }[] = [];
  readonly #random = createRandom(3);
  readonly #server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    const lastEventId = request.headers["last-event-id"]?.toString();
    this.seen.push({ url: url.search, lastEventId });
    const after = Number(lastEventId ?? url.searchParams.get("after"));
    const isKilled = this.kills > 0 && this.#random() < 0.8;
    if (isKilled) this.kills--;
    const last = Math.min(after + 1 + Math.floor(this.#random() * 60), EVENTS);
    const [type, text] = this.#random() < 0.5 ? stream(after, last, isKilled) : page(after, last);
    respond(response, type, Buffer.from(text), isKilled);
  });

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    const address = this.#server.address();
    if (typeof address !== "object" || address === null) throw new Error("there is no address");
    return `http://127.0.0.1:${address.port}/api/v1`;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

function stream(after: number, last: number, isKilled: boolean): [type: string, text: string] {
  const parts = [
    "retry: 1\n\n: a comment\n\n",
    // The end of the output comes again with each connection.
    ...range(0, LINES / 10 - 1).map((index) => `event: live\ndata: ${JSON.stringify(createFrame(index * 80))}\n\n`),
    ...range(after + 1, last).map((sequence) => `id: ${sequence}\ndata: ${JSON.stringify(createEvent(sequence))}\n\n`),
    ...(last === EVENTS && !isKilled ? ['event: end\ndata: {"next":5000,"ended":true}\n\n'] : []),
  ];
  return ["text/event-stream; charset=utf-8", parts.join("")];
}

function page(after: number, last: number): [type: string, text: string] {
  const events = range(after + 1, last).map(createEvent);
  return [
    "application/json",
    JSON.stringify({ events, next: last, ended: last === EVENTS, live: [], live_next: "W10" }),
  ];
}

function respond(response: ServerResponse, type: string, bytes: Buffer, isKilled: boolean): void {
  response.writeHead(200, { "content-type": type });
  if (!isKilled) {
    response.end(bytes);
    return;
  }
  response.write(bytes.subarray(0, bytes.length / 2), () => response.socket?.resetAndDestroy());
}

describe("runs.stream", () => {
  let stop = (): void => {};
  afterEach(() => stop());

  it("yields each event once over 100 broken connections, in both forms of the response", async () => {
    const server = new HoppingServer();
    const baseURL = await server.start();
    stop = () => server.stop();
    const client = new Runyard({ baseURL, apiKey: "ryp_x", sleep: async () => {} });
    const sequences: number[] = [];
    let output = "";
    for await (const item of client.runs.stream("r1")) {
      if (item.kind === "event") sequences.push(item.event.sequence);
      else output += item.frame.text;
    }
    expect(sequences).toEqual(range(1, EVENTS));
    expect(output).toBe(
      range(0, LINES - 1)
        .map(line)
        .join(""),
    );
    expect(server.kills).toBe(0);
    expect(server.seen[0]).toEqual({ url: "?after=0&wait=25&live=true", lastEventId: "0" });
    expect(server.seen.some(({ url }) => url.includes("live_after=W10"))).toBe(true);
  });

  const serveOnce = async (result: (response: ServerResponse) => void) => {
    const server = createServer((_, response) => result(response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    stop = () => {
      server.closeAllConnections();
      server.close();
    };
    const address = server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    return new Runyard({ baseURL: `http://127.0.0.1:${port}/api/v1`, apiKey: "ryp_x" });
  };

  it("drops live output whose event has arrived", async () => {
    const result = { type: "action_result", action_id: "a1", category: "command", name: "c", state: "completed" };
    const data = { messages: [{ role: "tool", content: [{ ...result, output: {} }] }] };
    const client = await serveOnce((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`id: 1\ndata: ${JSON.stringify({ ...createEvent(1), type: "messages", data })}\n\n`);
      response.end(`event: live\ndata: ${JSON.stringify(createFrame(0))}\n\nevent: end\ndata: {}\n\n`);
    });
    const items: RunStreamItem[] = [];
    for await (const item of client.runs.stream("r1")) items.push(item);
    expect(items.map(({ kind }) => kind)).toEqual(["event"]);
  });

  it("reports each position of a waiting run in the queue once, in both forms of the response", async () => {
    let requests = 0;
    const client = await serveOnce((response) => {
      requests++;
      if (requests === 1) {
        response.writeHead(200, { "content-type": "application/json" });
        const page = { events: [], next: 0, ended: false, live: [], live_next: "W10", waiting: { position: 3 } };
        return void response.end(JSON.stringify(page));
      }
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const position of [3, 2]) response.write(`event: waiting\ndata: {"position":${position}}\n\n`);
      response.end("event: end\ndata: {}\n\n");
    });
    const positions: number[] = [];
    for await (const _ of client.runs.stream("r1", { onWaiting: (position) => positions.push(position) }));
    expect(positions).toEqual([3, 2]);
  });

  it("ends with the signal, and throws permanent errors", async () => {
    const client = await serveOnce((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(": nothing comes\n\n");
    });
    const controller = new AbortController();
    const reading = client.runs.stream("r1", { signal: controller.signal }).next();
    setTimeout(() => controller.abort(), 20);
    await expect(reading).rejects.toThrow(APIUserAbortError);
    stop();
    const missing = await serveOnce((response) => response.writeHead(404).end());
    await expect(missing.runs.stream("r1").next()).rejects.toThrow(NotFoundError);
  });
});

describe("createEventParser", () => {
  it("reads an event that is split anywhere, with any line break", () => {
    for (const newline of ["\n", "\r\n", "\r"]) {
      const text = [": comment", "event: live", "data: a\u2028b", "data:c", "", "id: 1", "data: d", "", ""].join(
        newline,
      );
      for (let cut = 0; cut < text.length; cut++) {
        const parser = createEventParser();
        const events = [text.slice(0, cut), text.slice(cut), ": next"].flatMap((piece) => parser.push(piece));
        expect(events).toEqual([
          { name: "live", data: "a\u2028b\nc" },
          { name: "message", data: "d" },
        ]);
      }
    }
  });

  it("reads fields without a value and names, keeps all but the first space, and forgets what no blank line completes", () => {
    const parser = createEventParser();
    const push = (...lines: string[]) => parser.push([...lines, ""].join("\n"));
    expect(push("data:  two", "data", "data: ", "other: x", "")).toEqual([{ name: "message", data: " two\n\n" }]);
    expect(push("event: live", "", ": comment", "")).toEqual([]);
    expect(push("event: live", "event", "data: a: b", "")).toEqual([{ name: "message", data: "a: b" }]);
    expect(push("data: half")).toEqual([]);
    expect(push("")).toEqual([{ name: "message", data: "half" }]);
  });

  it("returns the last valid time of retry", () => {
    const parser = createEventParser();
    expect(parser.retry()).toBeUndefined();
    for (const [given, expected] of [
      ["250", 250],
      ["1x", 250],
      ["x1", 250],
      ["", 250],
      ["3000", 3_000],
    ] as const) {
      parser.push(`retry: ${given}\n`);
      expect(parser.retry()).toBe(expected);
    }
  });
});
