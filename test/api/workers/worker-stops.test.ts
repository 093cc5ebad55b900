import { beforeEach, describe, expect, it } from "vitest";
import { readHead } from "#shared/records/run-head.ts";
import { keys } from "#shared/table/keys.ts";
import { cancelTask } from "#shared/workers/cancel-task.ts";
import { releaseWorker, takeBackOffer } from "#shared/workers/offer-run.ts";
import { waitingRunStore } from "#shared/workers/waiting-run-store.ts";
import { workerStore } from "#shared/workers/worker-store.ts";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { consume, createRun, deliver } from "../../support/execution.ts";
import { readState, setState } from "../../support/look.ts";
import { reap } from "../../support/reaper.ts";
import { connectedWorker } from "../../support/worker.ts";

let plane: TestControlPlane;
beforeEach(async () => {
  plane = await createTestControlPlane();
});

const onRack = { prompt: "work", config: { worker_host: "rack-7" } };
type Worker = Awaited<ReturnType<typeof connectedWorker>>;

const findConnection = async ({ connectionId }: Worker) =>
  (await workerStore(plane.ports).find(connectionId))?.connection;
const head = async (run: string) => {
  const found = await readHead(run, plane.table);
  if (found === undefined) throw new Error("there is no such run");
  return found;
};
/** A run that a worker has claimed. */
async function claimedRun() {
  const worker = await connectedWorker(plane);
  const run = await createRun(plane, onRack);
  await deliver(plane);
  await worker.claim(run);
  return { worker, run, execution_id: worker.assignments()[0].data.execution_id };
}
const cancellation = (task_id: string, execution_id: string) => ({
  type: "task_cancellation",
  data: { task_id, execution_id },
});

describe("the cancellation of a task", () => {
  it("is sent to the connection that has it, and ends only the offer of that execution", async () => {
    const worker = await connectedWorker(plane);
    const other = await connectedWorker(plane);
    const run = await createRun(plane, onRack);
    await deliver(plane);
    const [holder, idle] = worker.assignments().length === 1 ? [worker, other] : [other, worker];
    const { execution_id } = holder.assignments()[0].data;
    const stop = { provider: "worker", execution_id: "earlier", by: 0, handle: holder.connectionId } as const;
    expect(await cancelTask(run, stop, plane.ports)).toBe(true);
    expect(holder.cancellations()).toEqual([]);
    await setState(plane, run, "QUEUED");
    expect(await cancelTask(run, stop, plane.ports)).toBe(false);
    expect(holder.cancellations()).toEqual([cancellation(run, "earlier")]);
    expect(await findConnection(holder)).toMatchObject({ offer: execution_id });
    expect(await cancelTask(run, { ...stop, execution_id }, plane.ports)).toBe(false);
    expect(await findConnection(holder)).not.toHaveProperty("offer");
    expect(idle.cancellations()).toEqual([]);
  });

  it("is sent to every connection of the worker if that one is closed or unknown", async () => {
    const { worker, run, execution_id } = await claimedRun();
    const others = [await connectedWorker(plane), await connectedWorker(plane)];
    const namesake = await connectedWorker(plane, "rack-8");
    await worker.close();
    const stop = { provider: "worker", execution_id, by: 0 } as const;
    expect(await cancelTask(run, { ...stop, handle: worker.connectionId }, plane.ports)).toBe(false);
    expect(await cancelTask(run, stop, plane.ports)).toBe(false);
    for (const other of others) expect(other.frames()).toEqual(Array(2).fill(cancellation(run, execution_id)));
    expect(namesake.frames()).toEqual([]);
  });

  it("reaches the other connections if one cannot be written to", async () => {
    const { worker, run, execution_id } = await claimedRun();
    const others = [await connectedWorker(plane), await connectedWorker(plane)];
    await worker.close();
    const { post } = plane.ports.sockets;
    const [first] = await workerStore(plane.ports).ofWorker(plane.team, "rack-7");
    const sockets = {
      ...plane.ports.sockets,
      post: (id: string, frame: string) =>
        id === first?.connection_id ? Promise.reject(new Error("throttled")) : post(id, frame),
    };
    const stop = { provider: "worker", execution_id, by: 0 } as const;
    expect(await cancelTask(run, stop, { ...plane.ports, sockets })).toBe(false);
    expect(others.flatMap((other) => other.frames())).toEqual([cancellation(run, execution_id)]);
  });

  it("needs no further request after the run is deleted or has no worker", async () => {
    const stop = { provider: "worker", execution_id: "one", by: 0, handle: "gone" } as const;
    expect(await cancelTask("no-run", stop, plane.ports)).toBe(true);
    const hosted = await createRun(plane);
    const worker = await connectedWorker(plane);
    const toWorker = { ...stop, handle: worker.connectionId };
    expect(await cancelTask(hosted, toWorker, plane.ports)).toBe(false);
    expect(worker.frames()).toEqual([]);
  });
});

