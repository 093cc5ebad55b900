import type { HttpPorts } from "#shared/http/endpoint.ts";
import type { Cursors } from "#shared/pagination/cursor.ts";
import type { FiringPorts, SchedulePorts } from "#shared/schedules/schedule-ports.ts";
import { scheduleStore } from "#shared/schedules/schedule-store.ts";
import { createFiles, createScheduler } from "#shared/wiring/adapters.ts";
import { createTablePorts } from "./common.ts";
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
export function createRunNowPorts(): FiringPorts & ReturnType<typeof createRunEndpointPorts> {
  const ports = createRunEndpointPorts();
  return { ...ports, schedules: scheduleStore(ports.table), scheduler: createScheduler() };
}
