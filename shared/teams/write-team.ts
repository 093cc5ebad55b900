import { refuseOthersEnvironment } from "#shared/environments/team-environment.ts";
import { invalid, notFound, RunyardError } from "#shared/errors.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runIdempotent,
} from "#shared/idempotency/idempotent-request.ts";
import { uuidv7 } from "#shared/ids.ts";
import { checkModel } from "#shared/models/models.ts";
import type { PersonalPrincipal } from "#shared/principals/principal.ts";
import { parseTeam, type Team } from "#shared/records/team.ts";
import { roleAttribute } from "#shared/records/user.ts";
import { dequeueMore } from "#shared/runs/capacity/wait-queue.ts";
import { keys } from "#shared/table/keys.ts";
import { ConditionFailed, type TransactionWrite, type Value } from "#shared/table/table.ts";
import type { CreateTeamRequest, SettingsChange, UpdateTeamRequest } from "#shared/wire/team.ts";
import { newTeamWrites } from "./new-team.ts";
import { MAX_TEAMS, tooManyTeams } from "./people.ts";
import type { LimitPorts, TeamPorts } from "./ports.ts";

export interface CreatedTeam {
  readonly team: Team;
  readonly replayed: boolean;
}

/** Creates a team once, with the caller as its admin and a default identity. */
export async function createTeam(
  { user, teams }: PersonalPrincipal,
  request: CreateTeamRequest,
  once: IdempotentRequest,
  { table, now: clock }: TeamPorts,
): Promise<CreatedTeam> {
  const { set } = changeOf(request.settings ?? {});
  // A team that is not there yet has no environments.
  if (request.settings?.default_environment_id) {
    throw invalid("settings.default_environment_id", "there is no such environment of the team");
  }
  return runIdempotent<CreatedTeam>(
    table,
    once,
    clock,
    async (record) => {
      if (teams.length >= MAX_TEAMS) throw tooManyTeams();
      const now = clock();
      const uid = uuidv7(now);
      const team = parseTeam({ ...keys.team(uid), uid, name: request.name, created_at: now, ...set });
      const joined: TransactionWrite = {
        kind: "update",
        key: keys.user(user.uid),
        set: { [roleAttribute(uid)]: "admin" },
        if: { pk: { exists: true } },
      };
      try {
        await table.transact([record(uid), joined, ...newTeamWrites(team, user)]);
      } catch (error) {
        if (error instanceof ConditionFailed && error.positions.includes(0)) throw new IdempotencyRecordExists();
        throw error;
      }
      return { team, replayed: false };
    },
    async (uid) => ({ team: await teamCalled(uid, { table }), replayed: true }),
  );
}

export async function teamCalled(uid: string, { table }: Pick<TeamPorts, "table">): Promise<Team> {
  const item = await table.get(keys.team(uid));
  if (item === undefined) throw notFound("team");
  return parseTeam(item);
}

/** Settings that conditions compare with, and the item on which a copy of each lies for that. */
const COPIES = { identity_limit: "identities", concurrency_limit: "counters", queue_limit: "counters" } as const;

/** Changes a team: what the request does not say stays as it was, and null brings a setting back to its default. */
export async function updateTeam(uid: string, request: UpdateTeamRequest, ports: LimitPorts): Promise<Team> {
  const { table } = ports;
  const { set, remove } = changeOf(request.settings ?? {});
  const { default_environment_id } = request.settings ?? {};
  await refuseOthersEnvironment(default_environment_id, uid, "settings.default_environment_id", table);
  const name = request.name ?? undefined;
  const writes: TransactionWrite[] = [
    {
      kind: "update",
      key: keys.team(uid),
      set: { ...set, ...(name === undefined ? {} : { name }) },
      remove,
      if: { pk: { exists: true } },
    },
    ...copy("counters", uid, set, remove),
    ...copy("identities", uid, set, remove),
  ];
  try {
    await table.transact(writes);
  } catch (error) {
    if (error instanceof ConditionFailed) throw notFound("team");
    throw error;
  }
  if (request.settings?.concurrency_limit !== undefined) await dequeueMore({ type: "Team", uid }, ports);
  return teamCalled(uid, { table });
}

interface Change {
  readonly set: Readonly<Record<string, Value>>;
  readonly remove: readonly string[];
}

function changeOf(settings: SettingsChange): Change {
  refuseUnenforced(settings);
  const { default_model_id } = settings;
  if (default_model_id) checkModel(default_model_id, "settings.default_model_id");
  const entries = Object.entries(settings).filter(([, value]) => value !== undefined);
  return {
    set: Object.fromEntries(entries.filter(([, value]) => value !== null)),
    remove: entries.filter(([, value]) => value === null).map(([name]) => name),
  };
}

/** Settings that nothing enforces yet; null, their default, is accepted. */
const UNENFORCED = ["budget_usd_month", "retention_days"] as const;

function refuseUnenforced(settings: SettingsChange): void {
  const name = UNENFORCED.find((setting) => settings[setting] !== undefined && settings[setting] !== null);
  if (name === undefined) return;
  throw new RunyardError("operation_not_supported", { detail: `settings.${name}: ${INSTEAD[name]}` });
}

const INSTEAD = {
  budget_usd_month: "a monthly budget is not supported by this release; send null, and give runs a config.budget_usd",
  retention_days: "this release keeps runs without a limit of time; send null",
} as const;

function copy(
  item: (typeof COPIES)[keyof typeof COPIES],
  team: string,
  set: Change["set"],
  remove: Change["remove"],
): TransactionWrite[] {
  const names: readonly string[] = Object.entries(COPIES)
    .filter(([, on]) => on === item)
    .map(([name]) => name);
  const changed = Object.fromEntries(Object.entries(set).filter(([name]) => names.includes(name)));
  const removed = remove.filter((name) => names.includes(name));
  if (Object.keys(changed).length === 0 && removed.length === 0) return [];
  const key = item === "counters" ? keys.counters({ type: "Team", uid: team }) : keys.identities(team);
  return [{ kind: "update", key, set: changed, remove: removed }];
}
