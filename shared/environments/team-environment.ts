import { invalid } from "#shared/errors.ts";
import { isUuid } from "#shared/ids.ts";
import { keys } from "#shared/table/keys.ts";
import type { Table } from "#shared/table/table.ts";
import { isOwnedBy, parseEnvironment } from "./environment.ts";

/**
 * Refuses an environment that is not the team's own. What the runs of all members take over as a default must not depend
 * on what one of them may use. Nothing is read where `uid` names none.
 */
export async function refuseOthersEnvironment(
  uid: string | null | undefined,
  team: string,
  field: string,
  table: Table,
): Promise<void> {
  if (!uid) return;
  const item = isUuid(uid) ? await table.get(keys.environment(uid)) : undefined;
  if (item !== undefined && isOwnedBy(parseEnvironment(item), { type: "Team", uid: team })) return;
  throw invalid(field, "there is no such environment of the team");
}
