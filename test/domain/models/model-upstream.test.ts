import * as v from "valibot";
import { describe, expect, it, vi } from "vitest";
import { RunyardError } from "#shared/errors.ts";
import { streamEvents } from "#shared/model-gateway/events.ts";
import { messages } from "#shared/model-gateway/messages-dialect.ts";
import { anthropic, openai } from "#shared/model-gateway/provider.ts";
import { withReadErrors } from "#shared/model-gateway/provider-response.ts";
import { failure, responseHeaders, toFailure } from "#shared/model-gateway/responses.ts";
import { callProvider, isUnsent, TimedOut, Unreached } from "#shared/model-gateway/upstream.ts";
import { NotConfigured } from "#shared/model-provider/model-provider.ts";

const call = () => ({ dialect: messages, request: { model: "m" }, headers: {}, signal: new AbortController().signal });
const Said = v.object({ error: v.object({ message: v.string() }) });
const withCode = (code: string) => Object.assign(new Error("failed"), { code });

/** Calls a provider that returns these responses in order, and then repeats the last one. */
async function attempt(responses: readonly (Response | Error)[], isBudgeted = false, givenUp?: AbortSignal) {
  const pauses: number[] = [];
  let attempts = 0;
  const provider = async () => {
    const response = responses[Math.min(attempts++, responses.length - 1)] ?? new Error("no response");
    if (response instanceof Error) throw response;
    return new Response("{}", response);
  };
  const sleep = async (milliseconds: number) => void pauses.push(milliseconds);
  const options = { sleep, givenUp: givenUp ?? new AbortController().signal, isBudgeted };
  const outcome = await callProvider(provider, call(), options).catch((error: unknown) => error);
  return { outcome, attempts, pauses };
}
const status = (code: number, headers = {}) => new Response("{}", { status: code, headers });

describe("callProvider", () => {
  it.each([408, 409, 429, 500, 502, 503, 504, 529])("repeats a call with status %i up to three times", async (code) => {
    const { outcome, attempts, pauses } = await attempt([status(code)]);
    expect([outcome instanceof Response && outcome.status, attempts]).toEqual([code, 4]);
    for (const [index, pause] of pauses.entries()) {
      expect(pause).toBeGreaterThanOrEqual(375 * 2 ** index);
      expect(pause).toBeLessThanOrEqual(625 * 2 ** index);
    }
  });

  it.each([200, 400, 401, 404, 413, 501])("returns status %i at once", async (code) => {
    expect((await attempt([status(code)])).attempts).toBe(1);
  });

  it("follows the provider's headers on retries and pauses", async () => {
    expect((await attempt([status(400, { "x-should-retry": "true" })])).attempts).toBe(4);
    expect((await attempt([status(500, { "x-should-retry": "false" })])).attempts).toBe(1);
    const headers = { "retry-after-ms": "5", "retry-after": "9" };
    expect((await attempt([status(429, headers), status(200)])).pauses).toEqual([5]);
    expect((await attempt([status(429, { "retry-after": "2" }), status(200)])).pauses).toEqual([2_000]);
    expect((await attempt([status(429, { "retry-after": "20" }), status(200)])).pauses).toEqual([20_000]);
    expect((await attempt([status(429, { "retry-after": "21" })])).attempts, "longer than the longest pause").toBe(1);
    const [pause = 0] = (await attempt([status(429, { "retry-after": "0", "retry-after-ms": "0" }), status(200)]))
      .pauses;
    expect(pause).toBeGreaterThanOrEqual(375);
  });

  it.each([
    "EAI_AGAIN",
    "ECONNREFUSED",
    "EHOSTUNREACH",
    "ENETUNREACH",
    "ENOTFOUND",
    "UND_ERR_CONNECT_TIMEOUT",
    "CERT_X",
  ])("repeats a call that was not sent, for %s, once", async (code) => {
    for (const isBudgeted of [false, true]) {
      const { outcome, attempts } = await attempt([withCode(code)], isBudgeted);
      expect([outcome, attempts]).toMatchObject([{ code }, 2]);
    }
  });

  it("repeats a call that may have been sent only without a budget", async () => {
    expect((await attempt([withCode("ECONNRESET")])).attempts).toBe(4);
    expect((await attempt([withCode("ECONNRESET")], true)).attempts).toBe(1);
    expect((await attempt([new TypeError("fetch failed", { cause: withCode("ENOTFOUND") })], true)).attempts).toBe(2);
  });

  it("is not made, or not repeated, for a caller that is gone", async () => {
    const { outcome, attempts } = await attempt([status(200)], true, AbortSignal.abort());
    expect([attempts, isUnsent(outcome)]).toEqual([0, true]);
    const gone = new AbortController();
    const provider = async () => {
      gone.abort();
      return status(503);
    };
    const options = { sleep: () => Promise.reject(new Error("waited")), givenUp: gone.signal, isBudgeted: false };
    expect((await callProvider(provider, call(), options)).status).toBe(503);
  });

  it("ends an attempt that does not begin to respond in time, and does not repeat it", async () => {
    let attempts = 0;
    const provider = ({ signal }: { signal: AbortSignal }) => {
      attempts++;
      return new Promise<Response>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    };
    const options = { sleep: async () => undefined, givenUp: new AbortController().signal, isBudgeted: false };
    const outcome = callProvider(provider, call(), { ...options, firstByteMs: 5 });
    await expect(outcome).rejects.toThrow(TimedOut);
    expect(attempts).toBe(1);
  });

  it("throws what a provider throws as an error", async () => {
    const provider = () => Promise.reject("a text");
    const options = { sleep: async () => undefined, givenUp: new AbortController().signal, isBudgeted: true };
    await expect(callProvider(provider, call(), options)).rejects.toThrow(new Error("a text"));
  });
});

