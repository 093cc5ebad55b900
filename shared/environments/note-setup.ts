import { ownerOf, parseRunHead } from "#shared/records/run-head.ts";
import { keys } from "#shared/table/keys.ts";
import { ConditionFailed, type Table } from "#shared/table/table.ts";
import { isOwnedBy, parseEnvironment, parseLastRun, setupOutcomeOf } from "./environment.ts";

/**
 * Notes with its environment whether an ended run could be set up. As with the environment's latest run, runs of its own
 * scope alone tell of it. Nothing is written where all is well and was so before.
 */
export async function noteSetup(runId: string, { table }: { readonly table: Table }): Promise<void> {
  const item = await table.get(keys.head(runId));
  const head = item === undefined ? undefined : parseRunHead(item);
  const uid = head?.p.environment;
  const outcome = head === undefined ? undefined : setupOutcomeOf(head);
  if (head === undefined || uid === undefined || outcome === undefined) return;
  const [stored, last] = await table.batchGet([keys.environment(uid), keys.environmentRun(uid)]);
  if (stored === undefined || !isOwnedBy(parseEnvironment(stored), ownerOf(head))) return;
  if (!outcome.failed && parseLastRun(last)?.setup_failed !== true) return;
  try {
    await table.write({
      kind: "update",
      key: keys.environmentRun(uid),
      set: { setup_failed: outcome.failed, setup_at: outcome.at },
      if: { pk: { exists: true }, setup_at: { absentOr: { below: outcome.at } } },
    });
  } catch (error) {
    // The environment is deleted, or a run that ended later has told already.
    if (!(error instanceof ConditionFailed)) throw error;
  }
}
