import type { Identity } from "#shared/records/identity.ts";
import type { Team } from "#shared/records/team.ts";
import type { AmbientAgentConfig } from "#shared/wire/config.ts";
import { pickLimits } from "#shared/wire/limits/run-limits.ts";

interface Layers {
  readonly identity: Identity | undefined;
  readonly team: Team | undefined;
}

interface Configured {
  readonly config?: AmbientAgentConfig;
  readonly skill?: string;
}

/**
 * Fills in what the request leaves open from the identity that executes, then from the team's defaults. Each member comes
 * whole from the first layer that has it; a request that names a skill gets none of the identity's.
 */
export function withDefaults<R extends Configured>(request: R, { identity, team }: Layers): R {
  const { config = {}, skill } = request;
  const hasSkill = skill !== undefined || config.skill_spec !== undefined || config.skills !== undefined;
  const filled: AmbientAgentConfig = {
    ...(team?.default_model_id === undefined ? {} : { model_id: team.default_model_id }),
    ...(team?.default_environment_id === undefined ? {} : { environment_id: team.default_environment_id }),
    ...(identity === undefined ? {} : toConfig(identity, !hasSkill)),
    ...config,
  };
  return Object.keys(filled).length === 0 ? request : { ...request, config: filled };
}

/** The defaults of an identity for its runs, as a run's configuration. */
function toConfig(identity: Identity, withSkills: boolean): AmbientAgentConfig {
  const {
    base_model,
    environment_id,
    prompt,
    skills,
    mcp_servers,
    harness,
    worker_host,
    credential_strategy,
    harness_auth_secrets,
  } = identity;
  return {
    ...(base_model === undefined ? {} : { model_id: base_model }),
    ...(environment_id === undefined ? {} : { environment_id }),
    ...(prompt === undefined ? {} : { base_prompt: prompt }),
    ...(skills === undefined || !withSkills ? {} : { skills }),
    ...(mcp_servers === undefined ? {} : { mcp_servers }),
    ...(harness === undefined ? {} : { harness }),
    ...(worker_host === undefined ? {} : { worker_host }),
    ...(harness_auth_secrets === undefined ? {} : { harness_auth_secrets }),
    ...(credential_strategy === undefined ? {} : { credential_strategy }),
    ...pickLimits(identity),
  };
}
