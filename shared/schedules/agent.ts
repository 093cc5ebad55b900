import type { Environment } from "#shared/environments/environment.ts";
import { findRunEnvironment } from "#shared/environments/run-environment.ts";
import { invalid, RunyardError } from "#shared/errors.ts";
import { isUuid } from "#shared/ids.ts";
import type { Identity } from "#shared/records/identity.ts";
import { isMember, readTeamIdentity } from "#shared/records/read-team.ts";
import type { Team } from "#shared/records/team.ts";
import { identityProfile } from "#shared/runs/actors/resolve-actors.ts";
import { checkRequest } from "#shared/runs/plan-run.ts";
import type { Owner } from "#shared/table/keys.ts";
import type { Table } from "#shared/table/table.ts";
import type { AmbientAgentConfig, ResolvedAgentConfig } from "#shared/wire/config.ts";
import type { UserProfile } from "#shared/wire/run.ts";
import type { RunAgentRequest } from "#shared/wire/runs/new-run.ts";
import { identityOf, type Schedule } from "./schedule.ts";

/** Member names of a run's request, and their names in that of a schedule. */
const SCHEDULE_NAMES: Readonly<Record<string, string>> = { config: "agent_config", agent_identity_uid: "agent_uid" };

/** Refuses a schedule whose runs could not be created; errors name the members of the schedule. */
export function checkRunRequest(request: RunAgentRequest): void {
  withScheduleNames(() => checkRequest(request));
}

/** Runs a check of a run's request; its errors name the members of the schedule instead. */
export function withScheduleNames<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof RunyardError)) throw error;
    const { detail, errors, status, retryable } = error;
    throw new RunyardError(error.code, {
      status,
      retryable,
      cause: error,
      ...(detail === undefined ? {} : { detail: rename(detail) }),
      ...(errors === undefined ? {} : { errors: errors.map((one) => ({ ...one, path: rename(one.path) })) }),
    });
  }
}

const rename = (text: string): string => text.replace(/^\w+/, (name) => SCHEDULE_NAMES[name] ?? name);

/** Who executes a schedule's runs, and the identity and team whose defaults their configuration takes over. */
export interface ScheduleExecutor {
  readonly executor: UserProfile;
  readonly identity: Identity | undefined;
  readonly team: Team | undefined;
}

/** Finds who executes the runs; refuses an identity that does not exist, or is beyond the limit of the team's plan. */
export async function findExecutor(
  schedule: Pick<Schedule, "agent_uid" | "created_by" | "owner">,
  table: Table,
): Promise<ScheduleExecutor> {
  const { owner, created_by } = schedule;
  const uid = identityOf(schedule);
  if (owner.type !== "Team") {
    if (uid !== undefined) throw invalid("agent_uid", "is for team schedules only");
    return { executor: created_by, identity: undefined, team: undefined };
  }
  const { team, identity, isAvailable } = await readTeamIdentity(
    owner.uid,
    uid !== undefined && isUuid(uid) ? uid : undefined,
    table,
  );
  if (uid === undefined) return { executor: created_by, identity: undefined, team };
  if (identity === undefined) throw invalid("agent_uid", "there is no such identity in the team");
  if (!isAvailable) {
    const detail = `agent_uid: the identity ${identity.name} is beyond the limit of the team's plan`;
    throw new RunyardError("feature_not_available", { detail });
  }
  return { executor: identityProfile(identity), identity, team };
}

/**
 * Finds the environment of a schedule's runs, with the rights of the schedule's creator. Where it is deleted or no longer shared
 * with the creator, no run is created: `last_spawn_error` has the reason, and the schedule stays active, since the environment may be
 * shared again. Environments of a person who has left the team do not count: they decide which commands run with the team's secrets.
 */
export async function findScheduleEnvironment(
  { owner, created_by }: Pick<Schedule, "created_by" | "owner">,
  config: AmbientAgentConfig | undefined,
  table: Table,
): Promise<Environment | undefined> {
  const creator = created_by.type === "user" ? created_by.uid : undefined;
  const isNamed = config?.environment_id !== undefined;
  const user = creator !== undefined && isNamed && (await isInScope(creator, owner, table)) ? creator : undefined;
  try {
    return await findRunEnvironment(config, { owner, user }, table);
  } catch (error) {
    return withScheduleNames(() => {
      throw error;
    });
  }
}

async function isInScope(user: string, owner: Owner, table: Table): Promise<boolean> {
  return owner.type === "User" || (await isMember(owner.uid, user, table));
}

const SECRET = "***";

/**
 * Replaces `***` in a configuration by the secrets of the one before it: responses show secrets so, and a client that writes back
 * what it has read means the stored ones.
 */
export function keepSecrets(
  { mcp_servers: sent, ...rest }: AmbientAgentConfig,
  before: ResolvedAgentConfig | undefined,
): ResolvedAgentConfig {
  if (sent === undefined) return rest;
  const all: NonNullable<ResolvedAgentConfig["mcp_servers"]> = sent;
  const servers = Object.entries(all).map(([name, server]) => {
    const old = before?.mcp_servers?.[name];
    const { env, headers } = server;
    const secrets = {
      ...(env === undefined ? {} : { env: keepValues(env, old?.env) }),
      ...(headers === undefined ? {} : { headers: keepValues(headers, old?.headers) }),
    };
    return [name, { ...server, ...secrets }] as const;
  });
  return { ...rest, mcp_servers: Object.fromEntries(servers) };
}

function keepValues(values: Readonly<Record<string, string>>, old: Readonly<Record<string, string>> | undefined) {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, value === SECRET ? (old?.[name] ?? value) : value]),
  );
}