it("isUnsent is true for errors from before the request was sent", () => {
  const credentials = Object.assign(new Error("x"), { name: "CredentialsProviderError" });
  for (const error of [new NotConfigured("x"), withCode("ERR_TLS_CERT"), withCode("DEPTH_ZERO_X"), credentials]) {
    expect(isUnsent(error)).toBe(true);
  }
  for (const error of [new Error("x"), withCode("X_CERT_"), withCode("EPIPE"), "ENOTFOUND", undefined]) {
    expect(isUnsent(error)).toBe(false);
  }
});

describe("streamEvents", () => {
  async function read(...pieces: readonly string[]) {
    const waiting = pieces.map((piece) => Buffer.from(piece, "latin1"));
    const events: unknown[] = [];
    const next = async () => {
      const value = waiting.shift();
      return value === undefined ? { done: true } : { done: false, value };
    };
    for await (const event of streamEvents(next)) events.push(event);
    return events;
  }

  it("reads events in pieces of any size, with any line ends", async () => {
    const text = 'event: a\ndata: {"x":1}\n\n: ping\n\ndata:one\r\ndata: two\r\n\r\n\n\n \n\ndata: [DONE]\n\n';
    const events = [
      { raw: 'event: a\ndata: {"x":1}', data: '{"x":1}' },
      { raw: ": ping", data: "" },
      { raw: "data:one\r\ndata: two", data: "one\ntwo" },
      { raw: "data: [DONE]", data: "[DONE]" },
    ];
    expect(await read(text)).toEqual(events);
    expect(await read(...text)).toEqual(events);
  });

  it("reads a character that is split between pieces", async () => {
    expect(await read("data: \xc3", "\xa9\n\n")).toEqual([{ raw: "data: é", data: "é" }]);
  });

  it("reads a last event without an empty line if it is complete, and no truncated one", async () => {
    expect(await read('data: {"a":1}\n')).toEqual([{ raw: 'data: {"a":1}', data: '{"a":1}' }]);
    expect(await read("data: [DONE]")).toEqual([{ raw: "data: [DONE]", data: "[DONE]" }]);
    expect(await read('data: {"a":')).toEqual([]);
    expect(await read("x: 1\n", "event: end")).toEqual([]);
  });

  it("throws for an event of more than 16 MiB", async () => {
    const piece = "x".repeat(8 * 1024 * 1024);
    await expect(read(piece, piece)).resolves.toEqual([]);
    await expect(read(piece, piece, "x")).rejects.toThrow("an event of the stream is too long");
  });
});

