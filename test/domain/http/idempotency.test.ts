import { describe, expect, it } from "vitest";
import { RunyardError } from "#shared/errors.ts";
import { canonicalJson } from "#shared/idempotency/canonical-json.ts";
import { markOriginal, putRecord, readRecord, recordKey } from "#shared/idempotency/idempotency-store.ts";
import { IdempotencyRecordExists, runIdempotent, toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { sha256 } from "#shared/ids.ts";
import { memoryTable } from "#shared/table/memory-table.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type ResponseBody, type TestControlPlane } from "../../support/control-plane.ts";
import { deliver, workingRun } from "../../support/execution.ts";
import { readState } from "../../support/look.ts";

const keyed = (key: string, more: Record<string, string> = {}) => ({ headers: { "idempotency-key": key, ...more } });
const retry = (count: number) => ({ headers: { "x-stainless-retry-count": String(count) } });
const listRuns = (plane: TestControlPlane) => plane.table.all().filter(({ sk }) => sk === "HEAD");
const isReplay = ({ headers }: ResponseBody) => headers["idempotent-replay"] === "true";
const create = (client: Client, options = {}, body: unknown = { prompt: "hello" }) =>
  client.post("/agent/runs", body, options);

describe("with an Idempotency-Key", () => {
  // @contract runs.idempotency.replay: A repeat with the same key returns the run of the first attempt, marked by Idempotent-Replay.
  it("twenty equal concurrent creates create one run, and all return it", async () => {
    const plane = await createTestControlPlane();
    const responses = await Promise.all(Array.from({ length: 20 }, () => create(createClient(plane), keyed("k"))));
    expect(listRuns(plane)).toHaveLength(1);
    expect(new Set(responses.map(({ body }) => body.run_id))).toEqual(
      new Set([listRuns(plane)[0]?.pk.slice("RUN#".length)]),
    );
    expect(responses.filter(isReplay)).toHaveLength(19);
    expect(await plane.table.get({ pk: `TEAM#${plane.team}`, sk: "COUNTERS" })).toMatchObject({ queued: 1 });
    await deliver(plane);
    expect(plane.started).toHaveLength(1);
  });

  // @contract runs.idempotency.paths: Both create paths share their keys.
  // @contract runs.idempotency.replay
  it("a repeat returns the first response, on either path", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const first = await create(user, keyed("k"));
    expect(isReplay(first)).toBe(false);
    await deliver(plane);
    const again = await user.post("/agent/run", { prompt: "hello" }, keyed("k"));
    expect(isReplay(again)).toBe(true);
    expect(again.body).toEqual(first.body);
  });

  // @contract errors.conflict.idempotency: The conflict of an idempotency key with another body is not retryable.
  // @contract runs.idempotency.mismatch: The same key with another body is 409, not retryable.
  // @contract runs.idempotency.canonical: Bodies are the same if their canonical JSON and the source header are.
  it("bodies are equal if they are equal as canonical JSON, with the same source", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const first = await create(user, keyed("k"), '{"prompt":"a","metadata":{"x":"1","y":"2"},"config":{"name":"n"}}');
    const same = await create(
      user,
      keyed("k"),
      ' { "config":{"name":"\\u006e"}, "metadata":{"y":"2","x":"1"},\n"prompt":"a"}',
    );
    expect(same.body.run_id).toBe(first.body.run_id);
    for (const other of [
      await create(user, keyed("k"), { prompt: "a" }),
      await create(user, keyed("k"), { prompt: "a", metadata: { x: "1", y: "2" }, config: { name: "N" } }),
      await create(user, keyed("k", { "x-run-source": "CLI" }), {
        prompt: "a",
        metadata: { x: "1", y: "2" },
        config: { name: "n" },
      }),
    ]) {
      expect(other).toMatchObject({ status: 409, body: { error_code: "conflict", retryable: false } });
      expect(other.headers).not.toHaveProperty("retry-after");
    }
    expect(listRuns(plane)).toHaveLength(1);
  });

  // @contract runs.idempotency.kept: A key is kept for 24 hours.
  it("is kept for 24 hours", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const first = await create(user, keyed("k"));
    plane.clock.now += 24 * 3_600_000;
    expect((await create(user, keyed("k"))).body.run_id).toBe(first.body.run_id);
    plane.clock.now += 1;
    const later = await Promise.all(
      Array.from({ length: 5 }, () => create(user, keyed("k"), { prompt: "another body" })),
    );
    expect(new Set(later.map(({ body }) => body.run_id)).size).toBe(1);
    expect(later[0]?.body.run_id).not.toBe(first.body.run_id);
  });

  // @contract runs.idempotency.scope: A key is separate for each principal and team.
  it("is separate for each principal and team", async () => {
    const plane = await createTestControlPlane();
    const mia = await plane.person("Mia", [plane.team, plane.otherTeam]);
    const agent = await plane.agent();
    const run = await workingRun(plane);
    const responses = [
      await create(createClient(plane), keyed("k")),
      await create(createClient(plane, mia.key), keyed("k", { "x-team-uid": plane.team })),
      await create(createClient(plane, mia.key), keyed("k", { "x-team-uid": plane.otherTeam })),
      await create(createClient(plane, agent.key), keyed("k")),
      await create(createClient(plane, run.key), keyed("k")),
    ];
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(new Set(responses.map(({ body }) => body.run_id)).size).toBe(5);
  });

  // @contract runs.idempotency.refused: A refused request leaves its key free.
  it("is free after a refused request", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    expect((await create(user, keyed("k"), { prompt: "" })).status).toBe(400);
    expect((await create(user, keyed("k"), { prompt: "a", conversation_id: "none" })).status).toBe(400);
    expect((await create(user, keyed("k"))).status).toBe(200);
  });

  it("of one operation does not affect another", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const { body } = await create(user, keyed("k"));
    expect((await user.post(`/agent/runs/${body.run_id}/followups`, { message: "m" }, keyed("k"))).status).toBe(200);
    expect((await user.post(`/agent/runs/${body.run_id}/cancel`, undefined, keyed("k"))).status).toBe(200);
  });

  // @contract runs.idempotency.length: A key has at most 255 characters.
  it("of 255 characters is accepted, also if a run's key names any team", async () => {
    const plane = await createTestControlPlane();
    expect((await create(createClient(plane), keyed("~".repeat(255)))).status).toBe(200);
    const run = await workingRun(plane);
    expect((await create(createClient(plane, run.key), keyed("k", { "x-team-uid": "t".repeat(5_000) }))).status).toBe(
      200,
    );
  });
});

