import { createHash, randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { uuidv7 } from "#shared/ids.ts";
import { parseRunBody } from "#shared/records/run-body.ts";
import { keys } from "#shared/table/keys.ts";
import { billOfMinute } from "../../../lab/bench/budgets.ts";
import { sizeOfItem } from "../../../lab/bench/item-size.ts";
import { newRunWrites } from "../../../lab/bench/new-run-writes.ts";
import { dollars } from "../../../lab/bench/prices.ts";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { type CostedTable, costedTable, measureBill } from "../../support/costed-table.ts";
import { createHarness, createRun, deliver, workingRun } from "../../support/execution.ts";

/** Budgets that are counts, which hold on any machine. `npm run lab -- bench` measures times. */
let table: CostedTable;
let plane: TestControlPlane;
/** The title is in the head; the name of a partition takes up to five bytes more or fewer. */
const REQUEST = { title: "Tidy up a build and report what changed", prompt: "Tell the time.\n\n```sh\ndate\n```" };

beforeEach(async () => {
  table = costedTable();
  plane = await createTestControlPlane(table);
  // A team's first run makes its counters, which no later one does.
  await (await workingRun(plane, REQUEST)).finish();
  await deliver(plane);
});

describe("POST /agent/runs", () => {
  test("calls AWS four times when warm: two reads for the key, one transaction, one message", async () => {
    const { bill } = await measureBill(table, () => createRun(plane, REQUEST));
    expect(bill.calls + plane.sent.length).toBeLessThanOrEqual(4);
  });

  test("calls AWS once more for a child, to read its parent", async () => {
    const parent = await createRun(plane, REQUEST);
    plane.sent.splice(0);
    const { bill } = await measureBill(table, () => createRun(plane, { ...REQUEST, parent_run_id: parent }));
    expect(bill.calls + plane.sent.length).toBeLessThanOrEqual(5);
  });
});

describe("a run", () => {
  test("without messages costs at most 49 write units, from its creation to its transcript and its place in usage reports", async () => {
    const { bill } = await measureBill(table, async () => {
      // Each transition has its own time, so that it changes the position of the run in the lists.
      const runId = await createRun(plane, REQUEST);
      plane.clock.now += 100;
      const harness = createHarness(plane, await plane.dispatch(runId));
      plane.clock.now += 100;
      await harness.resolve();
      plane.clock.now += 100;
      await harness.finish();
      await deliver(plane);
    });
    expect(bill.writeUnits).toBeGreaterThan(40);
    // Four of them count the run once for usage reports, which then read no runs.
    expect(bill.writeUnits).toBeLessThanOrEqual(49);
  });

  test("costs at most 6 write units more for a batch of messages", async () => {
    const harness = await workingRun(plane, REQUEST);
    const { bill } = await measureBill(table, () => harness.messages(1, "one", "two"));
    expect(bill.writeUnits).toBeLessThanOrEqual(6);
  });

  test("has a head of at most 1 KB while it works, with messages, a file and a follow-up", async () => {
    const harness = await workingRun(plane, REQUEST);
    await harness.messages(1, "one", "two");
    const content = "an artifact\n";
    const artifact = {
      artifact_type: "FILE",
      data: {
        filepath: "a.txt",
        filename: "a.txt",
        mime_type: "text/plain",
        size_bytes: content.length,
        sha256: createHash("sha256").update(content).digest("hex"),
      },
    };
    const { body } = await harness.support("report-artifact", artifact);
    await plane.upload(body.upload.url, content);
    await harness.support("report-artifact", artifact);
    await createClient(plane).post(`/agent/runs/${harness.run_id}/followups`, { message: "and then?" });
    await harness.beat(1);
    await harness.event({ event_uuid: randomUUID(), event_name: "agent_started", timestamp: new Date().toISOString() });
    const head = await table.get(keys.head(harness.run_id));
    expect(head).toMatchObject({ state: "INPROGRESS", messages: 2, artifacts: 1, followups: 1 });
    expect(sizeOfItem(head ?? {})).toBeLessThanOrEqual(1024);
  });

  test("writes a heartbeat only when the last one is eight seconds old", async () => {
    const harness = await workingRun(plane, REQUEST);
    plane.clock.now += 7_999;
    expect((await measureBill(table, () => harness.beat())).bill).toMatchObject({ calls: 1, writeUnits: 0 });
    plane.clock.now += 1;
    expect((await measureBill(table, () => harness.beat())).bill).toMatchObject({ calls: 2, writeUnits: 1 });
  });

  test("costs at most $20 for a million minutes of running at list prices", async () => {
    const harness = await workingRun(plane, REQUEST);
    const { body } = await harness.beat();
    expect(body.next_heartbeat_seconds).toBe(9);
    plane.clock.now += body.next_heartbeat_seconds * 1000;
    const { bill } = await measureBill(table, () => harness.beat());
    const minute = billOfMinute({ reads: bill.readUnits, writes: bill.writeUnits });
    expect(minute).toMatchObject({ invocations: 60 / 9, writes: 60 / 9 + 6 });
    expect(dollars(minute)).toBeLessThanOrEqual(20);
  });
});

describe("GET /agent/runs", () => {
  test.each([1_000, 5_000])("reads at most four items for each returned run, with %i runs", async (runs) => {
    const like = await table.get(keys.body(await createRun(plane, REQUEST)));
    const body = parseRunBody(like ?? { pk: "", sk: "" });
    const owner = { type: "Team", uid: plane.team } as const;
    for (let index = 0; index < runs; index++) {
      const now = plane.clock.now + index;
      const writes = newRunWrites(uuidv7(now), owner, { ...body, title: `Run ${index}` }, now);
      await table.transact(writes.filter(({ kind }) => kind === "put"));
    }
    for (const order of ["updated_at", "created_at", "title", "agent"]) {
      const target = `/agent/runs?limit=20&sort_by=${order}`;
      const first = await measureBill(table, () => createClient(plane).get(target));
      expect(first.result.body.runs).toHaveLength(20);
      const { next_cursor } = first.result.body.page_info;
      const second = await measureBill(table, () => createClient(plane).get(`${target}&cursor=${next_cursor}`));
      expect(second.result.body.runs).toHaveLength(20);
      for (const { bill } of [first, second]) expect(bill.items, order).toBeLessThanOrEqual(80);
    }
  });
});
