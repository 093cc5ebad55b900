import * as v from "valibot";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { sha256 } from "#shared/ids.ts";
import { StartDeferred } from "#shared/sandbox/sandbox.ts";
import { keys } from "#shared/table/keys.ts";
import type { SandboxProvider } from "#shared/wire/executions/sandboxes.ts";
import { sizeOfItem } from "../../../lab/bench/item-size.ts";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import {
  consume,
  createRun,
  deliver,
  type Harness,
  nextExecution,
  startedRun,
  workingRun,
} from "../../support/execution.ts";
import { readState, readTimeline } from "../../support/look.ts";
import { reap } from "../../support/reaper.ts";

let plane: TestControlPlane;
beforeEach(async () => {
  plane = await createTestControlPlane();
  offer("microvm");
});

const offer = (...providers: SandboxProvider[]) => plane.offered.splice(0, plane.offered.length, ...providers);
const readHead = async (run: string) => plane.table.get(keys.head(run));
const toHandle = ({ execution_id }: Harness, provider = "microvm") => `${provider}-${execution_id}`;
const listStops = () => plane.stopped.map(({ handle }) => handle);

async function passes(count: number, seconds = 15): Promise<void> {
  for (let pass = 0; pass < count; pass++) {
    plane.clock.now += seconds * 1000;
    await reap(plane);
    await deliver(plane, "ends");
  }
}

const Stops = v.looseObject({ stops: v.tuple([v.record(v.string(), v.union([v.string(), v.number()]))]) });

const stoppedBy = async (run: string) => {
  const { events } = (await createClient(plane).get(`/agent/runs/${run}/timeline`)).body;
  return events
    .filter(({ event_type }: { event_type: string }) => event_type === "run_stopped")
    .map(({ payload }: { payload: { confirmed_by: string } }) => payload.confirmed_by);
};