describe("without a key", () => {
  // @contract general.clients.retries: A request repeated with x-stainless-retry-count has its effect once.
  // @contract runs.retry.create: Without a key, a retried create within ten minutes returns the run of the first attempt.
  it("a retried request finds the run of its first attempt", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const first = await create(user, retry(0));
    for (const count of [1, 2]) expect((await create(user, retry(count))).body.run_id).toBe(first.body.run_id);
    expect(listRuns(plane)).toHaveLength(1);
  });

  // @contract runs.retry.create
  it("a retry that overtakes its first attempt creates the run, and the first attempt finds it", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const repeat = await create(user, retry(1));
    const original = await create(user, retry(0));
    expect(original.body.run_id).toBe(repeat.body.run_id);
    expect(isReplay(original)).toBe(true);
    const another = await create(user, retry(0));
    expect(another.body.run_id, "the next that is no repeat is a request of its own").not.toBe(repeat.body.run_id);
    expect((await create(user, retry(1))).body.run_id).toBe(another.body.run_id);
  });

  // @contract runs.retry.create
  it("one first attempt and nineteen concurrent retries create one run, in any order", async () => {
    for (let round = 0; round < 5; round++) {
      const plane = await createTestControlPlane();
      const first = round * 4;
      const responses = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          create(createClient(plane), retry(index === first ? 0 : 1 + (index % 2))),
        ),
      );
      expect(responses.map(({ status }) => status)).toEqual(Array(20).fill(200));
      expect(listRuns(plane)).toHaveLength(1);
    }
  });

  // @contract runs.idempotency.optional
  it("equal requests that are not retries create separate runs", async () => {
    const plane = await createTestControlPlane();
    await Promise.all(Array.from({ length: 5 }, () => create(createClient(plane))));
    expect(listRuns(plane)).toHaveLength(5);
  });

  // @contract runs.retry.create
  it("a retry after more than ten minutes is a new request", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const first = await create(user, retry(0));
    plane.clock.now += 600_000;
    expect((await create(user, retry(1))).body.run_id).toBe(first.body.run_id);
    plane.clock.now += 1;
    expect((await create(user, retry(2))).body.run_id).not.toBe(first.body.run_id);
  });

  it("a retry with another body is a new request", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const first = await create(user, retry(0));
    const other = await create(user, retry(1), { prompt: "other" });
    expect(other.status).toBe(200);
    expect(other.body.run_id).not.toBe(first.body.run_id);
  });

  // @contract runs.retry.followup: Also without a key, a retried follow-up is delivered once.
  it("a retried follow-up is delivered once, and restarts an ended run once", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const harness = await workingRun(plane);
    await harness.finish();
    const send = (count: number) =>
      user.post(`/agent/runs/${harness.run_id}/followups`, { message: "more" }, retry(count));
    const responses = await Promise.all([send(1), send(0), send(2)]);
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await readState(plane, harness.run_id)).toBe("QUEUED");
    expect((await plane.ports.runs.head(harness.run_id))?.followups).toBe(1);
  });
});

