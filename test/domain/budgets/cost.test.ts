import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { heartbeatSeconds } from "#shared/records/run.ts";
import { countShards } from "#shared/runs/capacity/execution-count-store.ts";
import { keys } from "#shared/table/keys.ts";
import { type CountedCalls, idleMonth, oneRun } from "../../../operate/cost/costs.ts";
import { type Deployed, readDeployed } from "../../../operate/cost/deployed.ts";
import { PRICE_TABLE, sumOf, toBill } from "../../../operate/cost/price-table.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { type CostedTable, costedTable, measureBill } from "../../support/costed-table.ts";
import { createHarness, createRun, deliver, type Harness, workingRun } from "../../support/execution.ts";
import { createGateway, stubModelSettings } from "../../support/gateway.ts";
import { createHooks } from "../../support/hooks.ts";
import { ModelStandIn } from "../../support/model-stand-in.ts";
import { reap } from "../../support/reaper.ts";
import { reconcile } from "../../support/schedules.ts";
import { passMinutes } from "../../support/webhooks.ts";

const root = join(import.meta.dirname, "../../..");
const MINUTES = 10;
const MODEL_CALLS = 20;

let table: CostedTable;
let plane: TestControlPlane;
let models: ModelStandIn;
beforeEach(async () => {
  stubModelSettings();
  table = costedTable();
  plane = await createTestControlPlane(table);
  await limitExecutions(300);
  models = await ModelStandIn.start();
  // A team's first run makes its counters, which no later one does.
  await (await workingRun(plane)).finish();
  await deliver(plane);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await models[Symbol.asyncDispose]();
});

/** Limits the executions of the deployment, as the default settings do. Each shard has a free place, as it has after some runs. */
async function limitExecutions(maxExecutions: number): Promise<void> {
  plane.capacity.maxExecutions = maxExecutions;
  const shards = countShards(maxExecutions);
  await table.write({ kind: "put", item: { ...keys.executions(), v: 1, running: shards, shards } });
  for (let shard = 0; shard < shards; shard++) {
    await table.write({ kind: "put", item: { ...keys.executionPlaces(shard), v: 1, free: 1 } });
  }
}

/** Counts the calls of a ten-minute run: a batch of messages follows each model call, and there are two checkpoints. */
async function countRun(): Promise<CountedCalls["run"]> {
  const count = { httpRequests: 0, quietRequests: 0, messages: 0, puts: 0 };
  const countRequest = async (response: Promise<{ status: number }>) => {
    count.httpRequests++;
    expect((await response).status).toBeLessThan(300);
  };
  const gateway = createGateway(plane, models);
  plane.sent.length = 0;
  const { bill } = await measureBill(table, async () => {
    const body = { prompt: "Tidy up the build", config: { model_id: "anthropic/claude-sonnet-5-5" } };
    const runId = await createRun(plane, body);
    count.httpRequests++;
    plane.clock.now += 100;
    const harness = createHarness(plane, await plane.dispatch(runId));
    plane.clock.now += 100;
    await countRequest(harness.resolve());
    const timestamp = new Date(plane.clock.now).toISOString();
    await countRequest(harness.event({ event_uuid: randomUUID(), event_name: "agent_started", timestamp }));
    for (let second = 1; second <= MINUTES * 60; second++) {
      plane.clock.now += 1_000;
      if (second % heartbeatSeconds(false) === 0) {
        count.quietRequests++;
        await countRequest(harness.beat());
      }
      if (second % 30 === 0) await callModel(harness, second / 30);
      if (second % 30 === 0) await reap(plane);
      if (second % 300 === 0) await checkpoint(harness, `checkpoint-${second}`);
    }
    await countRequest(harness.finish());
    count.messages = plane.sent.length;
    await deliver(plane);
    // The transcript.
    count.puts++;
  });
  return { minutes: MINUTES, modelCalls: MODEL_CALLS, ...count, reads: bill.readUnits, writes: bill.writeUnits };

  async function callModel(harness: Harness, number: number): Promise<void> {
    models.turns.push({ text: "done", usage: { input: 1_000, output: 50 } });
    expect((await gateway.messages(harness.key, { model: "claude-sonnet-5-5" })).status).toBe(200);
    await countRequest(harness.messages(number, "done"));
  }

  async function checkpoint(harness: Harness, generation: string): Promise<void> {
    const file = { filename: "workspace.tar.gz", mime_type: "application/gzip", size_bytes: 1, sha256: SHA256_OF_W };
    const begun = harness.support("upload-snapshot", { mode: "checkpoint", generation, files: [file] });
    await countRequest(begun);
    await plane.upload((await begun).body.uploads[0].url, "w");
    count.puts++;
    await countRequest(harness.support("commit-snapshot", { generation, files: [file.filename] }));
  }
}
const SHA256_OF_W = "50e721e49c013f00c62cf59f2163542a9d8df02464efeb615d31051b0fddc326";