describe("the offer of a run whose execution expired", () => {
  const lose = async (run: string, worker: Worker) => {
    await worker.close({ isTold: false });
    plane.clock.now += 61_000;
    await reap(plane);
    expect(await readState(plane, run)).toBe("QUEUED");
  };

  it("follows the cancellation of its earlier execution, which it removes from the list", async () => {
    const { worker, run, execution_id } = await claimedRun();
    await lose(run, worker);
    expect((await head(run)).stops).toMatchObject([{ provider: "worker", execution_id }]);
    const changes = (await head(run)).sandbox_changes;
    const next = await connectedWorker(plane);
    await consume(plane, "runs", run);
    expect(next.frames()).toMatchObject([cancellation(run, execution_id), { type: "task_assignment" }]);
    const offered = await head(run);
    expect(offered).not.toHaveProperty("stops");
    expect(offered).toMatchObject({ state: "PENDING", sandbox_changes: changes + 1, executions: 2 });
  });

  it("keeps the sandboxes of other providers on the list of those to stop", async () => {
    const { worker, run, execution_id } = await claimedRun();
    await lose(run, worker);
    const other = { provider: "microvm", handle: "vm-1", execution_id: "before", by: plane.clock.now + 1_000 };
    const own = { provider: "worker", execution_id, by: plane.clock.now + 1_000 };
    await plane.table.write({ kind: "update", key: keys.head(run), set: { stops: [other, own] } });
    await connectedWorker(plane);
    await consume(plane, "runs", run);
    expect(await head(run)).toMatchObject({ state: "PENDING", stops: [other] });
  });

  it("does not change a list without workers", async () => {
    const run = await createRun(plane, onRack);
    const other = { provider: "microvm", handle: "vm-1", execution_id: "before", by: plane.clock.now + 1_000 };
    await plane.table.write({ kind: "update", key: keys.head(run), set: { stops: [other] } });
    const worker = await connectedWorker(plane);
    await deliver(plane, "runs");
    expect(worker.frames()).toMatchObject([{ type: "task_assignment" }]);
    expect(await head(run)).toMatchObject({ state: "PENDING", stops: [other], sandbox_changes: 0 });
  });
});

describe("offers to workers", () => {
  it("requeue the run if the frame cannot be sent, and do not use the connection for a second", async () => {
    const worker = await connectedWorker(plane);
    const run = await createRun(plane, onRack);
    plane.sent.splice(0);
    const { sockets } = plane.ports;
    plane.ports = { ...plane.ports, sockets: { ...sockets, post: () => Promise.reject(new Error("throttled")) } };
    await consume(plane, "runs", run);
    expect(await readState(plane, run)).toBe("QUEUED");
    expect(await findConnection(worker)).toMatchObject({ busy_until: plane.clock.now + 1_000 });
    expect(await findConnection(worker)).not.toHaveProperty("offer");
    expect(plane.sent).toContainEqual(expect.objectContaining({ queue: "runs", runId: run }));
    expect(JSON.stringify(plane.table.all())).toContain("the run could not be offered to its worker");
    plane.ports = { ...plane.ports, sockets };
    plane.clock.now += 1_000;
    await consume(plane, "runs", run);
    expect(worker.assignments()).toHaveLength(1);
  });

  it("are limited to 50 per pass", async () => {
    const waiting = waitingRunStore(plane.ports);
    const run = await createRun(plane, onRack);
    const addGone = async (count: number) => {
      for (let index = 10; index < 10 + count; index++) await waiting.add(plane.team, "rack-7", `0-${index}`);
    };
    await addGone(49);
    await consume(plane, "runs", run);
    expect(await waiting.oldest(plane.team, "rack-7", 100)).toEqual([run]);
    await addGone(51);
    await consume(plane, "runs", run);
    expect(await waiting.oldest(plane.team, "rack-7", 100)).toEqual(["0-60", run]);
  });

  it("skip runs that no longer wait for the worker", async () => {
    const waiting = waitingRunStore(plane.ports);
    const worker = await connectedWorker(plane);
    const elsewhere = await createRun(plane, { prompt: "work", config: { worker_host: "rack-8" } });
    const run = await createRun(plane, onRack);
    await waiting.add(plane.team, "rack-7", elsewhere);
    await deliver(plane);
    expect(worker.assignments().map(({ data }) => data.task_id)).toEqual([run]);
    await worker.claim(run);
    await waiting.add(plane.team, "rack-7", run);
    const next = await createRun(plane, onRack);
    await deliver(plane);
    expect(worker.assignments().map(({ data }) => data.task_id)).toEqual([run, next]);
    expect(await waiting.oldest(plane.team, "rack-7", 10)).toEqual([]);
  });

  it("go to the connection that was opened first if none has had an offer", async () => {
    const worker = await connectedWorker(plane);
    const { key_hash = "" } = (await findConnection(worker)) ?? {};
    plane.clock.now += 1;
    await workerStore(plane.ports).register({ team: plane.team, workerHost: "rack-7", connectionId: "0" }, key_hash);
    plane.received.set("0", []);
    await createRun(plane, onRack);
    await deliver(plane);
    expect([worker.assignments().length, plane.received.get("0")?.length]).toEqual([1, 0]);
  });
});

