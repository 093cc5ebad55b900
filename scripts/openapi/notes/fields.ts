import { ACCOUNT_NOTES } from "./account.ts";
import { ACTIVITY_NOTES } from "./activity.ts";
import { CONFIG_NOTES } from "./config.ts";
import { HARNESS_NOTES } from "./harness.ts";
import type { Notes } from "./note.ts";
import { RUNS_NOTES } from "./runs.ts";
import { SCHEDULE_NOTES } from "./schedules.ts";
import { TRIGGER_NOTES } from "./triggers.ts";

/**
 * Descriptions of members by the member's name, or by `Component.member`, `parent.member` or `Component.parent.member` where the
 * same name has another meaning. Comments in shared/wire take precedence.
 */
export const FIELD_NOTES: Notes = {
  ...RUNS_NOTES,
  ...CONFIG_NOTES,
  ...ACTIVITY_NOTES,
  ...HARNESS_NOTES,
  ...ACCOUNT_NOTES,
  ...SCHEDULE_NOTES,
  ...TRIGGER_NOTES,
};
