import { ids, type Samples, TIME } from "./values.ts";

const nightly = "Nightly dependency updates";
const task = "Update the dependencies and open a pull request.";

/** Members of schedules and their firings. */
export const SCHEDULES_SAMPLES: Samples = {
  "ScheduleItem.id": ids.schedule,
  "ScheduleItem.name": nightly,
  "UpdateScheduleRequest.name": nightly,
  "ScheduleItem.prompt": task,
  "UpdateScheduleRequest.prompt": task,
  cron_schedule: "0 3 * * MON-FRI",
  "ScheduleItem.enabled": true,
  "UpdateScheduleRequest.enabled": true,
  time_zone: "UTC",
  last_spawn_error: null,
  pause_after_failures: 3,
  failing_since: TIME,
  last_ran: "2026-05-18T03:00:00.000Z",
  next_run: "2026-05-19T03:00:00.000Z",
  scheduled_at: "2026-05-18T03:00:00.000Z",
  recorded_at: "2026-05-18T03:00:00.412Z",
  outcome: "fired",
};
