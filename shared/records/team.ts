import * as v from "valibot";
import { keys, type Owner } from "#shared/table/keys.ts";
import type { Table, Value } from "#shared/table/table.ts";
import type { TeamItem, TeamSettings } from "#shared/wire/team.ts";
import { DEFAULT_CONCURRENCY_LIMIT, DEFAULT_QUEUE_LIMIT } from "./run.ts";

export const DEFAULT_IDENTITY_LIMIT = 20;

const Count = v.exactOptional(v.number());
const StoredSettings = {
  identity_limit: Count,
  concurrency_limit: Count,
  queue_limit: Count,
  default_model_id: v.exactOptional(v.string()),
  default_environment_id: v.exactOptional(v.string()),
  commit_author: v.exactOptional(v.string()),
  budget_usd_month: Count,
  retention_days: Count,
  sharing_allowed: v.exactOptional(v.boolean()),
  provider_keys: v.exactOptional(v.record(v.string(), v.string())),
};

/** A team as it is stored: settings that were never set are absent. */
const Team = v.object({
  uid: v.string(),
  name: v.string(),
  created_at: v.number(),
  ...StoredSettings,
  /** The number of items among which its limits are divided; absent where there is one, and until those of an earlier release are set. */
  counter_parts: Count,
});
export type Team = v.InferOutput<typeof Team>;

export const parseTeam = (item: Readonly<Record<string, Value>>): Team => v.parse(Team, item);

export async function readTeam(uid: string, table: Pick<Table, "get">): Promise<Team | undefined> {
  const item = await table.get(keys.team(uid));
  return item === undefined ? undefined : parseTeam(item);
}

/** False where a team forbids that its runs are public. Whether a personal run is public is its creator's choice. */
export async function isSharingAllowed({ type, uid }: Owner, table: Pick<Table, "batchGet">): Promise<boolean> {
  if (type === "User") return true;
  const [team] = await table.batchGet([keys.team(uid)]);
  return team === undefined || parseTeam(team).sharing_allowed !== false;
}

/** A team as responses show it, with the defaults filled in. */
export function toTeamItem(team: Team): TeamItem {
  return { uid: team.uid, name: team.name, settings: toTeamSettings(team) };
}

function toTeamSettings(team: Team): TeamSettings {
  return {
    identity_limit: team.identity_limit ?? DEFAULT_IDENTITY_LIMIT,
    concurrency_limit: team.concurrency_limit ?? DEFAULT_CONCURRENCY_LIMIT,
    queue_limit: team.queue_limit ?? DEFAULT_QUEUE_LIMIT,
    default_model_id: team.default_model_id ?? null,
    default_environment_id: team.default_environment_id ?? null,
    commit_author: team.commit_author ?? null,
    budget_usd_month: team.budget_usd_month ?? null,
    retention_days: team.retention_days ?? null,
    sharing_allowed: team.sharing_allowed ?? true,
    provider_keys: team.provider_keys ?? {},
  };
}
