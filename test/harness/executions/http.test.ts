import { execFile } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createControlPlane } from "#harness/control-plane/control-plane.ts";
import { withRetries } from "#harness/control-plane/http.ts";
import { FakeControlPlane, type ResponseBody } from "../../../lab/fake-control-plane.ts";

const given = { prompt: "hello" };
const alive = new AbortController().signal;

/** A control plane that returns these responses first, and its client. */
async function planeThatResponds(...responses: ResponseBody[]) {
  const plane = await FakeControlPlane.start(given);
  plane.intercept = () => responses.shift();
  return {
    plane,
    client: createControlPlane(plane.envelope, "instance-1", alive),
    [Symbol.asyncDispose]: () => plane[Symbol.asyncDispose](),
  };
}

/** Calls the control plane once in a separate process, and prints which of Node's own modules were loaded. */
const CALL_ONCE = `
  const { postJson } = await import("#harness/control-plane/http.ts");
  await postJson(process.argv[1] + "/harness-support/heartbeat", {}, "{}", AbortSignal.timeout(30_000));
  console.log(process.moduleLoadList.join(" "));
`;

describe("control plane client", () => {
  it("does not load undici, which costs more processor time than a whole call", async () => {
    await using plane = await FakeControlPlane.start(given);
    const args = ["--input-type=module", "--eval", CALL_ONCE, plane.envelope.base_url];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: process.cwd() });
    expect(plane.calls).toHaveLength(1);
    expect(stdout).toContain("NativeModule _http_client");
    expect(stdout).not.toContain("undici/undici");
  });

  it("identifies itself on every call", async () => {
    await using it = await planeThatResponds();
    await it.client.resolvePrompt();
    await it.client.heartbeat(0);
    for (const { headers } of it.plane.calls) {
      expect(headers).toMatchObject({
        authorization: `Bearer ${it.plane.key}`,
        "runyard-instance": "instance-1",
        "runyard-protocol": "1",
      });
    }
  });

  it.each([500, 502, 503, 408])("repeats a call that returned %i", async (status) => {
    await using it = await planeThatResponds({ status }, { status });
    await it.client.heartbeat(3);
    expect(it.plane.calls.map((call) => call.body["followups_stored"])).toEqual([3, 3, 3]);
  });

  it("waits as long as the server requests", async () => {
    await using it = await planeThatResponds({ status: 429, headers: { "retry-after": "1" } });
    await it.client.heartbeat(0);
    const [first, second] = it.plane.calls;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(990);
  });

  it("follows a response's retryable member", async () => {
    await using lost = await planeThatResponds({ status: 409, headers: { "x-should-retry": "true" } });
    await lost.client.heartbeat(0);
    expect(lost.plane.calls).toHaveLength(2);
    await using final = await planeThatResponds({ status: 429, headers: { "x-should-retry": "false" } });
    await expect(final.client.heartbeat(0)).rejects.toMatchObject({ kind: "unreachable" });
    expect(final.plane.calls).toHaveLength(1);
  });

  it("treats 401 as the end of its execution and does not retry", async () => {
    await using it = await planeThatResponds({ status: 401, headers: { "x-should-retry": "true" } });
    await expect(it.client.sendMessages(1, [])).rejects.toMatchObject({ kind: "stale" });
    expect(it.plane.calls).toHaveLength(1);
  });

  it.each([401, 403, 409])("treats %i on its first call as another harness's execution", async (status) => {
    await using it = await planeThatResponds({ status, headers: { "x-should-retry": "false" } });
    await expect(it.client.resolvePrompt()).rejects.toMatchObject({ kind: "taken" });
  });

  it("stops at an invalid response", async () => {
    await using it = await planeThatResponds({ status: 200, body: { followups: "none" } });
    await expect(it.client.heartbeat(0)).rejects.toMatchObject({ kind: "unreachable" });
  });
});

