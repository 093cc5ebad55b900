import { checkRunRequest, findScheduleEnvironment, keepSecrets } from "#shared/schedules/agent.ts";
import { requireSecrets } from "#shared/secrets/run-secrets.ts";
import type { Table } from "#shared/table/table.ts";
import type { AmbientAgentConfig, ResolvedAgentConfig } from "#shared/wire/config.ts";
import type { Trigger } from "./trigger-store.ts";

/** Refuses a configuration with which no run of the trigger could be created. Errors name members of `agent_config`. */
export async function checkConfig(
  config: AmbientAgentConfig,
  { owner, created_by }: Pick<Trigger, "owner" | "created_by">,
  table: Table,
): Promise<void> {
  // Each run has a prompt, by the template.
  checkRunRequest({ prompt: "an event", config });
  await findScheduleEnvironment({ owner, created_by }, config, table);
  await requireSecrets(config, "agent_config", { owner, parent: undefined }, table);
}

/** The stored configuration, with the secrets of the one before it where the request shows them as `***`; none for an empty one. */
export const configMember = (
  sent: AmbientAgentConfig | undefined,
  before: ResolvedAgentConfig | undefined,
): Pick<Trigger, "agent_config"> =>
  sent === undefined || Object.keys(sent).length === 0 ? {} : { agent_config: keepSecrets(sent, before) };

/** The configuration of a run of a trigger, which spends no more than the trigger allows. */
export function limitToBudget(config: ResolvedAgentConfig, limit: number | undefined): ResolvedAgentConfig {
  if (limit === undefined) return config;
  return { ...config, budget_usd: Math.min(config.budget_usd ?? limit, limit) };
}
