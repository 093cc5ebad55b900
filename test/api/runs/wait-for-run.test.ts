import { beforeEach, describe, expect, it } from "vitest";
import { createRun } from "#functions/runs/create-run.ts";
import { waitForEnd } from "#shared/conversations/wait-for-end.ts";
import { keys } from "#shared/table/keys.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type ResponseBody, type TestControlPlane } from "../../support/control-plane.ts";

let plane: TestControlPlane;
let user: Client;
let open: number;
/** The pauses of the reader, after each of which `during` happens. */
let pauses: number[];
let during: () => Promise<void>;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
  open = 0;
  pauses = [];
  during = async () => {};
});

const signals = {
  subscribe: () => {
    open++;
    return {
      async next(milliseconds: number) {
        pauses.push(milliseconds);
        plane.clock.now += 1_000;
        await during();
      },
      close: () => void open--,
    };
  },
};

/** Creates a run with a query. The clock goes on by a second in each pause. */
const create = (query: string, body: object = { prompt: "hello" }, headers: Record<string, string> = {}) =>
  plane.call(
    { handle: (event) => createRun.handle(event, { ...plane.ports, signals }) },
    { method: "POST", query, body, headers },
  );
const latest = async (): Promise<string> => (await user.get("/agent/runs")).body.runs[0].run_id;

describe("POST /agent/runs?wait=", () => {
  // @contract runs.wait: wait returns the RunItem if the run ends in that time.
  // @contract runs.wait-response: wait returns the usual response of a run that does not end in that time.
  it("returns the run if it ends in time, and the usual response otherwise", async () => {
    during = async () => {
      if (pauses.length === 3) await user.post(`/agent/runs/${await latest()}/cancel`);
    };
    const ended: ResponseBody = await create("wait=10");
    expect(ended).toMatchObject({
      status: 200,
      body: { state: "CANCELLED", title: "hello", finished_at: expect.any(String) },
    });
    expect(ended.body).toEqual((await user.get(`/agent/runs/${ended.body.run_id}`)).body);
    expect({ pauses, open }).toEqual({ pauses: [10_000, 9_000, 8_000], open: 0 });
    pauses = [];
    during = async () => {};
    const { body } = await create("wait=2");
    expect(body).toEqual({ run_id: await latest(), task_id: body.run_id, state: "QUEUED" });
    expect({ pauses, open }).toEqual({ pauses: [2_000, 1_000], open: 0 });
  });

  it("returns the run of the first request to a repeated one", async () => {
    const headers = { "idempotency-key": "k" };
    const { body } = await create("wait=0", { prompt: "hello" }, headers);
    await user.post(`/agent/runs/${body.run_id}/cancel`);
    const repeated = await create("wait=5", { prompt: "hello" }, headers);
    expect(repeated).toMatchObject({ status: 200, body: { run_id: body.run_id, state: "CANCELLED" } });
    expect(repeated.headers["idempotent-replay"]).toBe("true");
    expect(pauses).toEqual([]);
  });

  it.each(["", "wait=0", "wait="])("does not wait with the query %j", async (query) => {
    expect((await create(query)).body).toMatchObject({ state: "QUEUED" });
    expect(pauses).toEqual([]);
  });

  it("does not wait for a run that its caller executes, whose key only this response has", async () => {
    const { body } = await create("wait=25", { prompt: "hello", execution_location: "LOCAL" });
    expect(body.run_key).toEqual(expect.any(String));
    expect(pauses).toEqual([]);
  });

  // @contract runs.wait-range: wait is 0 to 25.
  it.each(["wait=26", "wait=-1", "wait=1.5", "wait=x", "wait=1&wait=2"])(
    "returns 400 and creates nothing for %s",
    async (query) => {
      expect(await create(query)).toMatchObject({ status: 400, body: { errors: [{ path: "wait" }] } });
      expect((await user.get("/agent/runs")).body.runs).toEqual([]);
    },
  );

  it("shows no run to a caller whose key was revoked while it waited", async () => {
    during = async () => {
      await user.post(`/agent/runs/${await latest()}/cancel`);
      const { body } = await user.get("/agent/keys");
      for (const { uid } of body.keys) await user.delete(`/agent/keys/${uid}`);
    };
    expect((await create("wait=10")).status).toBe(401);
  });

  it("reads only the run's head, once for each pause, and ends its subscription with the run", async () => {
    const { body } = await create("");
    const heads: string[] = [];
    const runs = {
      ...plane.ports.runs,
      head: (id: string) => {
        heads.push(id);
        return plane.ports.runs.head(id);
      },
    };
    const ports = { runs, now: plane.ports.now, signals };
    expect(await waitForEnd(body.run_id, 3, ports)).toBeUndefined();
    expect({ heads: heads.length, pauses, open }).toEqual({ heads: 4, pauses: [3_000, 2_000, 1_000], open: 0 });
    await plane.table.write({ kind: "delete", key: keys.head(body.run_id) });
    expect(await waitForEnd(body.run_id, 3, ports), "a run that is gone").toBeUndefined();
    expect(open).toBe(0);
  });
});