describe("a run in a sandbox that its provider can stop", () => {
  it("records its sandbox on its head, which stays within 1 KB, unless the sandbox is a function", async () => {
    const harness = await workingRun(plane);
    expect(await readHead(harness.run_id)).toMatchObject({
      sandbox: { provider: "microvm", handle: toHandle(harness) },
    });
    offer("lambda");
    const other = await workingRun(plane);
    expect(await readHead(other.run_id)).not.toHaveProperty("sandbox");
    expect(sizeOfItem((await readHead(harness.run_id)) ?? {})).toBeLessThanOrEqual(1024);
  });

  it.each([
    ["lambda", undefined],
    ["process", true],
    ["microvm", true],
  ] as const)("may wait for a follow-up in a sandbox of %s: %j", async (provider, waits) => {
    offer(provider);
    expect((await plane.dispatch(await createRun(plane))).waits).toBe(waits);
  });

  it("has its sandbox stopped at every kind of end", async () => {
    const done = await workingRun(plane);
    await done.finish();
    await deliver(plane);
    const failed = await workingRun(plane);
    await failed.finish(false);
    await deliver(plane);
    expect(listStops()).toEqual([toHandle(done), toHandle(failed)]);
    for (const { run_id } of [done, failed]) {
      expect(await readHead(run_id)).not.toHaveProperty("stops");
      expect(await readHead(run_id)).not.toHaveProperty("sandbox");
      expect(await stoppedBy(run_id), "only a cancelled run has an event for its stop").toEqual([]);
    }
    plane.clock.now += 3_600_000;
    expect(await reap(plane)).toMatchObject({ looked: 0 });
  });

  it("is stopped by its provider when it is cancelled, and the timeline names who cancelled", async () => {
    const harness = await workingRun(plane);
    await createClient(plane).post(`/agent/runs/${harness.run_id}/cancel`);
    await deliver(plane);
    expect(listStops()).toEqual([toHandle(harness)]);
    expect(await stoppedBy(harness.run_id)).toEqual(["provider"]);
    expect((await harness.beat()).status, "its key is revoked").toBe(401);
    const { body } = await createClient(plane).get(`/agent/runs/${harness.run_id}`);
    expect(body).toMatchObject({ state: "CANCELLED", is_sandbox_running: false });
    const { headers } = await createClient(plane).get(`/agent/runs/${harness.run_id}/transcript`);
    expect(await plane.download(headers["location"] ?? "")).toContain('"confirmed_by":"provider"');
  });

  it("is stopped by its provider when it is cancelled by force, also while PENDING", async () => {
    for (const harness of [await workingRun(plane), await startedRun(plane)]) {
      plane.stopped.length = 0;
      await createClient(plane).post(`/agent/runs/${harness.run_id}/cancel?force=true`);
      await deliver(plane);
      expect(listStops()).toEqual([toHandle(harness)]);
      expect(await stoppedBy(harness.run_id)).toEqual(["provider"]);
    }
  });

  it("accepts the harness's confirmation if it comes first, and still has the sandbox stopped", async () => {
    const harness = await workingRun(plane);
    await createClient(plane).post(`/agent/runs/${harness.run_id}/cancel`);
    await harness.shutDown();
    await deliver(plane);
    expect(await stoppedBy(harness.run_id)).toEqual(["harness"]);
    expect(listStops()).toContain(toHandle(harness));
    expect(await readHead(harness.run_id)).not.toHaveProperty("stops");
  });

  it("is stopped again while its provider reports it as running or does not respond", async () => {
    const harness = await workingRun(plane);
    await createClient(plane).post(`/agent/runs/${harness.run_id}/cancel`);
    plane.stopResponses.push(false, new Error("throttled"), false);
    await deliver(plane);
    expect(await stoppedBy(harness.run_id)).toEqual([]);
    await passes(3);
    expect(await stoppedBy(harness.run_id)).toEqual(["provider"]);
    expect(listStops()).toHaveLength(4);
  });

  it("is reported as stopped after a timeout, and the service gives up after ten minutes with a log line", async () => {
    const harness = await workingRun(plane);
    await createClient(plane).post(`/agent/runs/${harness.run_id}/cancel`);
    plane.stopResponses.push(...Array.from({ length: 200 }, () => false));
    await deliver(plane);
    await passes(6);
    expect(await stoppedBy(harness.run_id)).toEqual(["timeout"]);
    const log = vi.mocked(process.stdout.write);
    log.mockClear();
    await passes(45);
    expect(JSON.stringify(log.mock.calls)).toContain("a sandbox could not be stopped");
    expect(await readHead(harness.run_id)).not.toHaveProperty("stops");
    expect(plane.stopped.length).toBeLessThan(60);
    plane.clock.now += 3_600_000;
    expect(await reap(plane), "the reaper no longer checks it").toMatchObject({ looked: 0 });
  });

  it("is given up without a log line if it has no handle, since it may never have been created", async () => {
    const harness = await workingRun(plane);
    await createClient(plane).post(`/agent/runs/${harness.run_id}/cancel`);
    const [stop] = v.parse(Stops, await readHead(harness.run_id)).stops;
    const { handle = "", ...withoutHandle } = stop;
    await plane.table.write({ kind: "update", key: keys.head(harness.run_id), set: { stops: [withoutHandle] } });
    plane.stopResponses.push(...Array.from({ length: 200 }, () => false));
    const log = vi.mocked(process.stdout.write);
    log.mockClear();
    await passes(45);
    expect(handle).toBe(toHandle(harness));
    expect(JSON.stringify(log.mock.calls)).not.toContain("a sandbox could not be stopped");
    expect(await readHead(harness.run_id)).not.toHaveProperty("stops");
  });

  it("stops the sandbox of an expired execution, and continues in another", async () => {
    const harness = await workingRun(plane);
    await passes(5);
    expect(await readTimeline(plane, harness.run_id)).toContain("execution_lost");
    expect(listStops()).toEqual([toHandle(harness)]);
    const next = await nextExecution(plane);
    expect(await readHead(harness.run_id)).toMatchObject({ sandbox: { handle: toHandle(next) } });
    expect(listStops(), "the new sandbox is not stopped").not.toContain(toHandle(next));
  });

  it("keeps a record of the old sandbox until it is gone, while the new execution works", async () => {
    const harness = await workingRun(plane);
    plane.stopResponses.push(false, false);
    await harness.shutDown({ error: { category: "oom", message: "out of memory" } });
    await deliver(plane, "ends");
    const next = await nextExecution(plane);
    await next.resolve();
    for (let pass = 0; pass < 6; pass++) {
      await next.beat();
      await passes(1);
    }
    expect(await readState(plane, harness.run_id)).toBe("INPROGRESS");
    expect(listStops()).toEqual([toHandle(harness), toHandle(harness), toHandle(harness)]);
    expect(await readHead(harness.run_id)).not.toHaveProperty("stops");
  });

  it("continues in a MicroVM after a function's time limit, but not for a follow-up to a short execution", async () => {
    offer("lambda", "microvm");
    const first = await workingRun(plane);
    expect(await readHead(first.run_id)).not.toHaveProperty("sandbox");
    const files = [{ filename: "workspace.tar.gz", mime_type: "application/gzip", size_bytes: 1, sha256: sha256("w") }];
    const { body } = await first.support("upload-snapshot", { mode: "checkpoint", generation: "slice-1", files });
    await plane.upload(body.uploads[0].url, "w");
    await first.support("commit-snapshot", { generation: "slice-1", files: ["workspace.tar.gz"] });
    await first.shutDown({ error: { category: "slice_ended", message: "the time is over" } });
    const second = await nextExecution(plane);
    expect(second.run_id).toBe(first.run_id);
    expect(await readHead(first.run_id)).toMatchObject({ sandbox: { provider: "microvm" }, sliced: true });

    const short = await workingRun(plane);
    await short.finish();
    await deliver(plane);
    await createClient(plane).post(`/agent/runs/${short.run_id}/followups`, { message: "and then" });
    await nextExecution(plane);
    expect(await readHead(short.run_id)).not.toHaveProperty("sandbox");
  });

  it("shows its sandbox in its timeline, unless it is a function", async () => {
    const readPending = async (run: string) => {
      const { events } = (await createClient(plane).get(`/agent/runs/${run}/timeline`)).body;
      return events.find(({ event_type }: { event_type: string }) => event_type === "run_pending").payload;
    };
    expect(await readPending((await startedRun(plane)).run_id)).toMatchObject({ sandbox: "microvm" });
    offer("lambda");
    expect(await readPending((await startedRun(plane)).run_id)).not.toHaveProperty("sandbox");
  });

  it("has its provider's time to start, and is then stopped and started again", async () => {
    for (const [provider, seconds] of [
      ["microvm", 60],
      ["fargate", 180],
    ] as const) {
      offer(provider, "lambda");
      const image = provider === "fargate" ? { docker_image: "python:3.13" } : {};
      const environment = await createClient(plane).post("/agent/environments", { name: provider, ...image });
      const body = { prompt: "a", config: { environment_id: environment.body.uid } };
      const harness = await startedRun(plane, body);
      plane.clock.now += (seconds - 2) * 1000;
      await reap(plane);
      expect(await readState(plane, harness.run_id), provider).toBe("PENDING");
      await passes(2, 31);
      expect(await readState(plane, harness.run_id), provider).toBe("QUEUED");
      expect(listStops(), provider).toContain(toHandle(harness, provider));
    }
  });

  it("waits for another start if the provider had no capacity, and leaves nothing to stop", async () => {
    const id = await createRun(plane);
    plane.failures.push(new StartDeferred("throttled"));
    expect((await consume(plane, "runs", id)).batchItemFailures).toEqual([]);
    expect(await readHead(id)).toMatchObject({ state: "QUEUED" });
    expect(await readHead(id)).not.toHaveProperty("stops");
    expect(await readHead(id)).not.toHaveProperty("sandbox");
  });

  it("is not started twice for a duplicate message, but requeued after its time to start", async () => {
    const harness = await startedRun(plane);
    await consume(plane, "runs", harness.run_id);
    expect(plane.started).toHaveLength(1);
    plane.clock.now += 180_000;
    await consume(plane, "runs", harness.run_id);
    expect(await readState(plane, harness.run_id)).toBe("QUEUED");
    expect(plane.started).toHaveLength(1);
  });
});

