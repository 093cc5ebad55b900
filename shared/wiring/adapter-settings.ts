import type { TimerSettings } from "#shared/aws/eventbridge-scheduler.ts";
import { setting } from "#shared/settings.ts";

// A function is given only the settings that its rights are for, so each is read at its first use.
export const bucketName = (): string => setting("BUCKET_NAME");

export const queueUrls = { runs: () => setting("RUNS_QUEUE_URL"), ends: () => setting("ENDS_QUEUE_URL") };
export const eventQueueUrl = (): string => setting("EVENTS_QUEUE_URL");

export const timerSettings = (): TimerSettings => ({
  group: setting("SCHEDULE_GROUP"),
  functionArn: setting("FIRE_SCHEDULE_ARN"),
  roleArn: setting("SCHEDULER_ROLE_ARN"),
});
