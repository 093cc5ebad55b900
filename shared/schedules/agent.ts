import type { Environment } from "#shared/environments/environment.ts";
import { findRunEnvironment } from "#shared/environments/run-environment.ts";
import { invalid, RunyardError } from "#shared/errors.ts";
import { isUuid } from "#shared/ids.ts";
import { type Identity, parseIdentity } from "#shared/records/identity.ts";
import { parseAvailable } from "#shared/records/identity-register.ts";
import { parseTeam, type Team } from "#shared/records/team.ts";
import { identityProfile } from "#shared/runs/actors.ts";
import { checkRequest } from "#shared/runs/plan-run.ts";
import { keys, type Owner } from "#shared/table/keys.ts";
import type { Table } from "#shared/table/table.ts";
import type { AmbientAgentConfig, ResolvedAgentConfig } from "#shared/wire/config.ts";
import type { RunAgentRequest, UserProfile } from "#shared/wire/run.ts";
import { identityOf, type Schedule } from "./schedule.ts";

/** Names of a run's request, and what they are called in that of a schedule. */
const CALLED: Readonly<Record<string, string>> = { config: "agent_config", agent_identity_uid: "agent_uid" };

/** Refuses what a run could not be made of, in the words of a schedule. */
export function checkRunOf(request: RunAgentRequest): void {
  inScheduleWords(() => checkRequest(request));
}

/** Does what may refuse fields of a run's request; the refusal names those of the schedule. */
export function inScheduleWords<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof RunyardError)) throw error;
    const { detail, errors, status, retryable } = error;
    throw new RunyardError(error.code, {
      status,
      retryable,
      cause: error,
      ...(detail === undefined ? {} : { detail: renamed(detail) }),
      ...(errors === undefined ? {} : { errors: errors.map((one) => ({ ...one, path: renamed(one.path) })) }),
    });
  }
}

const renamed = (text: string): string => text.replace(/^\w+/, (name) => CALLED[name] ?? name);

/** As whom a schedule's runs work, and what their configuration takes over where the schedule leaves it open. */
export interface Worker {
  readonly executor: UserProfile;
  readonly identity: Identity | undefined;
  readonly team: Team | undefined;
}

/** Reads as whom the runs work; refuses an identity that is gone, or beyond what the team's plan has. */
export async function workerOf(
  schedule: Pick<Schedule, "agent_uid" | "created_by" | "owner">,
  table: Table,
): Promise<Worker> {
  const { owner, created_by } = schedule;
  const uid = identityOf(schedule);
  if (owner.type !== "Team") {
    if (uid !== undefined) throw invalid("agent_uid", "is for team schedules only");
    return { executor: created_by, identity: undefined, team: undefined };
  }
  const wanted = uid === undefined || !isUuid(uid) ? [] : [keys.identity(owner.uid, uid), keys.identities(owner.uid)];
  const [team, item, register] = await table.batchGet([keys.team(owner.uid), ...wanted]);
  const known = team === undefined ? undefined : parseTeam(team);
  if (uid === undefined) return { executor: created_by, identity: undefined, team: known };
  if (item === undefined) throw invalid("agent_uid", "there is no such identity in the team");
  const identity = parseIdentity(item);
  if (!parseAvailable(register).has(uid)) {
    const detail = `agent_uid: the identity ${identity.name} is beyond the number that the team's plan has`;
    throw new RunyardError("feature_not_available", { detail });
  }
  return { executor: identityProfile(identity), identity, team: known };
}

/**
 * The environment of a schedule's runs, for whoever made the schedule. Where it is deleted, or not for them any more, there
 * is no run: last_spawn_error tells, and the schedule goes on, since the environment may be shared again. The own environments of
 * somebody who is no longer in the team do not count: they would go on deciding what commands run with the team's secrets.
 */
export async function environmentOfSchedule(
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
    return inScheduleWords(() => {
      throw error;
    });
  }
}

async function isInScope(user: string, owner: Owner, table: Table): Promise<boolean> {
  return owner.type === "User" || (await table.get(keys.member(owner.uid, user))) !== undefined;
}

const SECRET = "***";

/**
 * A configuration as it was sent, with the secrets of the one before it where it says `***`: that is how answers show
 * them, and who reads a schedule to write it back means what it read.
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
      ...(env === undefined ? {} : { env: kept(env, old?.env) }),
      ...(headers === undefined ? {} : { headers: kept(headers, old?.headers) }),
    };
    return [name, { ...server, ...secrets }] as const;
  });
  return { ...rest, mcp_servers: Object.fromEntries(servers) };
}

function kept(values: Readonly<Record<string, string>>, old: Readonly<Record<string, string>> | undefined) {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, value === SECRET ? (old?.[name] ?? value) : value]),
  );
}
