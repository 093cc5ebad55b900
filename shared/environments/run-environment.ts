import { invalid } from "#shared/errors.ts";
import { isUuid } from "#shared/ids.ts";
import { type Principal, seesOwner } from "#shared/principals/principal.ts";
import type { Owner } from "#shared/table/keys.ts";
import type { Table } from "#shared/table/table.ts";
import type { AmbientAgentConfig } from "#shared/wire/config.ts";
import { pickLimits } from "#shared/wire/limits/run-limits.ts";
import { type Environment, isOwnedBy } from "./environment.ts";
import { readEnvironment } from "./environment-store.ts";

/** For whom a run is created: its owner, and a person whose own and shared environments count as well. */
export interface EnvironmentReader {
  readonly owner: Owner;
  readonly user: string | undefined;
  readonly principal?: Principal;
  /** The environment of the run whose own key calls: its children may use it too. */
  readonly inherited?: string | undefined;
}

/** Returns the reader for a run that a principal creates. */
export const environmentReader = (principal: Principal, owner: Owner): EnvironmentReader => ({
  owner,
  principal,
  user: principal.kind === "personal" ? principal.user.uid : undefined,
});

/** Finds the environment that a resolved configuration names. Refuses one that does not exist or that the reader may not use. */
export async function findRunEnvironment(
  config: AmbientAgentConfig | undefined,
  reader: EnvironmentReader,
  table: Table,
): Promise<Environment | undefined> {
  const uid = config?.environment_id;
  if (uid === undefined) return undefined;
  const environment = isUuid(uid) ? await readEnvironment(uid, table) : undefined;
  if (environment === undefined || !mayUse(reader, environment)) {
    throw invalid("config.environment_id", `there is no such environment: ${uid}`);
  }
  return environment;
}

export function mayUse({ owner, user, principal, inherited }: EnvironmentReader, environment: Environment): boolean {
  if (isOwnedBy(environment, owner) || environment.uid === inherited) return true;
  if (principal !== undefined && seesOwner(principal, environment.owner)) return true;
  return user !== undefined && (isOwnedBy(environment, { type: "User", uid: user }) || environment.guests.has(user));
}

/** Adds the environment's repositories, worker and limits to a request that names none itself. */
export function withEnvironment<R extends { readonly config?: AmbientAgentConfig }>(
  request: R,
  environment: Environment | undefined,
): R {
  const { config = {} } = request;
  const { repositories, worker_host } = environment ?? {};
  const added = {
    ...(repositories === undefined || config.repositories !== undefined ? {} : { repositories }),
    ...(worker_host === undefined || config.worker_host !== undefined ? {} : { worker_host }),
  };
  const limits = environment === undefined ? {} : pickLimits(environment);
  if (Object.keys({ ...added, ...limits }).length === 0) return request;
  return { ...request, config: { ...limits, ...config, ...added } };
}

/** What a run copies of its environment besides its configuration: a change of the environment changes no run. */
export const copySetup = (
  environment: Environment | undefined,
): Pick<Environment, "setup_commands" | "docker_image" | "variables" | "providers" | "network"> => ({
  ...(environment?.setup_commands === undefined ? {} : { setup_commands: environment.setup_commands }),
  ...(environment?.docker_image === undefined ? {} : { docker_image: environment.docker_image }),
  ...(environment?.variables === undefined ? {} : { variables: environment.variables }),
  ...(environment?.providers === undefined ? {} : { providers: environment.providers }),
  ...(environment?.network === undefined ? {} : { network: environment.network }),
});
