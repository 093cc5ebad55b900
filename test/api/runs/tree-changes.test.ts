import { describe, expect, it } from "vitest";
import { keys } from "#shared/table/keys.ts";
import type { TransactionWrite } from "#shared/table/table.ts";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane } from "../../support/control-plane.ts";
import { createHarness, createRun, workingRun } from "../../support/execution.ts";
import { readState } from "../../support/look.ts";
import { withWriteInBetween } from "../../support/write-conflicts.ts";

/** A working run and its working child, which has a slot of their tree. */
async function workingTree() {
  const plane = await createTestControlPlane();
  const parent = await workingRun(plane);
  const id = await createRun(plane, { prompt: "child", parent_run_id: parent.run_id });
  const child = createHarness(plane, await plane.dispatch(id));
  await child.resolve();
  expect(await plane.table.get(keys.head(id))).toMatchObject({ slot: "tree" });
  const counters = () => plane.table.get(keys.counters({ type: "Team", uid: plane.team }));
  return { plane, parent, child, counters };
}

const endsChild = (id: string) => (write: TransactionWrite) =>
  write.kind === "update" && write.key.pk === keys.head(id).pk && write.set?.["state"] === "SUCCEEDED";

describe("a child that ends while the root of its tree ends", () => {
  it("still ends, and frees the slot of the tree", async () => {
    const { plane, parent, child, counters } = await workingTree();
    const finish = await withWriteInBetween(plane, endsChild(child.run_id), parent.finish, child.finish);
    expect(finish.status, JSON.stringify(finish.body)).toBe(200);
    expect(await readState(plane, child.run_id)).toBe("SUCCEEDED");
    expect(await counters()).toMatchObject({ running: 0 });
    expect(await plane.table.get(keys.head(parent.run_id))).not.toHaveProperty("slot");
  });

  it("is refused if it is also cancelled concurrently", async () => {
    const { plane, parent, child, counters } = await workingTree();
    const meanwhile = async () => {
      await parent.finish();
      await createClient(plane).post(`/agent/runs/${child.run_id}/cancel`);
    };
    const finish = await withWriteInBetween(plane, endsChild(child.run_id), meanwhile, child.finish);
    expect(finish).toMatchObject({ status: 401, body: { error_code: "authentication_required" } });
    expect(await readState(plane, child.run_id)).toBe("CANCELLED");
    expect(await counters()).toMatchObject({ running: 0 });
  });
});
