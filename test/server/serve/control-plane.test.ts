import { randomBytes } from "node:crypto";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { dispatchRun } from "#functions/executions/dispatch-run.ts";
import { endRun } from "#functions/executions/end-run.ts";
import { fireSchedule } from "#functions/executions/fire-schedule.ts";
import { reapRuns } from "#functions/executions/reap-runs.ts";
import { diskFileStore } from "#server/files/disk-file-store.ts";
import { DiskFiles } from "#server/files/disk-files.ts";
import { QUEUES, type QueueDefinition } from "#server/queue/queue-names.ts";
import { Queues } from "#server/queue/queues.ts";
import { sqlitePassQueue, sqliteRunQueue } from "#server/queue/run-queues.ts";
import { vaultKeys } from "#server/secrets/installation-key.ts";
import { sqliteTable } from "#server/table/sqlite-table.ts";
import { makeTickSender } from "#server/timers/tick-sender.ts";
import { Timers } from "#server/timers/timers.ts";
import { deadRunConsumer } from "#shared/executions/dead-runs.ts";
import { tableVault } from "#shared/vault/secret-value-store.ts";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane } from "../../support/control-plane.ts";
import { createHarness, createRun } from "../../support/execution.ts";
import { readState } from "../../support/look.ts";
import { listRuns, makeSchedule } from "../../support/schedules.ts";
import { useDataDirectory } from "../support/data-directory.ts";
import { eventually } from "../support/eventually.ts";

const data = useDataDirectory();
const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** Starts the test control plane with the adapters of the single machine and all queue consumers. */
async function startControlPlane(clockOffset = 0) {
  const directory = data.directory();
  const database = data.open(path.join(directory, "runyard.db"));
  const queues = new Queues(database, Date.now);
  const files = await DiskFiles.open(path.join(directory, "files"));
  const plane = await createTestControlPlane({ ...sqliteTable(database), all: () => [] });
  const now = () => Date.now() + clockOffset;
  plane.clock.now = now();
  const timers = new Timers({
    database,
    now,
    send: async (id, time) => {
      plane.clock.now = time + 1_000;
      await makeTickSender(queues)(id, time);
    },
  });
  const secret = randomBytes(32);
  Object.assign(plane.ports, {
    queue: sqliteRunQueue(queues, plane.ports.table),
    scheduler: timers,
    vault: tableVault(plane.ports.table, vaultKeys(secret)),
    files: diskFileStore({ files, secret, baseUrl: "http://127.0.0.1/files", downloadSeconds: 60, now }),
  });
  const passes = sqlitePassQueue(queues);
  const consumers: [
    QueueDefinition,
    (event: Parameters<typeof endRun.handle>[0]) => ReturnType<typeof endRun.handle>,
  ][] = [
    [QUEUES.runs, (event) => dispatchRun.handle(event, plane.ports)],
    [QUEUES.deadRuns, (event) => deadRunConsumer.handle(event, plane.ports)],
    [QUEUES.ends, (event) => endRun.handle(event, plane.ports)],
    [QUEUES.ticks, (event) => fireSchedule.handle(event, plane.ports)],
    [
      QUEUES.reaper,
      (event) => reapRuns.handle(event, { ...plane.ports, passes, deadRuns: { drain: async () => undefined } }),
    ],
  ];
  for (const [queue, handle] of consumers) queues.consume({ queue, concurrency: 2, handle });
  queues.start();
  timers.start();
  stops.push(
    () => timers.stop(),
    () => queues.stop(),
  );
  return { plane, queues };
}

describe("the control plane on the single machine's adapters", () => {
  it("executes a run from its creation to its transcript", async () => {
    const { plane } = await startControlPlane();
    const run = await createRun(plane);
    await eventually(() => expect(plane.started.map(({ run_id }) => run_id)).toEqual([run]));
    const [envelope] = plane.started;
    if (envelope === undefined) throw new Error("no sandbox was started");
    const harness = createHarness(plane, envelope);
    await harness.resolve();
    await harness.messages(1, "hello from the sandbox");
    await harness.finish();
    expect(await readState(plane, run)).toBe("SUCCEEDED");
    await eventually(async () => {
      expect((await createClient(plane).get(`/agent/runs/${run}/transcript`)).status).not.toBe(404);
    });
  });

  it("starts each of several runs exactly once", async () => {
    const { plane } = await startControlPlane();
    const runs = await Promise.all(Array.from({ length: 4 }, () => createRun(plane)));
    await eventually(() => expect(plane.started).toHaveLength(4));
    expect(plane.started.map(({ run_id }) => run_id).toSorted()).toEqual(runs.toSorted());
  });

  it("creates the run of a schedule when its timer fires", async () => {
    const untilMinute = 60_000 - (Date.now() % 60_000);
    const { plane } = await startControlPlane(untilMinute - 2_000);
    const { id } = await makeSchedule(plane, { cron_schedule: "* * * * *" });
    await eventually(async () => expect(await listRuns(plane, id)).toHaveLength(1));
    await eventually(() => expect(plane.started).toHaveLength(1));
  });

  it("stores secrets and returns only their names", async () => {
    const { plane } = await startControlPlane();
    const client = createClient(plane);
    const created = await client.post("/agent/secrets", { name: "DEPLOY_TOKEN", value: "a-very-secret-value" });
    expect(created.status).toBe(201);
    expect(JSON.stringify((await client.get("/agent/secrets")).body)).toContain("DEPLOY_TOKEN");
    expect(JSON.stringify((await client.get("/agent/secrets")).body)).not.toContain("a-very-secret-value");
  });
});