describe("idempotency records", () => {
  it("have the time at which the table may delete them", async () => {
    const plane = await createTestControlPlane();
    await create(createClient(plane), keyed("k"));
    await create(createClient(plane), retry(0));
    const seconds = plane.table
      .all()
      .flatMap((item) => (item.sk === "IDEM" ? [Number(item["expires_at"]) - plane.clock.now / 1_000] : []));
    expect(seconds).toEqual([24 * 3_600, 600]);
  });
});

describe("the identity of a request", () => {
  const principal = {
    kind: "agent",
    identity: { uid: "i", name: "builder" },
    team: "t",
    teamItem: { uid: "t", name: "Alpha", created_at: 1 },
    credential: { kind: "key", hash: "h", usedAt: undefined, expiresAt: undefined },
    maxBudgetUsd: undefined,
  } as const;
  const identify = (headers: Record<string, string> = {}, content: unknown = { b: 1, a: [{ d: 2, c: 3 }] }) =>
    toIdempotentRequest((name) => headers[name], principal, "op", content);
  const hash = sha256('{"a":[{"c":3,"d":2}],"b":1}');

  it("is its key, or its content as canonical JSON, for its caller, team and operation", () => {
    const record = (team: string, name: string) => recordKey(`identity:i#${team}`, "op", name);
    expect(identify()).toEqual({ record: record("", `body:${hash}`), hash, keyed: false, repeat: false });
    expect(identify({ "idempotency-key": "k", "x-team-uid": "t", "x-warp-team-uid": "u" })).toEqual({
      record: record("t", `key:${sha256("k")}`),
      hash,
      keyed: true,
      repeat: false,
    });
    expect(identify({ "x-warp-team-uid": "u" }).record).toEqual(record("u", `body:${hash}`));
    expect(identify({}, { a: [{ c: 3, d: 2 }], b: 1 }).hash).toBe(hash);
    expect(identify({}, { a: [{ c: 3, d: 2 }], b: 2 }).hash).not.toBe(hash);
    expect(canonicalJson({ b: null, a: undefined, c: [2, 1] })).toBe('{"b":null,"c":[2,1]}');
  });

  it.each([
    ["0", false],
    ["1", true],
    ["12", true],
    ["00", false],
  ])("with %s retries is a repeat: %j", (count, isRepeat) => {
    expect(identify({ "x-stainless-retry-count": count }).repeat).toBe(isRepeat);
  });

  it.each([
    [{ "idempotency-key": "~ ".repeat(127) }, undefined],
    [{ "idempotency-key": "~".repeat(256) }, "Idempotency-Key"],
    [{ "idempotency-key": "" }, "Idempotency-Key"],
    [{ "idempotency-key": "é" }, "Idempotency-Key"],
    [{ "idempotency-key": "aé" }, "Idempotency-Key"],
    [{ "idempotency-key": "éa" }, "Idempotency-Key"],
    [{ "x-stainless-retry-count": "1x" }, "x-stainless-retry-count"],
    [{ "x-stainless-retry-count": "x1" }, "x-stainless-retry-count"],
    [{ "x-stainless-retry-count": "" }, "x-stainless-retry-count"],
  ] as const)("with the headers %j is refused because of %s", (headers, path) => {
    if (path === undefined) expect(identify(headers).keyed).toBe(true);
    else
      expect(() => identify(headers)).toThrow(expect.objectContaining({ errors: [expect.objectContaining({ path })] }));
  });
});

