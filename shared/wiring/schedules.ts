import { dynamoClient, s3Client, schedulerClient } from "#shared/aws/clients.ts";
import { dynamoTable } from "#shared/aws/dynamo-table.ts";
import { eventBridgeScheduler } from "#shared/aws/eventbridge-scheduler.ts";
import { s3FileStore } from "#shared/aws/s3-files.ts";
import type { HttpPorts } from "#shared/http/endpoint.ts";
import { liveRates } from "#shared/limits/token-bucket.ts";
import { type Cursors, cursors } from "#shared/pagination/cursor.ts";
import { principalStore } from "#shared/principals/principal-store.ts";
import type { SchedulePorts } from "#shared/schedules/ports.ts";
import { scheduleStore } from "#shared/schedules/schedule-store.ts";
import { setting, signedUrlSeconds } from "#shared/settings.ts";
import type { Scheduler } from "#shared/timers/scheduler.ts";

/** The ports of schedules on AWS, for endpoints. */
export function liveSchedules(): SchedulePorts & HttpPorts & { readonly cursors: Cursors } {
  const table = dynamoTable(dynamoClient(), setting("TABLE_NAME"));
  const now = Date.now;
  return {
    table,
    now,
    files: s3FileStore(s3Client(), () => setting("BUCKET_NAME"), signedUrlSeconds(), now),
    schedules: scheduleStore(table),
    scheduler: liveScheduler(),
    cursors: cursors(table),
    principals: principalStore(table, now),
    baseUrl: setting("BASE_URL"),
    who: setting("PRINCIPALS").split(","),
    rates: liveRates(),
  };
}

/** The timers of schedules on AWS. */
export function liveScheduler(): Scheduler {
  return eventBridgeScheduler(schedulerClient(), () => ({
    group: setting("SCHEDULE_GROUP"),
    queueArn: setting("TICKS_QUEUE_ARN"),
    roleArn: setting("SCHEDULER_ROLE_ARN"),
  }));
}