describe("a response of the gateway", () => {
  it("has the headers of the provider that concern the caller, and is not stored", () => {
    const passed = ["content-type", "retry-after", "retry-after-ms", "x-should-retry", "request-id", "x-request-id"];
    const headers = Object.fromEntries(
      [...passed, "set-cookie", "anthropic-organization-id"].map((name) => [name, "v"]),
    );
    const expected = Object.fromEntries([...passed.map((name) => [name, "v"]), ["cache-control", "no-store"]]);
    expect(responseHeaders(new Response("", { headers }))).toEqual(expected);
    expect(responseHeaders(new Response(null))).toEqual({ "cache-control": "no-store" });
  });

  /** Reads an error of a provider as the gateway does. */
  const readError = async (body: string | null, init: ResponseInit) => {
    const response = await withReadErrors(
      async () => new Response(body, init),
      { name: "anthropic" },
      messages,
    )(call());
    const { error } = v.parse(Said, await response.json());
    return { status: response.status, headers: response.headers, message: error.message };
  };

  it.each([401, 402, 403, 407])("does not look like an error of the run's key for %i, and is final", async (code) => {
    const { status, headers, message } = await readError("your key sk-1234567890 is invalid", { status: code });
    expect([status, headers.get("x-should-retry")]).toEqual([500, "false"]);
    expect(message).toContain(`anthropic returned ${code}: your key [redacted] is invalid. `);
  });

  it("says what the operator can do about that, if the provider's adapter knows it", async () => {
    const headers = { "runyard-remedy": "Enable the model." };
    expect((await readError("arn:aws:iam::1:role/x", { status: 403, headers })).message).toBe(
      "anthropic returned 403. Enable the model.",
    );
    expect((await readError("slow", { status: 429, headers })).message).toBe(
      "anthropic returned 429: slow. Enable the model.",
    );
  });

  it.each([
    ["3", {}, "3"],
    ["2.5s", {}, "2.5"],
    [null, { "retry-after-ms": "1500" }, "1.5"],
    ["soon", {}, "soon"],
  ])("has the time to wait in seconds for the header %j and %j", async (after, more, seconds) => {
    const headers = { ...more, ...(after === null ? {} : { "retry-after": after }) };
    const read = await readError("busy", { status: 429, headers: new Headers(Object.entries(headers)) });
    expect([read.status, read.headers.get("retry-after")]).toEqual([429, seconds]);
    expect(read.headers.get("x-should-retry")).toBeNull();
  });

  it("has the time to wait of a date, of the text, and of the details of an error", async () => {
    const date = new Date(Date.now() + 3_600_000).toUTCString();
    const inAnHour = await readError("busy", { status: 429, headers: { "retry-after": date } });
    expect(Number(inAnHour.headers.get("retry-after"))).toBeGreaterThan(3_000);
    const waitFor = async (body: object) =>
      (await readError(JSON.stringify(body), { status: 429 })).headers.get("retry-after");
    expect(await waitFor({ error: { message: "Please try again in 7.66s." } })).toBe("7.7");
    expect(await waitFor({ error: { message: "Please try again in 250ms." } })).toBe("0.3");
    expect(await waitFor({ error: { message: "slow", details: [{ retryDelay: "34s" }] } })).toBe("34");
    expect(await waitFor({ error: { message: "slow" } })).toBeNull();
  });

  it("names errors of the gateway, and details of none that it does not know", async () => {
    const shown = async (error: unknown) => {
      const response = toFailure(messages, error);
      const { error: said } = v.parse(Said, await response.json());
      return [
        response.status,
        said.message,
        response.headers.get("retry-after"),
        response.headers.get("cache-control"),
      ];
    };
    expect(await shown(new NotConfigured("no key"))).toEqual([500, "no key", null, "no-store"]);
    expect(await shown(new TimedOut("late"))).toEqual([504, "late", null, "no-store"]);
    const refused = new Unreached("compatible", new TypeError("http://secret", { cause: withCode("ECONNREFUSED") }));
    expect(await shown(refused)).toEqual([
      502,
      "compatible could not be reached (ECONNREFUSED). Check that its server runs, its address and the network.",
      null,
      "no-store",
    ]);
    expect(await shown(new Error("secret"))).toEqual([
      502,
      "the model's provider could not be reached",
      null,
      "no-store",
    ]);
    const busy = { status: 429, retryAfterSeconds: 2, detail: "wait" };
    expect(await shown(new RunyardError("resource_unavailable", busy))).toEqual([
      429,
      "resource_unavailable: wait",
      "2",
      "no-store",
    ]);
    const spent = new RunyardError("budget_exceeded", { detail: "nothing is left" });
    expect(await shown(spent)).toEqual([403, "budget_exceeded: nothing is left", null, "no-store"]);
    const unexplained = new RunyardError("internal_error");
    expect(await shown(unexplained)).toEqual([500, unexplained.message, "1", "no-store"]);
    const invalid = await shown(new RunyardError("invalid_request", { detail: "bad", retryAfterSeconds: 2 }));
    expect(invalid).toEqual([400, "bad", null, "no-store"]);
    expect(failure(messages, 418, "x", "budget_exceeded", 5).headers.get("retry-after")).toBe("5");
  });
});