describe("runIdempotent", () => {
  const HASH = sha256("content");
  const toRequest = (more: object = {}) => ({
    record: recordKey("p", "op", "n"),
    hash: HASH,
    keyed: true,
    repeat: false,
    ...more,
  });
  /** Runs a request against the records of a table; `calls` are the attempts at it, and the results that were replayed. */
  function createRunner(fail?: () => Error) {
    const table = memoryTable();
    const calls: string[] = [];
    const clock = { now: 1_000 };
    const run = (once = toRequest(), options?: { readonly checkFirst?: boolean }) =>
      runIdempotent(
        table,
        once,
        () => clock.now,
        async (record) => {
          calls.push("first");
          const error = fail?.();
          if (error !== undefined) throw error;
          await table.write(record("result")).catch(() => {
            throw new IdempotencyRecordExists();
          });
          return "made";
        },
        async (result) => {
          calls.push(result);
          return "replayed";
        },
        ...(options === undefined ? [] : [options]),
      );
    const store = (hash: string, original = true) =>
      table.write(putRecord(toRequest().record, { hash, result: "stored", original, made_at: clock.now }, 60, "none"));
    return { table, calls, clock, run, store };
  }

  it.each([
    ["a first attempt without a key", { keyed: false }, []],
    ["a request with a key", {}, ["read"]],
    ["a retry without a key", { keyed: false, repeat: true }, ["read"]],
  ])("with checkFirst, reads a record before the work for %s: %j has %j", async (_, more, reads) => {
    const { table, calls, run } = createRunner();
    const { get } = table;
    table.get = (key) => {
      calls.push("read");
      return get(key);
    };
    expect(await run(toRequest(more), { checkFirst: true })).toBe("made");
    expect(calls).toEqual([...reads, "first"]);
  });
  const refused = () => new RunyardError("conflict", { detail: "refused" });

  it("tries a request before it looks for its record, unless checkFirst is set", async () => {
    for (const [once, options, calls] of [
      [toRequest(), undefined, ["first", "stored"]],
      [toRequest(), { checkFirst: true }, ["stored"]],
      [toRequest({ keyed: false, repeat: true }), { checkFirst: true }, ["stored"]],
      [toRequest({ keyed: false, repeat: true }), { checkFirst: false }, ["first", "stored"]],
    ] as const) {
      const runner = createRunner();
      await runner.store(HASH);
      expect(await runner.run(once, options)).toBe("replayed");
      expect(runner.calls).toEqual(calls);
    }
    const fresh = createRunner();
    expect(await fresh.run(toRequest(), { checkFirst: true })).toBe("made");
    expect(fresh.calls).toEqual(["first"]);
    const plain = createRunner();
    expect(await plain.run(toRequest({ keyed: false }), { checkFirst: true })).toBe("made");
    expect(plain.calls).toEqual(["first"]);
  });

  it("returns the first request's result for a refused repeat with the same content", async () => {
    for (const [once, hash, isReplayed] of [
      [toRequest(), HASH, true],
      [toRequest({ keyed: false, repeat: true }), HASH, true],
      [toRequest({ keyed: false }), HASH, false],
      [toRequest(), "another", false],
      [toRequest(), undefined, false],
    ] as const) {
      const runner = createRunner(refused);
      if (hash !== undefined) await runner.store(hash);
      const outcome = await runner.run(once).catch((error: RunyardError) => error.detail);
      expect(outcome).toBe(isReplayed ? "replayed" : "refused");
      expect(runner.calls).toEqual(isReplayed ? ["first", "stored"] : ["first"]);
    }
    const late = createRunner(refused);
    await late.store(HASH);
    late.clock.now += 24 * 3_600_000 + 1;
    await expect(late.run()).rejects.toThrow("refused");
  });

  it("passes on other errors, and refuses different content under the same key", async () => {
    const broken = createRunner(() => new TypeError("broken"));
    await broken.store(HASH);
    await expect(broken.run()).rejects.toThrow("broken");
    const other = createRunner();
    await other.store("another");
    await expect(other.run()).rejects.toMatchObject({
      code: "conflict",
      retryable: false,
      detail: "Idempotency-Key: was used with another body; use a new key for a new request",
    });
  });

  it("gives up after five attempts, with an error that is retryable", async () => {
    const runner = createRunner(() => new IdempotencyRecordExists());
    await expect(runner.run()).rejects.toMatchObject({ code: "conflict", retryable: true });
    expect(runner.calls).toEqual(Array(5).fill("first"));
  });

  it("finds the retry that overtook a first attempt, once", async () => {
    const runner = createRunner();
    await runner.store(HASH, false);
    const first = toRequest({ keyed: false });
    expect(await runner.run(first)).toBe("replayed");
    expect(await runner.run(first)).toBe("made");
    expect(runner.calls).toEqual(["first", "stored", "first"]);
    const record = await readRecord(first.record, runner.table);
    if (record === undefined) throw new Error("there is no record");
    expect(record).toMatchObject({ result: "result", original: true });
    expect(await markOriginal(first.record, record, runner.table)).toBe(false);
    await runner.table.write({ kind: "update", key: first.record, set: { original: false } });
    expect(await markOriginal(first.record, { ...record, token: "another" }, runner.table)).toBe(false);
    expect(await markOriginal(first.record, record, runner.table)).toBe(true);
    const gone = { ...runner.table, write: () => Promise.reject(new Error("no table")) };
    await expect(markOriginal(first.record, record, gone)).rejects.toThrow("no table");
  });
});
