import { ConditionFailed, type Table, type Write } from "./table.ts";

/** Writes an item on condition of the write's `if`. Returns false where it does not hold. */
export async function writeIf(table: Pick<Table, "write">, write: Write): Promise<boolean> {
  try {
    await table.write(write);
    return true;
  } catch (error) {
    if (error instanceof ConditionFailed) return false;
    throw error;
  }
}
