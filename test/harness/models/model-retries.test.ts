import { ContextWindowOverflowError } from "@strands-agents/sdk";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FailedResponse } from "#harness/agent/dialects/events.ts";
import { ModelRetries, toFailure } from "#harness/agent/failures.ts";
import type { ModelRetry } from "#harness/reporting/retry-reporter.ts";

/** Exposes the decision about a failed call. */
class ShownRetries extends ModelRetries {
  decide(error: Error, attemptCount: number) {
    return this.computeRetryDecision({ error, attemptCount });
  }
}

/** An error of a provider's SDK. */
const failure = (status: number, retryAfter?: string) =>
  Object.assign(new Error("no"), {
    status,
    headers: new Headers(retryAfter === undefined ? {} : { "retry-after": retryAfter }),
  });

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: 1_000_000 });
  vi.spyOn(Math, "random").mockReturnValue(1);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

function start(signal = new AbortController().signal) {
  const reported: ModelRetry[] = [];
  return { reported, retries: new ShownRetries(signal, (retry) => void reported.push(retry)) };
}

const NONE = { retry: false };
const pause = (waitMs: number) => ({ retry: true, waitMs });

describe("ModelRetries", () => {
  it("doubles the pause from 500 ms up to a minute, minus a random part, and makes ten attempts", () => {
    const { retries } = start();
    const pauses = Array.from({ length: 10 }, (_, index) => retries.decide(failure(529), index + 1));
    expect(pauses).toEqual([...[500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000].map(pause), NONE]);
    vi.spyOn(Math, "random").mockReturnValue(0.5);
    expect(retries.decide(failure(529), 2)).toEqual(pause(750));
    vi.spyOn(Math, "random").mockReturnValue(0);
    expect(retries.decide(failure(529), 2)).toEqual(pause(500));
  });

  it("waits as long as the provider requests, up to two minutes", () => {
    const { retries } = start();
    const pauses = ["0.1", "3", "120", "120.001", "-1", "soon"].map((retryAfter) =>
      retries.decide(failure(429, retryAfter), 1),
    );
    expect(pauses).toEqual([pause(500), pause(3_000), pause(120_000), NONE, pause(500), pause(500)]);
  });

  it("ends five minutes after the first failure in a row", () => {
    const { retries } = start();
    retries.decide(failure(529), 1);
    vi.setSystemTime(1_000_000 + 299_000);
    expect(retries.decide(failure(529), 2)).toEqual(pause(1_000));
    vi.setSystemTime(1_000_000 + 299_001);
    expect(retries.decide(failure(529), 2)).toEqual(NONE);
    expect(retries.decide(failure(529), 1)).toEqual(pause(500));
  });

  it("reports each attempt with its reason and pause", () => {
    const { retries, reported } = start();
    vi.spyOn(Math, "random").mockReturnValue(0.123_45);
    retries.decide(failure(529), 1);
    retries.decide(new Error("cut"), 2);
    expect(reported).toEqual([
      { attempt: 1, of: 10, reason: "no", nextInMs: 281 },
      { attempt: 2, of: 10, reason: "cut", nextInMs: 562 },
    ]);
  });

  it("does not retry a permanent failure, or after the turn is over", () => {
    const { retries, reported } = start();
    const errors = [failure(400), failure(401), failure(499), new ContextWindowOverflowError("too long")];
    expect(errors.map((error) => retries.decide(error, 1))).toEqual([NONE, NONE, NONE, NONE]);
    expect([408, 409, 429, 500].map((status) => retries.decide(failure(status), 1).retry)).toEqual([
      ...[true, true, true, true],
    ]);
    const over = start(AbortSignal.abort());
    expect(over.retries.decide(failure(529), 1)).toEqual(NONE);
    expect([reported.length, over.reported]).toEqual([4, []]);
  });
});

describe("toFailure", () => {
  const wrap = (cause: unknown, depth = 1): unknown =>
    depth === 0 ? cause : new Error("wrapped", { cause: wrap(cause, depth - 1) });

  it.each([
    [408, true],
    [409, true],
    [429, true],
    [500, true],
    [599, true],
    [400, false],
    [410, false],
    [428, false],
    [430, false],
    [499, false],
  ])("has status %i, which is retryable: %j", (status, isRetryable) => {
    expect(toFailure(failure(status))).toStrictEqual({ status, message: "no", isRetryable });
  });

  it("has the first status among the causes, and the pause that comes with it", () => {
    const expected = { status: 429, message: "no", isRetryable: true, requestedPauseMs: 1_500 };
    const none = Object.assign(new Error("connection"), { status: undefined, cause: failure(429, "1.5") });
    expect([failure(429, "1.5"), none, wrap(none), wrap(failure(429, "1.5"), 9)].map(toFailure)).toStrictEqual([
      ...[expected, expected, expected, expected],
    ]);
    expect(toFailure(wrap(failure(429), 10))).toStrictEqual({ message: "wrapped", isRetryable: true });
    expect(toFailure(failure(503, "0"))).toMatchObject({ requestedPauseMs: 0 });
    expect(toFailure(Object.assign(new Error("no"), { status: 500, headers: { "retry-after": "1" } }))).toStrictEqual({
      ...{ status: 500, message: "no", isRetryable: true },
    });
  });

  it.each([
    [{ message: "outer" }, "outer"],
    [{ message: "outer", error: { message: "inner" } }, "inner"],
    [{ error: { message: "inner", error: { message: "deeper" } } }, "inner"],
    [{ message: 7 }, "no"],
    [{ error: null }, "no"],
    [null, "no"],
    ["text", "no"],
  ])("has the message of the provider in %j", (error, message) => {
    expect(toFailure(Object.assign(new Error("no"), { status: 400, error }))).toMatchObject({ message });
  });

  it.each([
    ...["invalid_request_error", "authentication_error", "permission_error", "not_found_error"],
    ...["context_length_exceeded", "content_policy_violation"],
  ])("does not retry a response that fails with %s", (kind) => {
    expect(toFailure(wrap(new FailedResponse(kind, "no")))).toStrictEqual({ message: "no", isRetryable: false });
    expect(toFailure(new FailedResponse("overloaded_error", "no"))).toStrictEqual({ message: "no", isRetryable: true });
  });

  it("has the message of the last cause of another error", () => {
    expect(toFailure(wrap(new Error("reset")))).toStrictEqual({ message: "reset", isRetryable: true });
    expect(toFailure(wrap("text"))).toStrictEqual({ message: "wrapped", isRetryable: true });
    expect(toFailure("text")).toStrictEqual({ message: "text", isRetryable: true });
  });
});
