import { invalid } from "#shared/errors.ts";
import { isUuid } from "#shared/ids.ts";
import type { Table } from "#shared/table/table.ts";
import { isOwnedBy } from "./environment.ts";
import { readEnvironment } from "./environment-store.ts";

/**
 * Refuses an environment that the team does not own. What the runs of all members take over as a default must not depend on what
 * one member may use. Reads nothing where `uid` names no environment.
 */
export async function refuseOthersEnvironment(
  uid: string | null | undefined,
  team: string,
  field: string,
  table: Table,
): Promise<void> {
  if (!uid) return;
  const environment = isUuid(uid) ? await readEnvironment(uid, table) : undefined;
  if (environment !== undefined && isOwnedBy(environment, { type: "Team", uid: team })) return;
  throw invalid(field, "there is no such environment of the team");
}