describe("an offer that is not claimed in time", () => {
  const offered = async (body: object = onRack) => {
    const worker = await connectedWorker(plane);
    const run = await createRun(plane, { ...body });
    await deliver(plane);
    const found = await head(run);
    if (found.state !== "PENDING") throw new Error("the run is not offered");
    return { worker, found };
  };

  it.each(["closed", "unknown"])("returns to the queue even if its connection is %s", async (how) => {
    const { worker, found } = await offered();
    if (how === "closed") await worker.close();
    const { sandbox: _, ...unknown } = found;
    await takeBackOffer(how === "closed" ? found : unknown, plane.ports);
    expect(await readState(plane, found.run_id)).toBe("QUEUED");
    if (how === "unknown") expect(await findConnection(worker)).toMatchObject({ unclaimed: 0, busy_until: 0 });
    const { events } = (await createClient(plane).get(`/agent/runs/${found.run_id}/timeline`)).body;
    expect(events.at(-1).payload.detail).toBe("the worker did not claim the run within 30 seconds");
  });

  it("does not block a connection that has another offer meanwhile", async () => {
    const { worker, found } = await offered();
    const to = { team: plane.team, workerHost: "rack-7", connectionId: worker.connectionId };
    await workerStore(plane.ports).release(to, found.execution_id);
    await takeBackOffer(found, plane.ports);
    expect(await findConnection(worker)).toMatchObject({ unclaimed: 0, busy_until: 0 });
  });

  it("names the image of the run's environment, if it has one", async () => {
    const user = createClient(plane);
    const environment = { name: "py", docker_image: "python:3.13", worker_host: "rack-7" };
    const { uid: environment_id } = (await user.post("/agent/environments", environment)).body;
    const { worker } = await offered({ prompt: "work", config: { environment_id } });
    expect(worker.assignments()[0].data.docker_image).toBe("python:3.13");
    await worker.close();
    const plain = await offered();
    expect(plain.worker.assignments()[0].data).not.toHaveProperty("docker_image");
  });
});

describe("the end of a run on a worker", () => {
  it("frees the worker's connections that are at capacity, and requests the next offer", async () => {
    const { worker, run } = await claimedRun();
    const key = { team: plane.team, workerHost: "rack-7", connectionId: worker.connectionId };
    await workerStore(plane.ports).block(key, plane.clock.now + 30_000);
    const next = await createRun(plane, onRack);
    await deliver(plane);
    const ended = { ...(await head(run)), state: "SUCCEEDED", ended_at: plane.clock.now } as const;
    const [free, past] = [await connectedWorker(plane), await connectedWorker(plane)];
    await plane.ports.sockets.close(free.connectionId);
    await workerStore(plane.ports).block({ ...key, connectionId: past.connectionId }, plane.clock.now);
    plane.sent.splice(0);
    await releaseWorker({ ...ended, state: "QUEUED" }, plane.ports);
    expect(await findConnection(worker)).toMatchObject({ busy_until: plane.clock.now + 30_000 });
    expect(plane.sent).toEqual([]);
    await releaseWorker(ended, plane.ports);
    expect(await findConnection(worker)).toMatchObject({ busy_until: 0 });
    expect(await findConnection(past), "it is already free").toMatchObject({ busy_until: plane.clock.now });
    expect(plane.sent).toEqual([expect.objectContaining({ queue: "runs", runId: next })]);
  });
});