describe("withRetries", () => {
  const read = () => ({ status: 503, header: () => undefined });
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  it("gives up after its time limit, with the last attempt's error", async () => {
    const limits = { giveUpAfterMs: 150, attemptMs: 1000 };
    await expect(withRetries("/beat", async () => 1, read, limits)).rejects.toThrow(
      "/beat could not be called: status 503",
    );
    const broken = async () => Promise.reject(new Error("connection refused"));
    await expect(withRetries("/beat", broken, read, limits)).rejects.toThrow("connection refused");
  });

  it("stops waiting with the execution's reason", async () => {
    const stop = new AbortController();
    setTimeout(() => stop.abort(new Error("cancelled")), 20);
    const limits = { giveUpAfterMs: 60_000, attemptMs: 1000, signal: stop.signal };
    await expect(withRetries("/beat", async () => 1, read, limits)).rejects.toThrow("cancelled");
  });

  it.each([
    [200, "true", 1],
    [399, undefined, 1],
    [400, undefined, 1],
    [401, "true", 1],
    [404, "true", 2],
    [404, undefined, 1],
    [407, undefined, 1],
    [408, undefined, 2],
    [409, undefined, 1],
    [428, undefined, 1],
    [429, undefined, 2],
    [429, "false", 1],
    [430, undefined, 1],
    [499, undefined, 1],
    [500, undefined, 2],
    [500, "false", 1],
    [500, "yes", 1],
    [599, undefined, 2],
  ])("with status %i and x-should-retry %s makes %i calls", async (status, advice, calls) => {
    vi.spyOn(Math, "random").mockReturnValue(0);
    let count = 0;
    const attempt = async () => (++count === 1 ? status : 200);
    const readStatus = (found: number) => ({
      status: found,
      header: (name: string) => (name === "x-should-retry" && found !== 200 ? advice : undefined),
    });
    const limits = { giveUpAfterMs: 60_000, attemptMs: 60_000 };
    expect(await withRetries("/beat", attempt, readStatus, limits)).toBe(calls === 1 ? status : 200);
    expect(count).toBe(calls);
  });

  describe("with a stopped clock", () => {
    beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: 1_000_000 }));

    /** Counts the attempts that fail before the total time is over. */
    async function countAttempts(giveUpAfterMs: number, random: number, retryAfter?: string): Promise<number> {
      const chance = vi.spyOn(Math, "random").mockReturnValue(random);
      // The delay after the second attempt is longer than the total time.
      if (retryAfter !== undefined) chance.mockReturnValueOnce(random).mockReturnValue(1);
      let count = 0;
      const attempt = async () => ++count;
      const readHeader = () => ({
        status: 503,
        header: (name: string) => (name === "retry-after" && count === 1 ? retryAfter : undefined),
      });
      const limits = { giveUpAfterMs, attemptMs: 60_000 };
      await expect(withRetries("/beat", attempt, readHeader, limits)).rejects.toThrow("status 503");
      return count;
    }

    it("doubles the delay from 200 ms up to 8 s, minus a random part", async () => {
      expect(await countAttempts(199, 1)).toBe(1);
      expect(await countAttempts(200, 1)).toBe(2);
      expect(await countAttempts(7.9, 0.001)).toBe(7);
      expect(await countAttempts(-1, 0)).toBe(1);
    });

    it.each([
      ["0.05", 0, 49, 1],
      ["0.05", 0, 50, 2],
      ["0", 1, 249, 1],
      ["0", 1, 250, 2],
      ["-1", 1, 100, 1],
      ["soon", 1, 100, 1],
    ])(
      "follows retry-after %j plus a random part (%d) of up to 250 ms: within %d ms makes %i attempts",
      async (retryAfter, random, within, attempts) => {
        expect(await countAttempts(within, random, retryAfter)).toBe(attempts);
      },
    );
  });

  it("aborts an attempt at its time limit and retries", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0);
    let count = 0;
    const attempt = async (signal: AbortSignal) => {
      if (++count === 2) return 200;
      await once(signal, "abort");
      throw signal.reason;
    };
    const readStatus = (status: number) => ({ status, header: () => undefined });
    expect(await withRetries("/beat", attempt, readStatus, { giveUpAfterMs: 60_000, attemptMs: 20 })).toBe(200);
  });

  it("aborts the current attempt when the execution ends", async () => {
    const stop = new AbortController();
    const ended: boolean[] = [];
    const attempt = async (signal: AbortSignal) => {
      stop.abort(new Error("cancelled"));
      ended.push(signal.aborted);
      throw new Error("broken off");
    };
    const limits = { giveUpAfterMs: 60_000, attemptMs: 60_000, signal: stop.signal };
    await expect(withRetries("/beat", attempt, read, limits)).rejects.toThrow("cancelled");
    expect(ended).toEqual([true]);
  });

  it("makes no attempt once the execution is over", async () => {
    let count = 0;
    const limits = { giveUpAfterMs: 60_000, attemptMs: 1_000, signal: AbortSignal.abort(new Error("cancelled")) };
    await expect(withRetries("/beat", async () => ++count, read, limits)).rejects.toThrow("cancelled");
    expect(count).toBe(0);
  });

  it("names the cause of a failed attempt if there is one", async () => {
    const fail = (reason: unknown) =>
      withRetries("/beat", () => Promise.reject(reason), read, { giveUpAfterMs: -1, attemptMs: 1_000 });
    const error = new Error("fetch failed", { cause: new Error("refused") });
    await expect(fail(error)).rejects.toThrow("/beat could not be called: refused");
    await expect(fail("text")).rejects.toThrow("/beat could not be called: no response");
  });
});
