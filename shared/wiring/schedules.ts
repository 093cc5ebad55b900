import { schedulerClient } from "#shared/aws/clients.ts";
import { eventBridgeScheduler } from "#shared/aws/eventbridge-scheduler.ts";
import type { HttpPorts } from "#shared/http/endpoint.ts";
import type { Cursors } from "#shared/pagination/cursor.ts";
import type { FiringPorts, SchedulePorts } from "#shared/schedules/schedule-ports.ts";
import { scheduleStore } from "#shared/schedules/schedule-store.ts";
import { setting } from "#shared/settings.ts";
import type { Scheduler } from "#shared/timers/scheduler.ts";
import { createFiles, createTablePorts } from "./common.ts";
import { createRunEndpointPorts, createRunPorts } from "./runs.ts";

/** The ports of the endpoints of schedules. */
export function createSchedulePorts(): SchedulePorts & HttpPorts & { readonly cursors: Cursors } {
  const ports = createTablePorts();
  return { ...ports, files: createFiles(), schedules: scheduleStore(ports.table), scheduler: createScheduler() };
}

/** The ports of the consumers that create the runs of schedules. */
export function createFiringPorts(): FiringPorts {
  const ports = createRunPorts();
  return { ...ports, schedules: scheduleStore(ports.table), scheduler: createScheduler() };
}

/** The ports of the endpoint that runs a schedule now. */
export function createRunNowPorts(): FiringPorts & HttpPorts {
  const ports = createRunEndpointPorts();
  return { ...ports, schedules: scheduleStore(ports.table), scheduler: createScheduler() };
}

const createScheduler = (): Scheduler =>
  eventBridgeScheduler(schedulerClient(), () => ({
    group: setting("SCHEDULE_GROUP"),
    queueArn: setting("TICKS_QUEUE_ARN"),
    roleArn: setting("SCHEDULER_ROLE_ARN"),
  }));