async function countIdleMinute(): Promise<CountedCalls["idleMinute"]> {
  plane.clock.now += 3_600_000;
  await reap(plane);
  const { bill } = await measureBill(table, async () => {
    await reap(plane);
    await reconcile(plane);
    await passMinutes(plane, 0);
    await createHooks(plane).passMinutes(0);
  });
  return { reads: bill.readUnits, writes: bill.writeUnits };
}

describe("the call counts of npm run aws -- cost", () => {
  it("are those of a ten-minute run and of an idle minute", async () => {
    const known: unknown = JSON.parse(readFileSync(join(root, "operate/cost/counted-calls.json"), "utf8"));
    expect({ idleMinute: await countIdleMinute(), run: await countRun() }).toEqual(known);
  });
});

describe("the costs of a deployment", () => {
  let deployed: Deployed;
  let counted: CountedCalls;
  beforeAll(() => {
    deployed = readDeployed();
    counted = JSON.parse(readFileSync(join(root, "operate/cost/counted-calls.json"), "utf8"));
  });

  it("are at most $1 a month while it is idle, and $0.02 for a run of ten minutes without tokens", () => {
    const idle = idleMonth(deployed, counted);
    expect(idle.every(({ quantity }) => Number.isFinite(quantity))).toBe(true);
    expect(sumOf(idle, "charged")).toBeLessThanOrEqual(1);
    expect(sumOf(oneRun(deployed, counted), "list")).toBeLessThanOrEqual(0.02);
  });

  it("are stated in docs/cost.md", () => {
    const page = readFileSync(join(root, "docs/cost.md"), "utf8");
    const idle = idleMonth(deployed, counted);
    expect(page).toContain(`$${sumOf(idle, "charged").toFixed(2)} a month`);
    expect(page).toContain(`$${sumOf(idle, "list").toFixed(2)} at list price`);
    expect(page).toContain(`$${sumOf(oneRun(deployed, counted), "list").toFixed(4)}`);
    for (const { source } of Object.values(PRICE_TABLE)) expect(page).toContain(source);
  });

  it("grow with each queue that Lambda polls", () => {
    const more = idleMonth({ ...deployed, mappings: 5 }, counted);
    expect(sumOf(more, "charged")).toBeGreaterThan(sumOf(idleMonth(deployed, counted), "charged") + 0.5);
  });

  it("are $1 a month more with a KMS key for secrets", () => {
    const secretsKey = "arn:aws:kms:us-east-1:111122223333:key/1-2";
    const more = idleMonth(readDeployed({ secretsKey }), counted);
    expect(sumOf(more, "charged")).toBeCloseTo(sumOf(idleMonth(deployed, counted), "charged") + 1);
  });

  it("share one allowance between lines of the same price", () => {
    const bill = toBill([
      ["first", "alarms", 8],
      ["second", "alarms", 4],
    ]);
    expect(bill.map(({ charged }) => charged)).toEqual([0, 0.2]);
  });
});
