import { sortByText } from "#shared/arrays.ts";
import { refuseOthersEnvironment } from "#shared/environments/team-environment.ts";
import { invalid, notFound } from "#shared/errors.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runIdempotent,
} from "#shared/idempotency/idempotent-request.ts";
import { uuidv7 } from "#shared/ids.ts";
import { checkModel } from "#shared/models/models.ts";
import { listProviders } from "#shared/models/providers.ts";
import type { PersonalPrincipal } from "#shared/principals/principal.ts";
import { parseTeam, type Team } from "#shared/records/team.ts";
import { dequeueMore } from "#shared/runs/capacity/wait-queue.ts";
import { secretStore } from "#shared/secrets/secret-store.ts";
import type { Table } from "#shared/table/table.ts";
import { ConflictError } from "#shared/table/transact.ts";
import type { CreateTeamRequest, SettingsChange, TeamDetail, UpdateTeamRequest } from "#shared/wire/team.ts";
import { MAX_TEAMS, tooManyTeams } from "./members.ts";
import { readTeamDetail } from "./team-detail.ts";
import type { LimitPorts, TeamPorts } from "./team-ports.ts";
import { type TeamChange, teamStore } from "./team-store.ts";

export interface CreatedTeam {
  readonly team: Team;
  readonly replayed: boolean;
}

/** Creates a team once, with the caller as its admin and a default identity. */
export async function addTeam(
  { user, teams }: PersonalPrincipal,
  request: CreateTeamRequest,
  idempotency: IdempotentRequest,
  { table, now: clock }: TeamPorts,
): Promise<CreatedTeam> {
  const { set } = toTeamChange(request.settings ?? {});
  const [provider] = Object.keys(request.settings?.provider_keys ?? {});
  if (provider !== undefined) {
    throw invalid(
      `settings.provider_keys.${provider}`,
      "a new team has no secrets: create the secret, and then set this",
    );
  }
  // A team that does not exist yet has no environments.
  if (request.settings?.default_environment_id) {
    throw invalid("settings.default_environment_id", "there is no such environment of the team");
  }
  // As the request creates it, also for a repeat that comes after a change.
  const toNewTeam = (uid: string, created_at: number) => parseTeam({ uid, name: request.name, created_at, ...set });
  return runIdempotent<CreatedTeam>(
    table,
    idempotency,
    clock,
    async (record) => {
      if (teams.length >= MAX_TEAMS) throw tooManyTeams();
      const now = clock();
      const team = toNewTeam(uuidv7(now), now);
      try {
        await teamStore(table).create(team, user, record(team.uid));
      } catch (error) {
        if (error instanceof ConflictError && error.failed.has("idempotency")) throw new IdempotencyRecordExists();
        throw error;
      }
      return { team, replayed: false };
    },
    async (uid) => ({ team: toNewTeam(uid, (await findTeam(uid, { table })).created_at), replayed: true }),
  );
}

/** Teams by uid, oldest first. */
export async function readTeams(uids: readonly string[], table: Table): Promise<Team[]> {
  const found = await teamStore(table).getMany(uids);
  return sortByText([...found.values()], ({ uid }) => uid);
}

/** @throws RunyardError 404 where there is no such team */
export async function findTeam(uid: string, { table }: Pick<TeamPorts, "table">): Promise<Team> {
  const team = await teamStore(table).get(uid);
  if (team === undefined) throw notFound("team");
  return team;
}

/** Changes a team: what the request leaves out stays as it is, and null brings a setting back to its default. */
export async function changeTeam(uid: string, request: UpdateTeamRequest, ports: LimitPorts): Promise<TeamDetail> {
  const { table } = ports;
  const { set, remove } = toTeamChange(request.settings ?? {});
  const { default_environment_id } = request.settings ?? {};
  await refuseOthersEnvironment(default_environment_id, uid, "settings.default_environment_id", table);
  await checkProviderKeys(request.settings?.provider_keys ?? {}, uid, table);
  const name = request.name ?? undefined;
  try {
    await teamStore(table).update(uid, { set: { ...set, ...(name === undefined ? {} : { name }) }, remove });
  } catch (error) {
    throw error instanceof ConflictError ? notFound("team") : error;
  }
  if (request.settings?.concurrency_limit !== undefined) await dequeueMore({ type: "Team", uid }, ports);
  return readTeamDetail(uid, ports);
}

/** Refuses keys of providers that this deployment does not have, and secrets that the team does not have. */
async function checkProviderKeys(keys: Readonly<Record<string, string>>, team: string, table: Table): Promise<void> {
  const names = [...new Set(Object.values(keys))];
  const known = new Set((await secretStore(table).getMany(team, names)).map(({ name }) => name));
  for (const [provider, secret] of Object.entries(keys)) {
    const path = `settings.provider_keys.${provider}`;
    const kind = listProviders().find(({ name }) => name === provider)?.kind;
    if (kind === undefined)
      throw invalid(path, "is not a provider of this deployment; the ids of its models begin with it");
    if (kind === "bedrock") throw invalid(path, "has no keys: the account of the deployment pays for its models");
    if (!known.has(secret)) throw invalid(path, `the team has no secret of the name ${secret}`);
  }
}

function toTeamChange(settings: SettingsChange): TeamChange {
  const { default_model_id } = settings;
  if (default_model_id) checkModel(default_model_id, "settings.default_model_id");
  const entries = Object.entries(settings).filter(([, value]) => value !== undefined);
  return {
    set: Object.fromEntries(entries.filter(([, value]) => value !== null)),
    remove: entries.filter(([, value]) => value === null).map(([name]) => name),
  };
}
