import { type Environment, parseEnvironment, toEnvironmentItem } from "#shared/environments/environment.ts";
import { mayUse } from "#shared/environments/run-environment.ts";
import { notFound, RunyardError } from "#shared/errors.ts";
import {
  type AgentPrincipal,
  type PersonalPrincipal,
  type Principal,
  seesOwner,
} from "#shared/principals/principal.ts";
import { parseRunHead } from "#shared/records/run-head.ts";
import { shownConfig } from "#shared/runs/run-item.ts";
import { keys } from "#shared/table/keys.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import type { RecentRun, ScheduleItem } from "#shared/wire/schedule.ts";
import type { SchedulePorts } from "./ports.ts";
import { nextRunOf, type Schedule } from "./schedule.ts";

/** The schedule, if the principal may see it; else one answer, whether it exists or not. */
export async function visibleSchedule(
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

/** A person or an identity: no route of schedules is for the key of a run. */
export function caller(principal: Principal): PersonalPrincipal | AgentPrincipal {
  if (principal.kind === "run") throw new RunyardError("not_authorized", { detail: "a run's key cannot do this" });
  return principal;
}

type Reading = Pick<SchedulePorts, "files" | "table">;

/** A schedule as answers show it. */
export async function toItem(schedule: Schedule, ports: Reading): Promise<ScheduleItem> {
  const environments = await environmentsOf([schedule], ports);
  return shown(schedule, environments, ports);
}

/** Schedules as answers show them; at most 100. */
export async function toItems(schedules: readonly Schedule[], ports: Reading): Promise<ScheduleItem[]> {
  const environments = await environmentsOf(schedules, ports);
  return Promise.all(schedules.map((schedule) => shown(schedule, environments, ports)));
}

/** The environments that schedules name, by uid. */
async function environmentsOf(schedules: readonly Schedule[], { table }: Reading): Promise<Map<string, Environment>> {
  const uids = schedules.flatMap(({ agent_config }) => agent_config?.environment_id ?? []);
  const items = uids.length === 0 ? [] : await table.batchGet([...new Set(uids)].map(keys.environment));
  const found = items.filter((item) => item !== undefined).map(parseEnvironment);
  return new Map(found.map((environment) => [environment.uid, environment]));
}

async function shown(
  schedule: Schedule,
  environments: ReadonlyMap<string, Environment>,
  { files }: Reading,
): Promise<ScheduleItem> {
  const environment = environments.get(schedule.agent_config?.environment_id ?? "");
  const user = schedule.created_by.type === "user" ? schedule.created_by.uid : undefined;
  const isTheirs = environment !== undefined && mayUse({ owner: schedule.owner, user }, environment);
  const { last_ran } = schedule;
  const next = nextRunOf(schedule);
  return {
    id: schedule.schedule_id,
    name: schedule.name,
    cron_schedule: schedule.cron_schedule,
    time_zone: schedule.time_zone,
    overlap: schedule.overlap,
    enabled: schedule.timing.state === "active",
    prompt: await wholePrompt(schedule, files),
    mode: schedule.mode,
    created_at: toTimestamp(schedule.created_at),
    updated_at: toTimestamp(schedule.updated_at),
    ...(schedule.agent_config === undefined ? {} : { agent_config: shownConfig(schedule.agent_config) }),
    ...(isTheirs ? { environment: toEnvironmentItem(environment, undefined, undefined).config } : {}),
    ...(schedule.agent_uid === undefined ? {} : { agent_uid: schedule.agent_uid }),
    created_by: schedule.created_by,
    updated_by: schedule.updated_by,
    last_spawn_error: schedule.last_spawn_error,
    history: {
      last_ran: last_ran === null ? null : toTimestamp(last_ran),
      next_run: next === undefined ? null : toTimestamp(next),
    },
    scope: { type: schedule.owner.type, uid: schedule.owner.uid },
    ...(schedule.metadata === undefined ? {} : { metadata: schedule.metadata }),
  };
}

/** The latest runs of a schedule with their present states, newest first. */
export async function recentRuns(
  { recent_runs }: Schedule,
  { table }: Pick<SchedulePorts, "table">,
): Promise<RecentRun[]> {
  const items = recent_runs.length === 0 ? [] : await table.batchGet(recent_runs.map(keys.head));
  return items
    .filter((item) => item !== undefined)
    .map(parseRunHead)
    .map(({ run_id, state, created_at }) => ({ run_id, state, created_at: toTimestamp(created_at) }));
}

async function wholePrompt({ prompt, prompt_file }: Schedule, files: SchedulePorts["files"]): Promise<string> {
  if (prompt_file === undefined) return prompt;
  const whole = await files.get(prompt_file);
  if (whole === undefined) throw new Error("the prompt of a schedule is missing");
  return Buffer.from(whole).toString();
}
