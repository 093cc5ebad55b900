import { describe, expect, it } from "vitest";
import { memoryFileStore } from "#shared/files/memory-file-store.ts";
import { memoryTable } from "#shared/table/memory-table.ts";
import { INDEXES } from "#shared/table/table.ts";
import released from "../infra/released-indexes.json" with { type: "json" };
import { fileStoreContract } from "./file-store-contract.ts";
import { tableContract } from "./table-contract.ts";

describe("the table in memory", () => {
  tableContract(memoryTable);

  it("has the indexes of the released table", () => {
    const indexes = Object.entries(INDEXES).map(
      ([name, { pk, sk, carries }]) => `${name}: ${pk}, ${sk}; carries ${carries.join(", ")}`,
    );
    expect(indexes).toEqual(released);
  });
});

describe("files in memory", () => {
  fileStoreContract(memoryFileStore);
});
