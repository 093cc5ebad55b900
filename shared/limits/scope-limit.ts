import { RunyardError } from "#shared/errors.ts";
import type { Query, Table } from "#shared/table/table.ts";

/** Returns the 409 of a scope that is full. `things` is a plural noun. */
export const tooMany = (most: number, things: string): RunyardError =>
  new RunyardError("conflict", {
    detail: `there are ${most} ${things} already, which is the maximum: delete one first`,
    retryable: false,
  });

/**
 * Throws a 409 where a scope has `most` entries already. The entries are counted by a read, so two concurrent requests may both
 * pass: the limit protects lists and the deletion of a team, and one entry more does no harm there.
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
