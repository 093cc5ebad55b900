import * as v from "valibot";
import type { Identity } from "#shared/records/identity.ts";
import type { Team } from "#shared/records/team.ts";
import { settingIfAny } from "#shared/settings.ts";
import type { AmbientAgentConfig } from "#shared/wire/config.ts";
import { pickLimits } from "#shared/wire/limits/run-limits.ts";
import { CommitAuthor } from "#shared/wire/runs/commit-author.ts";

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

/** Fills in the author of commits that neither the request, its identity nor its environment sets: the team's, else the deployment's. */
export function withCommitAuthor<R extends Configured>(request: R, { team }: Pick<Layers, "team">): R {
  const author = team?.commit_author ?? commitAuthor();
  if (author === undefined || request.config?.commit_author !== undefined) return request;
  return { ...request, config: { ...request.config, commit_author: author } };
}

/** The author that the deployment sets; undefined: that of the harness. */
export function commitAuthor(): string | undefined {
  const author = settingIfAny("RUNYARD_COMMIT_AUTHOR");
  if (author === undefined || v.is(CommitAuthor, author)) return author;
  throw new Error("RUNYARD_COMMIT_AUTHOR must be a name and an email address, such as Build Bot <bot@example.com>");
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
