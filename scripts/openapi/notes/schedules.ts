import { ids, type Notes, note, time } from "./note.ts";

const nightly = "Nightly dependency updates";
const task = "Update the dependencies and open a pull request.";

const scheduleName = note("The schedule's name.", nightly);
const scheduledTask = note("The task of each run. Required unless `agent_config` names a skill.", task);

/** Members of schedules and their firings. */
export const SCHEDULE_NOTES: Notes = {
  "ScheduleItem.id": note("The schedule's id.", ids.schedule),
  "ScheduleItem.name": scheduleName,
  "CreateScheduleRequest.name": scheduleName,
  "UpdateScheduleRequest.name": scheduleName,
  "ScheduleItem.prompt": note("The task of each run.", task),
  "CreateScheduleRequest.prompt": scheduledTask,
  "UpdateScheduleRequest.prompt": scheduledTask,
  cron_schedule: note("A cron expression with five fields, or a nickname such as `@daily`.", "0 3 * * MON-FRI"),
  "ScheduleItem.enabled": note("Whether the schedule fires. False while it is paused.", true),
  "CreateScheduleRequest.enabled": note("Whether the schedule fires. Defaults to true.", true),
  "UpdateScheduleRequest.enabled": note("Whether the schedule fires.", true),
  "CreateScheduleRequest.agent_config": note("The configuration of each run."),
  "UpdateScheduleRequest.agent_config": note("The configuration of each run. Absent: unchanged."),
  agent_uid: note("The identity that executes the runs. For team schedules only."),
  time_zone: note("The IANA time zone of the cron expression. Defaults to `UTC`.", "UTC"),
  overlap: note(
    "What to do if an earlier run is still active: `allow` (default), `skip` the firing, or `cancel_previous`.",
    "allow",
  ),
  last_spawn_error: note("Why the latest firing created no run. Null if it succeeded.", null),
  model_error: note("Why its runs have no model at the moment, so that none is created. Absent if they have one."),
  "ScheduleItem.environment": note("The environment that `agent_config` names."),
  pause_after_failures: note(
    "The number of runs that fail in a row after which it pauses itself, at most 10. Never by default; 0 clears it.",
    3,
  ),
  failing_since: time(
    "The time of the first of the latest runs that have all failed. Absent where the latest run that has ended did not fail.",
  ),
  pause_reason: note("Why the trigger has paused itself. Absent where it has not."),
  history: note("The latest and the next firing."),
  last_ran: time("The time of the latest firing. Null before the first.", "2026-05-18T03:00:00.000Z"),
  next_run: time("The time of the next firing. Null while the schedule is paused.", "2026-05-19T03:00:00.000Z"),
  recent_runs: note("The latest runs, at most 10, newest first. Present for a single schedule or trigger only."),
  schedules: note("The schedules, sorted by name."),
  ticks: note("The planned firings, newest first."),
  scheduled_at: time("The planned time.", "2026-05-18T03:00:00.000Z"),
  recorded_at: time("The time when the outcome was recorded.", "2026-05-18T03:00:00.412Z"),
  outcome: note("The outcome of the firing.", "fired"),
  "ticks.run_id": note("The id of the created run. Present if the firing created one.", ids.run),
  reason: note("Why the firing created no run in time. Absent for `fired`."),
  "DeleteScheduleResponse.success": note("Always true.", true),
};
