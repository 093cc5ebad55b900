import { describe, expect, it } from "vitest";
import { memoryTable } from "#shared/table/memory-table.ts";
import type { Put } from "#shared/table/table.ts";
import { ConflictError, transact } from "#shared/table/transact.ts";

const put = (pk: string): Put => ({ kind: "put", item: { pk, sk: "ITEM" }, if: { pk: { exists: false } } });
const catchFailure = async (promise: Promise<void>): Promise<ConflictError> => {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ConflictError)) throw new Error(`expected a ConflictError, got ${String(error)}`);
  return error;
};

describe("transact", () => {
  it("writes the items of every name, and skips a name whose value is undefined", async () => {
    const table = memoryTable();
    await transact(table, { team: put("TEAM"), members: [put("MEMBER#1"), put("MEMBER#2")], limits: undefined });
    const items = await table.batchGet(["TEAM", "MEMBER#1", "MEMBER#2"].map((pk) => ({ pk, sk: "ITEM" })));
    expect(items.map((item) => item?.pk)).toEqual(["TEAM", "MEMBER#1", "MEMBER#2"]);
  });

  it("names the failed writes, whatever their position, and writes nothing", async () => {
    const table = memoryTable();
    await table.write(put("MEMBER#2"));
    const failure = await catchFailure(
      transact(table, { team: put("TEAM"), members: [put("MEMBER#1"), put("MEMBER#2")] }),
    );
    expect([...failure.failed]).toEqual(["members"]);
    expect(failure.failedOnly("members")).toBe(true);
    expect(await table.get({ pk: "TEAM", sk: "ITEM" })).toBeUndefined();
  });

  it("names every failed write of a transaction", async () => {
    const table = memoryTable();
    await table.write(put("TEAM"));
    await table.write(put("NAME"));
    const failure = await catchFailure(
      transact(table, { team: put("TEAM"), uniqueName: put("NAME"), other: put("OTHER") }),
    );
    expect([...failure.failed].sort()).toEqual(["team", "uniqueName"]);
    expect(failure.failedOnly("team")).toBe(false);
  });

  it("passes on an error other than a failed condition", async () => {
    const table = { transact: () => Promise.reject(new Error("the table is gone")) };
    await expect(transact(table, { team: put("TEAM") })).rejects.toThrow("the table is gone");
  });
});
