import type { Identity } from "#shared/records/identity.ts";
import { shownConfig } from "#shared/runs/run-item.ts";
import type { IdentityItem } from "#shared/wire/identity.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";

/** An identity as responses show it: values of `env` and `headers` are masked, the default harness is left out. */
export function toIdentityItem(identity: Identity, available: boolean): IdentityItem {
  const { team_uid, is_default: _, created_at, updated_at, skills, secrets, mcp_servers, harness, ...rest } = identity;
  const visibleConfig = shownConfig({
    ...(mcp_servers === undefined ? {} : { mcp_servers }),
    ...(harness === undefined ? {} : { harness }),
  });
  return {
    ...rest,
    available,
    created_at: toTimestamp(created_at),
    updated_at: toTimestamp(updated_at),
    scope: { type: "Team", uid: team_uid },
    skills: skills ?? [],
    secrets: (secrets ?? []).map((name) => ({ name })),
    memory: { auto_memory: { enabled: false }, attached_stores: [] },
    default_runner_uid: "",
    ...(visibleConfig.mcp_servers === undefined ? {} : { mcp_servers: visibleConfig.mcp_servers }),
    ...(visibleConfig.harness === undefined ? {} : { harness: visibleConfig.harness }),
  };
}
