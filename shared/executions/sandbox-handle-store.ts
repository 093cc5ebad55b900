import type { PlacedSandbox } from "#shared/sandbox/sandbox.ts";
import { keys } from "#shared/table/keys.ts";
import { ConditionFailed, type Table } from "#shared/table/table.ts";

/**
 * Records the provider's handle of an execution's sandbox.
 * @returns false if the run no longer has this execution
 */
export async function putHandle(
  runId: string,
  { provider, executionId, handle }: PlacedSandbox & { readonly handle: string },
  table: Pick<Table, "write">,
): Promise<boolean> {
  try {
    await table.write({
      kind: "update",
      key: keys.head(runId),
      set: { sandbox: { provider, handle } },
      add: { sandbox_changes: 1 },
      if: { execution_id: { eq: executionId }, state: { in: ["PENDING", "CLAIMED", "INPROGRESS"] } },
    });
    return true;
  } catch (error) {
    if (error instanceof ConditionFailed) return false;
    throw error;
  }
}
