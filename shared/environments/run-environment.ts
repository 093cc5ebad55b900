import { invalid } from "#shared/errors.ts";
import { isUuid } from "#shared/ids.ts";
import { type Principal, seesOwner } from "#shared/principals/principal.ts";
import { keys, type Owner } from "#shared/table/keys.ts";
import type { Table, Update } from "#shared/table/table.ts";
import type { AmbientAgentConfig } from "#shared/wire/config.ts";
import { type Environment, isOwnedBy, parseEnvironment } from "./environment.ts";

/** For whom a run is made: its owner, and a person whose own environments and guest's rights count beside. */
export interface EnvironmentReader {
  readonly owner: Owner;
  readonly user: string | undefined;
  readonly principal?: Principal;
  /** The environment of the run whose own key asks: its children work in it too. */
  readonly inherited?: string | undefined;
}

/** Who asks for a run by a key. */
export const environmentReader = (principal: Principal, owner: Owner): EnvironmentReader => ({
  owner,
  principal,
  user: principal.kind === "personal" ? principal.user.uid : undefined,
});

/** The environment that a resolved configuration names. Refuses one that is not there or not for those who ask. */
export async function environmentOfRun(
  config: AmbientAgentConfig | undefined,
  asker: EnvironmentReader,
  table: Table,
): Promise<Environment | undefined> {
  const uid = config?.environment_id;
  if (uid === undefined) return undefined;
  const item = isUuid(uid) ? await table.get(keys.environment(uid)) : undefined;
  const environment = item === undefined ? undefined : parseEnvironment(item);
  if (environment === undefined || !mayUse(asker, environment)) {
    throw invalid("config.environment_id", `there is no such environment: ${uid}`);
  }
  return environment;
}

export function mayUse({ owner, user, principal, inherited }: EnvironmentReader, environment: Environment): boolean {
  if (isOwnedBy(environment, owner) || environment.uid === inherited) return true;
  if (principal !== undefined && seesOwner(principal, environment.owner)) return true;
  return user !== undefined && (isOwnedBy(environment, { type: "User", uid: user }) || environment.guests.has(user));
}

/** The request with the environment's repositories where it names none itself. */
export function withEnvironment<R extends { readonly config?: AmbientAgentConfig }>(
  request: R,
  environment: Environment | undefined,
): R {
  const { config = {} } = request;
  if (environment?.repositories === undefined || config.repositories !== undefined) return request;
  return { ...request, config: { ...config, repositories: environment.repositories } };
}

/** What a run keeps of its environment beside its configuration: a change of the environment changes no run. */
export const setupOf = (
  environment: Environment | undefined,
): Pick<Environment, "setup_commands" | "docker_image"> => ({
  ...(environment?.setup_commands === undefined ? {} : { setup_commands: environment.setup_commands }),
  ...(environment?.docker_image === undefined ? {} : { docker_image: environment.docker_image }),
});

/**
 * Notes the run with its environment, and fails where that is deleted meanwhile. Only a run of the environment's own scope
 * is noted: others are not for everyone who sees the environment.
 */
export function lastRunWrites(
  environment: Environment | undefined,
  owner: Owner,
  run: { readonly run_id: string; readonly title: string; readonly created_at: number },
): Update[] {
  if (environment === undefined || !isOwnedBy(environment, owner)) return [];
  return [{ kind: "update", key: keys.environmentRun(environment.uid), set: { ...run }, if: { pk: { exists: true } } }];
}
