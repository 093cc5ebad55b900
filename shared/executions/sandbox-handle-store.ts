import type { PlacedSandbox } from "#shared/sandbox/sandbox.ts";
import { keys } from "#shared/table/keys.ts";
import type { Table } from "#shared/table/table.ts";
import { writeIf } from "#shared/table/write-if.ts";

/**
 * Records the provider's handle of an execution's sandbox.
 * @returns false if the run no longer has this execution
 */
export function putHandle(
  runId: string,
  { provider, executionId, handle }: PlacedSandbox & { readonly handle: string },
  table: Pick<Table, "write">,
): Promise<boolean> {
  return writeIf(table, {
    kind: "update",
    key: keys.head(runId),
    set: { sandbox: { provider, handle } },
    add: { sandbox_changes: 1 },
    if: { execution_id: { eq: executionId }, state: { in: ["PENDING", "CLAIMED", "INPROGRESS"] } },
  });
}
