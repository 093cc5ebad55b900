import { describe, expect, it } from "vitest";
import { keys } from "#shared/table/keys.ts";
import { createTestControlPlane } from "../../support/control-plane.ts";
import { RightMissing, withRights } from "../../support/rights.ts";

describe("a function without a permission", () => {
  it.each([
    ["table: Query", {}, "query"],
    ["table: GetItem", { table: ["BatchGetItem"] }, "get"],
    ["table: DeleteItem", { table: ["UpdateItem"] }, "delete"],
    ["indexes: gsi1", { table: ["Query"], indexes: ["gsi5"] }, "index"],
    ["bucket: PutObject plan", { bucket: { GetObject: ["plan"], PutObject: ["artifact"] } }, "put"],
    ["bucket: DeleteObject plan", { bucket: { DeleteObject: ["artifact"] } }, "remove"],
    ["bucket: ListBucket runs/a/", { bucket: { ListBucket: ["snapshots/*"] } }, "removeAll"],
    ["endsQueue: SendMessage", { runsQueue: ["SendMessage"] }, "end"],
  ] as const)("is refused in these tests, as on AWS: %s", async (lacking, rights, what) => {
    const { ports, team } = await createTestControlPlane();
    const key = keys.team(team);
    const uses = {
      query: () => ports.table.query({ pk: key.pk }),
      get: () => ports.table.get(key),
      delete: () => ports.table.write({ kind: "delete", key }),
      index: () => ports.table.query({ index: "gsi1", pk: key.pk }),
      put: () => ports.files.put("runs/a/b/plans/c.md", "d", "text/markdown"),
      remove: () => ports.fileRemoval.remove("runs/a/b/plans/c.md"),
      removeAll: () => ports.fileRemoval.removeAll("runs/a/"),
      end: () => ports.queue.sendEnd("run", { type: "Team", uid: team }),
    };
    const refusal = new RightMissing(`a-function lacks ${lacking}`);
    await expect(withRights("a-function", rights, async () => uses[what]())).rejects.toThrow(refusal);
    const ignored = withRights("a-function", rights, async () => uses[what]()?.catch(() => undefined));
    await expect(ignored, "even if the function ignores the error").rejects.toThrow(refusal);
    await expect(ports.table.get(key), "a test's own reads need no permission").resolves.toBeDefined();
  });
});
