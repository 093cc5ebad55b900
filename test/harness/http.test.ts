import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { createControlPlane } from "#harness/control-plane/control-plane.ts";
import { withRetries } from "#harness/control-plane/http.ts";
import { type Answer, FakeControlPlane } from "./support/fake-control-plane.ts";

const given = { prompt: "hello" };
const alive = new AbortController().signal;

/** A control plane that gives these answers first, and its client. */
async function planeThatAnswers(...answers: Answer[]) {
  const plane = await FakeControlPlane.start(given);
  plane.intercept = () => answers.shift();
  return {
    plane,
    client: createControlPlane(plane.envelope, "instance-1", alive),
    [Symbol.asyncDispose]: () => plane[Symbol.asyncDispose](),
  };
}

/** Calls the control plane once in a process of its own, and prints which of Node's own modules were loaded. */
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
    await using it = await planeThatAnswers();
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
    await using it = await planeThatAnswers({ status }, { status });
    await it.client.heartbeat(3);
    expect(it.plane.calls.map((call) => call.body["followups_stored"])).toEqual([3, 3, 3]);
  });

  it("waits as long as the server asks", async () => {
    await using it = await planeThatAnswers({ status: 429, headers: { "retry-after": "1" } });
    await it.client.heartbeat(0);
    const [first, second] = it.plane.calls;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(990);
  });

  it("follows a response's retryable member", async () => {
    await using lost = await planeThatAnswers({ status: 409, headers: { "x-should-retry": "true" } });
    await lost.client.heartbeat(0);
    expect(lost.plane.calls).toHaveLength(2);
    await using final = await planeThatAnswers({ status: 429, headers: { "x-should-retry": "false" } });
    await expect(final.client.heartbeat(0)).rejects.toMatchObject({ kind: "unreachable" });
    expect(final.plane.calls).toHaveLength(1);
  });

  it("treats 401 as the end of its execution and does not retry", async () => {
    await using it = await planeThatAnswers({ status: 401, headers: { "x-should-retry": "true" } });
    await expect(it.client.sendMessages(1, [])).rejects.toMatchObject({ kind: "stale" });
    expect(it.plane.calls).toHaveLength(1);
  });

  it.each([401, 403, 409])("treats %i on its first call as another harness's execution", async (status) => {
    await using it = await planeThatAnswers({ status, headers: { "x-should-retry": "false" } });
    await expect(it.client.resolvePrompt()).rejects.toMatchObject({ kind: "taken" });
  });

  it("stops at an invalid response", async () => {
    await using it = await planeThatAnswers({ status: 200, body: { followups: "none" } });
    await expect(it.client.heartbeat(0)).rejects.toMatchObject({ kind: "unreachable" });
  });
});

describe("withRetries", () => {
  const read = () => ({ status: 503, header: () => undefined });

  it("gives up after its time, with the last attempt's error", async () => {
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
});
