import { type Environment, toEnvironmentItem } from "#shared/environments/environment.ts";
import { environmentStore } from "#shared/environments/environment-store.ts";
import { mayUse } from "#shared/environments/run-environment.ts";
import { notFound, RunyardError } from "#shared/errors.ts";
import { findModelError } from "#shared/models/models.ts";
import {
  type AgentPrincipal,
  type PersonalPrincipal,
  type Principal,
  seesOwner,
} from "#shared/principals/principal.ts";
import { scopesMember } from "#shared/principals/scopes.ts";
import { readRunHeads } from "#shared/records/read-run-heads.ts";
import { shownConfig } from "#shared/runs/run-item.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import type { RecentRun, ScheduleItem } from "#shared/wire/schedule.ts";
import { nextRunOf, type Schedule } from "./schedule.ts";
import type { SchedulePorts } from "./schedule-ports.ts";
import { findSecretError } from "./secret-error.ts";

/** Returns a schedule that the principal sees; throws 404 for any other, existing or not. */
export async function findVisibleSchedule(
  id: string,
  principal: Principal,
  { schedules }: Pick<SchedulePorts, "schedules">,
): Promise<Schedule> {
  const schedule = await schedules.get(id);
  if (schedule === undefined || schedule.timing.state === "deleted" || !seesOwner(principal, schedule.owner)) {
    throw notFound("schedule");
  }
  return schedule;
}

/** Returns the principal as a person or an identity: the key of a run may not use schedules. */
export function requireCaller(principal: Principal): PersonalPrincipal | AgentPrincipal {
  if (principal.kind === "run") throw new RunyardError("not_authorized", { detail: "a run's key cannot do this" });
  return principal;
}

type ReadPorts = Pick<SchedulePorts, "files" | "table" | "now">;

/** Formats a schedule for responses. */
export async function showSchedule(schedule: Schedule, ports: ReadPorts): Promise<ScheduleItem> {
  const environments = await readEnvironments([schedule], ports);
  return format(schedule, environments, ports);
}

/** Formats one schedule for a response, with its latest runs and what is wrong with its secrets. */
export async function showScheduleDetail(schedule: Schedule, ports: ReadPorts): Promise<ScheduleItem> {
  const environments = readEnvironments([schedule], ports);
  const [item, recent_runs, error] = await Promise.all([
    environments.then((found) => format(schedule, found, ports)),
    readRecentRuns(schedule, ports),
    environments.then((found) => findSecretError(schedule, environmentOf(schedule, found), ports.table)),
  ]);
  return { ...item, recent_runs, ...error };
}

/** Formats at most 100 schedules for responses. */
export async function showSchedules(schedules: readonly Schedule[], ports: ReadPorts): Promise<ScheduleItem[]> {
  const environments = await readEnvironments(schedules, ports);
  return Promise.all(schedules.map((schedule) => format(schedule, environments, ports)));
}

/** Reads the environments that schedules name, by uid. */
async function readEnvironments(
  schedules: readonly Schedule[],
  { table }: ReadPorts,
): Promise<Map<string, Environment>> {
  const uids = schedules.flatMap(({ agent_config }) => agent_config?.environment_id ?? []);
  const found = await environmentStore(table).getMany([...new Set(uids)]);
  return new Map(found.map((environment) => [environment.uid, environment]));
}

const environmentOf = ({ agent_config }: Schedule, environments: ReadonlyMap<string, Environment>) =>
  environments.get(agent_config?.environment_id ?? "");

async function format(
  schedule: Schedule,
  environments: ReadonlyMap<string, Environment>,
  { files, now }: ReadPorts,
): Promise<ScheduleItem> {
  const environment = environmentOf(schedule, environments);
  const user = schedule.created_by.type === "user" ? schedule.created_by.uid : undefined;
  const isTheirs = environment !== undefined && mayUse({ owner: schedule.owner, user }, environment);
  const { last_ran } = schedule;
  const next = await findNextRun(schedule, now());
  const modelError = findModelError(schedule.agent_config);
  return {
    id: schedule.schedule_id,
    name: schedule.name,
    cron_schedule: schedule.cron_schedule,
    time_zone: schedule.time_zone,
    overlap: schedule.overlap,
    enabled: schedule.timing.state === "active",
    prompt: await readPrompt(schedule, files),
    mode: schedule.mode,
    created_at: toTimestamp(schedule.created_at),
    updated_at: toTimestamp(schedule.updated_at),
    ...(schedule.agent_config === undefined ? {} : { agent_config: shownConfig(schedule.agent_config) }),
    ...(isTheirs ? { environment: toEnvironmentItem(environment, undefined, undefined).config } : {}),
    ...(schedule.agent_uid === undefined ? {} : { agent_uid: schedule.agent_uid }),
    created_by: schedule.created_by,
    updated_by: schedule.updated_by,
    ...(schedule.pause_after_failures === undefined ? {} : { pause_after_failures: schedule.pause_after_failures }),
    ...(schedule.failing_since === undefined ? {} : { failing_since: toTimestamp(schedule.failing_since) }),
    last_spawn_error: schedule.last_spawn_error,
    ...(modelError === undefined ? {} : { model_error: modelError }),
    history: {
      last_ran: last_ran === null ? null : toTimestamp(last_ran),
      next_run: next === undefined ? null : toTimestamp(next),
    },
    scope: { type: schedule.owner.type, uid: schedule.owner.uid },
    ...(schedule.metadata === undefined ? {} : { metadata: schedule.metadata }),
    ...scopesMember(schedule.scopes),
  };
}

/** Reads the latest runs of a schedule with their current states, newest first. */
async function readRecentRuns(
  { recent_runs }: Schedule,
  { table }: Pick<SchedulePorts, "table">,
): Promise<RecentRun[]> {
  const heads = await readRunHeads(recent_runs, table);
  return heads.map(({ run_id, state, created_at }) => ({ run_id, state, created_at: toTimestamp(created_at) }));
}

/**
 * The next firing: one that has no outcome yet, or the next one after now while those before wait for theirs, such as after an outage.
 * Undefined for a schedule that plans none.
 */
async function findNextRun(schedule: Schedule, now: number): Promise<number | undefined> {
  const next = nextRunOf(schedule);
  if (next === undefined || next > now) return next;
  // Few schedules are late, so the cron library is loaded only for them.
  const { findNextFiring } = await import("#shared/schedules/timetable-part.ts");
  return findNextFiring(schedule.cron_schedule, schedule.time_zone, now);
}

async function readPrompt({ prompt, prompt_file }: Schedule, files: SchedulePorts["files"]): Promise<string> {
  if (prompt_file === undefined) return prompt;
  const stored = await files.get(prompt_file);
  if (stored === undefined) throw new Error("the prompt of a schedule is missing");
  return Buffer.from(stored).toString();
}
