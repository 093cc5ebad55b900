import { describe, expect, it } from "vitest";
import { type Client, createClient } from "../support/client.ts";
import { type Answer, createTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { deliver, workingRun } from "../support/execution.ts";
import { readState } from "../support/look.ts";

const keyed = (key: string, more: Record<string, string> = {}) => ({ headers: { "idempotency-key": key, ...more } });
const retry = (count: number) => ({ headers: { "x-stainless-retry-count": String(count) } });
const listRuns = (plane: TestControlPlane) => plane.table.all().filter(({ sk }) => sk === "HEAD");
const isReplay = ({ headers }: Answer) => headers["idempotent-replay"] === "true";
const create = (client: Client, options = {}, body: unknown = { prompt: "hello" }) =>
  client.post("/agent/runs", body, options);

describe("with an Idempotency-Key", () => {
  it("twenty equal concurrent creates create one run, and all return it", async () => {
    const plane = await createTestControlPlane();
    const answers = await Promise.all(Array.from({ length: 20 }, () => create(createClient(plane), keyed("k"))));
    expect(listRuns(plane)).toHaveLength(1);
    expect(new Set(answers.map(({ body }) => body.run_id))).toEqual(
      new Set([listRuns(plane)[0]?.pk.slice("RUN#".length)]),
    );
    expect(answers.filter(isReplay)).toHaveLength(19);
    expect(await plane.table.get({ pk: `TEAM#${plane.team}`, sk: "COUNTERS" })).toMatchObject({ queued: 1 });
    await deliver(plane);
    expect(plane.started).toHaveLength(1);
  });

  it("a repeat returns the first run in its current state, on either path", async () => {
    const plane = await createTestControlPlane();
    const ada = createClient(plane);
    const first = await create(ada, keyed("k"));
    expect(isReplay(first)).toBe(false);
    await deliver(plane);
    const again = await ada.post("/agent/run", { prompt: "hello" }, keyed("k"));
    expect(isReplay(again)).toBe(true);
    expect(again.body).toMatchObject({ run_id: first.body.run_id, task_id: first.body.run_id, state: "PENDING" });
  });

  it("bodies are equal if they are equal as canonical JSON, with the same source", async () => {
    const plane = await createTestControlPlane();
    const ada = createClient(plane);
    const first = await create(ada, keyed("k"), '{"prompt":"a","metadata":{"x":"1","y":"2"},"config":{"name":"n"}}');
    const same = await create(
      ada,
      keyed("k"),
      ' { "config":{"name":"\\u006e"}, "metadata":{"y":"2","x":"1"},\n"prompt":"a"}',
    );
    expect(same.body.run_id).toBe(first.body.run_id);
    for (const other of [
      await create(ada, keyed("k"), { prompt: "a" }),
      await create(ada, keyed("k"), { prompt: "a", metadata: { x: "1", y: "2" }, config: { name: "N" } }),
      await create(ada, keyed("k", { "x-run-source": "CLI" }), {
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

  it("is kept for 24 hours", async () => {
    const plane = await createTestControlPlane();
    const ada = createClient(plane);
    const first = await create(ada, keyed("k"));
    plane.clock.now += 24 * 3_600_000;
    expect((await create(ada, keyed("k"))).body.run_id).toBe(first.body.run_id);
    plane.clock.now += 1;
    const later = await Promise.all(
      Array.from({ length: 5 }, () => create(ada, keyed("k"), { prompt: "another body" })),
    );
    expect(new Set(later.map(({ body }) => body.run_id)).size).toBe(1);
    expect(later[0]?.body.run_id).not.toBe(first.body.run_id);
  });

  it("is separate for each principal and team", async () => {
    const plane = await createTestControlPlane();
    const mia = await plane.person("Mia", [plane.team, plane.otherTeam]);
    const agent = await plane.agent();
    const run = await workingRun(plane);
    const answers = [
      await create(createClient(plane), keyed("k")),
      await create(createClient(plane, mia.key), keyed("k", { "x-team-uid": plane.team })),
      await create(createClient(plane, mia.key), keyed("k", { "x-team-uid": plane.otherTeam })),
      await create(createClient(plane, agent.key), keyed("k")),
      await create(createClient(plane, run.key), keyed("k")),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(new Set(answers.map(({ body }) => body.run_id)).size).toBe(5);
  });

  it("is free after a refused request", async () => {
    const plane = await createTestControlPlane();
    const ada = createClient(plane);
    expect((await create(ada, keyed("k"), { prompt: "" })).status).toBe(400);
    expect((await create(ada, keyed("k"), { prompt: "a", conversation_id: "none" })).status).toBe(400);
    expect((await create(ada, keyed("k"))).status).toBe(200);
  });

  it("of one operation does not affect another", async () => {
    const plane = await createTestControlPlane();
    const ada = createClient(plane);
    const { body } = await create(ada, keyed("k"));
    expect((await ada.post(`/agent/runs/${body.run_id}/followups`, { message: "m" }, keyed("k"))).status).toBe(200);
    expect((await ada.post(`/agent/runs/${body.run_id}/cancel`, undefined, keyed("k"))).status).toBe(200);
  });

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
  it("a retried request finds the run of its first attempt", async () => {
    const plane = await createTestControlPlane();
    const ada = createClient(plane);
    const first = await create(ada, retry(0));
    for (const count of [1, 2]) expect((await create(ada, retry(count))).body.run_id).toBe(first.body.run_id);
    expect(listRuns(plane)).toHaveLength(1);
  });

  it("a retry that overtakes its first attempt creates the run, and the first attempt finds it", async () => {
    const plane = await createTestControlPlane();
    const ada = createClient(plane);
    const repeat = await create(ada, retry(1));
    const original = await create(ada, retry(0));
    expect(original.body.run_id).toBe(repeat.body.run_id);
    expect(isReplay(original)).toBe(true);
    const another = await create(ada, retry(0));
    expect(another.body.run_id, "the next that is no repeat is a request of its own").not.toBe(repeat.body.run_id);
    expect((await create(ada, retry(1))).body.run_id).toBe(another.body.run_id);
  });

  it("one first attempt and nineteen concurrent retries create one run, in any order", async () => {
    for (let round = 0; round < 5; round++) {
      const plane = await createTestControlPlane();
      const first = round * 4;
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          create(createClient(plane), retry(index === first ? 0 : 1 + (index % 2))),
        ),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
      expect(listRuns(plane)).toHaveLength(1);
    }
  });

  it("equal requests that are not retries create separate runs", async () => {
    const plane = await createTestControlPlane();
    await Promise.all(Array.from({ length: 5 }, () => create(createClient(plane))));
    expect(listRuns(plane)).toHaveLength(5);
  });

  it("a retry after more than ten minutes is a new request", async () => {
    const plane = await createTestControlPlane();
    const ada = createClient(plane);
    const first = await create(ada, retry(0));
    plane.clock.now += 600_000;
    expect((await create(ada, retry(1))).body.run_id).toBe(first.body.run_id);
    plane.clock.now += 1;
    expect((await create(ada, retry(2))).body.run_id).not.toBe(first.body.run_id);
  });

  it("a retry with another body is a new request", async () => {
    const plane = await createTestControlPlane();
    const ada = createClient(plane);
    const first = await create(ada, retry(0));
    const other = await create(ada, retry(1), { prompt: "other" });
    expect(other.status).toBe(200);
    expect(other.body.run_id).not.toBe(first.body.run_id);
  });

  it("a retried follow-up is delivered once, and restarts an ended run once", async () => {
    const plane = await createTestControlPlane();
    const ada = createClient(plane);
    const harness = await workingRun(plane);
    await harness.finish();
    const send = (count: number) =>
      ada.post(`/agent/runs/${harness.run_id}/followups`, { message: "more" }, retry(count));
    const answers = await Promise.all([send(1), send(0), send(2)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
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
