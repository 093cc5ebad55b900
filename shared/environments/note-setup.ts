import { readRunHead } from "#shared/records/read-run-heads.ts";
import { parseOwner } from "#shared/records/run-head.ts";
import type { Table } from "#shared/table/table.ts";
import { getSetupOutcome, isOwnedBy } from "./environment.ts";
import { environmentStore } from "./environment-store.ts";

/**
 * Records with its environment whether an ended run could be set up. As for the environment's latest run, only runs of its own
 * scope count. Writes nothing where the setup succeeded and had not failed before.
 */
export async function noteSetup(runId: string, { table }: { readonly table: Table }): Promise<void> {
  const head = await readRunHead(runId, table);
  const uid = head?.p.environment;
  const outcome = head === undefined ? undefined : getSetupOutcome(head);
  if (head === undefined || uid === undefined || outcome === undefined) return;
  const environments = environmentStore(table);
  const { environment, lastRun } = await environments.getWithLastRun(uid);
  if (environment === undefined || !isOwnedBy(environment, parseOwner(head))) return;
  if (!outcome.failed && lastRun?.setup_failed !== true) return;
  await environments.noteSetup(uid, outcome);
}
