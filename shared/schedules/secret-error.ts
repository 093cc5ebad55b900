import type { Environment } from "#shared/environments/environment.ts";
import { readIdentity } from "#shared/records/identity.ts";
import { parseRenewal } from "#shared/secrets/renewal.ts";
import { secretStore } from "#shared/secrets/secret-store.ts";
import type { Table } from "#shared/table/table.ts";
import type { ScheduleItem } from "#shared/wire/schedule.ts";
import type { Schedule } from "./schedule.ts";

/** Finds a secret of the schedule's runs, which have the environment, whose token can no longer be renewed. */
export async function findSecretError(
  { owner, agent_config, agent_uid }: Schedule,
  environment: Pick<Environment, "secrets"> | undefined,
  table: Table,
): Promise<Pick<ScheduleItem, "secret_error">> {
  if (owner.type !== "Team") return {};
  const identity = agent_uid === undefined ? undefined : await readIdentity(owner.uid, agent_uid, table);
  const own = (agent_config?.secrets ?? []).map(({ name }) => name);
  const names = [...new Set([...own, ...(identity?.secrets ?? []), ...(environment?.secrets ?? [])])];
  for (const { name, renewal } of await secretStore(table).getMany(owner.uid, names)) {
    const refusal = renewal === undefined ? undefined : parseRenewal(renewal).refusal;
    if (refusal !== undefined) return { secret_error: `secret ${name}: ${refusal.reason}` };
  }
  return {};
}
