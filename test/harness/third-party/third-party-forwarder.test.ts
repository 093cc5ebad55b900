import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, request, type Server, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ModelRetry } from "#harness/reporting/retry-reporter.ts";
import { type Forwarder, openForwarder } from "#harness/third-party/forwarder.ts";

/** A test that waits for a missing response fails soon. */
vi.setConfig({ testTimeout: 10_000, hookTimeout: 10_000 });

interface Call {
  readonly url: string | undefined;
  readonly method: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

let folder = "";
let gateway: Server;
let forwarder: Forwarder;
/** Responds to the next calls to the gateway. */
let respond: (response: ServerResponse) => void;
let calls: Call[] = [];
let retries: ModelRetry[] = [];
let texts: string[] = [];

beforeEach(async () => {
  [calls, retries, texts] = [[], [], []];
  folder = mkdtempSync(join(tmpdir(), "forwarder-"));
  gateway = createServer(async (incoming, response) => {
    const { url, method, headers } = incoming;
    let body = "";
    for await (const piece of incoming.setEncoding("utf8")) body += piece;
    calls.push({ url, method, headers, body });
    respond(response);
  });
  await new Promise<void>((resolve) => gateway.listen(0, "127.0.0.1", resolve));
  const address = gateway.address();
  const port = typeof address === "object" ? address?.port : undefined;
  forwarder = await openForwarder({
    socket: join(folder, "m"),
    modelUrl: `http://127.0.0.1:${port}/model//`,
    key: "ryr_key",
    modelId: "openai/x",
    onRetry: (retry) => void retries.push(retry),
    onText: (text) => void texts.push(text),
  });
});
afterEach(async () => {
  await forwarder[Symbol.asyncDispose]();
  gateway.closeAllConnections();
  gateway.close();
  rmSync(folder, { recursive: true });
});

const CHAT = "/openai/v1/chat/completions";

/** The response of a call of the agent. */
const post = (path: string, body: string, headers: Record<string, string> = {}) =>
  new Promise<{ status: number | undefined; headers: IncomingHttpHeaders; text: string }>((resolve, reject) => {
    const options = { socketPath: forwarder.socket, method: "POST", path, headers };
    const call = request(options, async (response) => {
      let text = "";
      try {
        for await (const piece of response.setEncoding("utf8")) text += piece;
        resolve({ status: response.statusCode, headers: response.headers, text });
      } catch (error) {
        reject(error);
      }
    });
    call.on("error", reject).end(body);
  });

describe("the forwarder of a third-party agent", () => {
  it.each(["/anthropic/v1/messages", CHAT, "/openai/v1/responses"])(
    "forwards %s with the run's model",
    async (path) => {
      respond = (response) => response.end("ok");
      const members = { input: "é", model: "small" };
      expect(await post(`${path}?beta=true`, JSON.stringify(members))).toMatchObject({ status: 200, text: "ok" });
      expect(calls).toMatchObject([{ method: "POST", url: `/model${path}` }]);
      expect(JSON.parse(calls[0]?.body ?? "")).toEqual({ input: "é", model: "openai/x" });
    },
  );

  it("passes on the headers of the APIs only", async () => {
    respond = (response) => response.end();
    const passed = { "anthropic-version": "1", "anthropic-beta": "2", "openai-beta": "3" };
    await post(CHAT, "{}", { ...passed, authorization: "Bearer 1", "x-api-key": "of the agent", "x-other": "1" });
    const { host: _, connection: __, ...headers } = calls[0]?.headers ?? {};
    expect(headers).toEqual({
      ...passed,
      "content-type": "application/json",
      "content-length": "20",
      "x-api-key": "ryr_key",
      accept: "*/*",
      "accept-language": "*",
      "accept-encoding": expect.any(String),
      "sec-fetch-mode": "cors",
      "user-agent": "node",
    });
  });

  it("returns the status, the body and the headers that an agent needs", async () => {
    const shown = {
      "content-type": "text/plain",
      "retry-after": "1",
      "retry-after-ms": "2",
      "x-should-retry": "true",
      "request-id": "3",
      "x-request-id": "4",
      "runyard-dropped": "5",
    };
    respond = (response) => response.writeHead(418, { ...shown, "set-cookie": "a=b", "x-retry-after": "6" }).end("no");
    const { status, headers, text } = await post(CHAT, "{}");
    const { date: _, connection: __, "keep-alive": ___, "transfer-encoding": ____, ...own } = headers;
    expect({ status, headers: own, text }).toEqual({ status: 418, headers: shown, text: "no" });
    respond = (response) => response.writeHead(204).end();
    expect(await post(CHAT, "{}")).toMatchObject({ status: 204, text: "" });
  });

  it("translates calls of Google's API", async () => {
    const events = [{ choices: [{ delta: { content: "Hi" } }] }];
    respond = (response) => response.end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
    const body = JSON.stringify({ contents: [{ parts: [{ text: "a" }] }] });
    const { status, text } = await post("/gemini/v1beta/models/x:generateContent", body);
    expect([status, JSON.parse(text)]).toMatchObject([200, { candidates: [{ content: { parts: [{ text: "Hi" }] } }] }]);
    expect(calls[0]?.url).toBe(`/model${CHAT}`);
  });

  it("refuses other paths and bodies, as its APIs do", async () => {
    const refusal = (code: number, message: string) =>
      JSON.stringify({ error: { type: "invalid_request_error", code, message } });
    const { status, headers, text } = await post("/openai/v1/files", "{}");
    expect([status, headers["content-type"], text]).toEqual([
      404,
      "application/json",
      refusal(404, "POST /openai/v1/files is not supported"),
    ]);
    const invalid = refusal(400, "the body must be a JSON object of at most 8 MiB");
    for (const body of ["", "7", "null", "[]", "{"])
      expect(await post(CHAT, body)).toMatchObject({ status: 400, text: invalid });
    expect([calls, retries]).toEqual([[], []]);
  });

  it("accepts a body of 8 MiB, and none with one byte more", async () => {
    respond = (response) => response.end();
    const body = `{"a":"${"x".repeat(8 * 1024 * 1024 - 8)}"}`;
    expect([(await post(CHAT, body)).status, (await post(CHAT, `${body} `)).status]).toEqual([200, 400]);
    const blank = `{}${" ".repeat(8 * 1024 * 1024)}`;
    expect((await post(CHAT, blank)).status, "whose beginning would do").toBe(400);
  });

  it("reports failed calls that the agent may repeat, counted from the last success", async () => {
    for (const status of [408, 409, 429, 500, 529, 200, 503, 400, 499, 502]) {
      respond = (response) => response.writeHead(status).end();
      await post(CHAT, "{}");
    }
    respond = (response) => response.destroy();
    expect((await post(CHAT, "{}")).text).toMatch(/"code":502,"message":"the model gateway could not be reached: /);
    expect(retries).toEqual([
      ...[408, 409, 429, 500, 529].map((status, index) => ({ attempt: index + 1, reason: `status ${status}` })),
      { attempt: 1, reason: "status 503" },
      { attempt: 1, reason: "status 502" },
      { attempt: 2, reason: "fetch failed" },
    ]);
  });

  it("ends a response early that the gateway does not finish", async () => {
    respond = (response) => {
      response.writeHead(200, { "content-length": "9" }).write("half");
      setTimeout(() => response.destroy(), 20);
    };
    await expect(post(CHAT, "{}")).rejects.toThrow("aborted");
  });

  it("aborts its calls to the gateway when it is closed", async () => {
    let isEnded: (() => void) | undefined;
    const ended = new Promise<void>((resolve) => {
      isEnded = resolve;
    });
    respond = (response) => {
      response.on("close", () => isEnded?.());
      void forwarder[Symbol.asyncDispose]();
    };
    await expect(post(CHAT, "{}")).rejects.toThrow();
    await ended;
  });

  describe("the text of a response", () => {
    const EVENT = `data: ${JSON.stringify({ choices: [{ delta: { content: "é" } }] })}\n\n`;
    const stream = (type: string | undefined, status = 200) => {
      respond = (response) => {
        response.writeHead(status, type === undefined ? {} : { "content-type": type });
        const bytes = Buffer.from(EVENT);
        const half = bytes.indexOf(0xc3) + 1;
        response.write(bytes.subarray(0, half));
        setTimeout(() => response.end(bytes.subarray(half)), 20);
      };
    };

    it("is read for a call with tools, whose response stays the same", async () => {
      stream("text/event-stream; charset=utf-8", 201);
      const { status, text, headers } = await post(CHAT, '{"tools":[{}]}');
      expect([status, text, headers["content-type"]]).toEqual([201, EVENT, "text/event-stream; charset=utf-8"]);
      expect(texts).toEqual(["é"]);
    });

    it.each(["{}", '{"tools":[]}', '{"tools":{"length":1}}'])("is not read for a side task: %s", async (body) => {
      stream("text/event-stream");
      expect((await post(CHAT, body)).text).toBe(EVENT);
      expect(texts).toEqual([]);
    });

    it.each(["application/json", "x-text/event-stream", undefined])("is not read for the type %s", async (type) => {
      stream(type);
      expect((await post(CHAT, '{"tools":[{}]}')).text).toBe(EVENT);
      expect(texts).toEqual([]);
    });
  });
});
