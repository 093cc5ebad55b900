import * as v from "valibot";
import { keys } from "#shared/table/keys.ts";
import type { Check, Table, Value } from "#shared/table/table.ts";
import { ResolvedAgentConfig } from "#shared/wire/config.ts";
import { StoredLimits } from "#shared/wire/limits/run-limits.ts";

const config = ResolvedAgentConfig.entries;

/** Defaults of an identity for its runs; one that is not set is absent. */
const IdentityDefaults = {
  description: v.exactOptional(v.string()),
  prompt: v.exactOptional(v.string()),
  base_model: v.exactOptional(v.string()),
  environment_id: v.exactOptional(v.string()),
  skills: v.exactOptional(v.array(v.string())),
  mcp_servers: config.mcp_servers,
  harness: config.harness,
  worker_host: v.exactOptional(v.string()),
  ...StoredLimits,
  harness_auth_secrets: config.harness_auth_secrets,
  secrets: v.exactOptional(v.array(v.string())),
  on_behalf_of_enabled: v.exactOptional(v.boolean()),
  credential_strategy: v.exactOptional(v.picklist(["CREATOR", "EXECUTOR"])),
};

/** An identity as it is stored. */
const Identity = v.object({
  uid: v.string(),
  team_uid: v.string(),
  name: v.string(),
  created_at: v.number(),
  updated_at: v.number(),
  /** True for the identity that is created with the team and cannot be deleted. */
  is_default: v.exactOptional(v.boolean()),
  ...IdentityDefaults,
});
export type Identity = v.InferOutput<typeof Identity>;

export const parseIdentity = (item: Readonly<Record<string, Value>>): Identity => v.parse(Identity, item);

export const checkIdentityExists = (team: string, uid: string): Check => ({
  kind: "check",
  key: keys.identity(team, uid),
  if: { pk: { exists: true } },
});

/** True if the team has an identity with this id. */
export const hasIdentity = async (team: string, uid: string, table: Pick<Table, "get">): Promise<boolean> =>
  (await table.get(keys.identity(team, uid))) !== undefined;

export async function readIdentity(
  team: string,
  uid: string,
  table: Pick<Table, "get">,
): Promise<Identity | undefined> {
  const item = await table.get(keys.identity(team, uid));
  return item === undefined ? undefined : parseIdentity(item);
}
