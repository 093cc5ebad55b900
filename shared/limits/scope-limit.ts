import { RunyardError } from "#shared/errors.ts";
import type { Query, Table } from "#shared/table/table.ts";

/** Answers 409: there are as many as there may be. `things` is said in the plural. */
export const tooMany = (most: number, things: string): RunyardError =>
  new RunyardError("conflict", {
    detail: `there are ${most} ${things} already, which is the most: delete one first`,
    retryable: false,
  });

/**
 * Refuses one more where the entries are `most` already. They are counted by a read, so that of two that come at the same
 * moment both may be let in: the limit protects the lists and the deletion of a team, and neither minds one more.
 */
export async function refuseMore(
  entries: Pick<Query, "pk" | "prefix">,
  most: number,
  things: string,
  table: Pick<Table, "query">,
): Promise<void> {
  const { items } = await table.query({ ...entries, limit: most });
  if (items.length >= most) throw tooMany(most, things);
}