describe("an environment with a custom image", () => {
  const startRun = async () => {
    const made = await createClient(plane).post("/agent/environments", { name: "py", docker_image: "python:3.13" });
    return startedRun(plane, { prompt: "a", config: { environment_id: made.body.uid } });
  };

  it("runs in containers if the deployment has them, with the image as of the run's creation", async () => {
    offer("lambda", "fargate");
    const harness = await startRun();
    expect(await readHead(harness.run_id)).toMatchObject({ sandbox: { provider: "fargate" }, own_image: true });
    await harness.resolve();
    await harness.finish();
    await deliver(plane);
    expect(plane.stopped).toEqual([
      { provider: "fargate", executionId: harness.execution_id, handle: toHandle(harness, "fargate") },
    ]);
  });

  it("ends its runs with a reason if the image fails to start the harness three times in a row", async () => {
    offer("lambda", "fargate");
    const { run_id } = await startRun();
    for (let start = 2; start <= 3; start++) {
      plane.clock.now += 181_000;
      await reap(plane);
      await deliver(plane);
      expect(await readState(plane, run_id), `start ${start}`).toBe("PENDING");
    }
    plane.clock.now += 181_000;
    await reap(plane);
    await deliver(plane);
    expect((await createClient(plane).get(`/agent/runs/${run_id}`)).body).toMatchObject({
      state: "FAILED",
      status_message: {
        error_code: "environment_setup_failed",
        message: expect.stringMatching(/docker_image failed to start the harness 3 times in a row/),
      },
    });
    expect(new Set(listStops()).size, "each sandbox is stopped").toBe(3);
  });

  it("resets the count of failed starts once a harness has begun", async () => {
    offer("lambda", "fargate");
    const first = await startRun();
    plane.clock.now += 181_000;
    await reap(plane);
    const second = await nextExecution(plane);
    expect(await readHead(first.run_id)).toMatchObject({ silent_starts: 1 });
    await second.resolve();
    expect(await readHead(first.run_id)).not.toHaveProperty("silent_starts");
  });

  it("cannot run without containers: new runs are refused, and waiting runs end FAILED", async () => {
    offer("lambda", "fargate");
    const made = await createClient(plane).post("/agent/environments", { name: "py", docker_image: "python:3.13" });
    const body = { prompt: "a", config: { environment_id: made.body.uid } };
    const waiting = await createRun(plane, body);
    offer("lambda");
    expect(await createClient(plane).post("/agent/runs", body)).toMatchObject({
      status: 422,
      body: {
        error_code: "operation_not_supported",
        detail: expect.stringMatching(/^config.environment_id: .*fargate/),
      },
    });
    await deliver(plane, "runs");
    expect(plane.started).toEqual([]);
    expect((await createClient(plane).get(`/agent/runs/${waiting}`)).body).toMatchObject({
      state: "FAILED",
      status_message: { error_code: "operation_not_supported", message: expect.stringContaining("docker_image") },
    });
  });
});