describe("a provider", () => {
  it("is called below its base URL with its key, the caller's headers and no redirects", async () => {
    const sent: [string, RequestInit][] = [];
    vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
      sent.push([url, init]);
      return new Response("{}");
    });
    const modelCall = { ...call(), headers: { "anthropic-beta": "b", "x-api-key": "caller's" } };
    await anthropic("http://x.test/", async () => "key")(modelCall);
    await openai("http://x.test/v1", async () => "key")(modelCall);
    vi.unstubAllGlobals();
    const common = { "anthropic-version": "2023-06-01", "anthropic-beta": "b", "content-type": "application/json" };
    expect(sent.map(([url]) => url)).toEqual(["http://x.test/v1/messages", "http://x.test/v1/v1/messages"]);
    expect(sent.map(([, { headers }]) => headers)).toEqual([
      { ...common, "x-api-key": "key" },
      { ...common, "x-api-key": "caller's", authorization: "Bearer key" },
    ]);
    for (const [, { method, body, redirect, signal }] of sent) {
      expect([method, body, redirect, signal]).toEqual(["POST", '{"model":"m"}', "error", modelCall.signal]);
    }
  });

  it("is not called with a key that no header can have, and the error does not quote the key", async () => {
    for (const key of ["secret\nsecond line", "secret…"]) {
      for (const provider of [
        anthropic("http://127.0.0.1:1", async () => key),
        openai("http://127.0.0.1:1", async () => key),
      ]) {
        const error = await provider(call()).catch((thrown: unknown) => thrown);
        expect(error).toBeInstanceOf(NotConfigured);
        expect(String(error)).not.toContain("secret");
      }
    }
  });

  it("is not called without the key that the settings name", async () => {
    await expect(anthropic("http://x.test", async () => undefined)(call())).rejects.toThrow(NotConfigured);
    await expect(openai("http://x.test", async () => undefined)(call())).rejects.toThrow("not at the place");
  });
});
