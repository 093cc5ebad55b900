import type { HttpPorts } from "#shared/http/endpoint.ts";
import type { FiringPorts } from "#shared/schedules/ports.ts";
import { scheduleStore } from "#shared/schedules/schedule-store.ts";
import { livePorts, liveRuns } from "./runs.ts";
import { liveScheduler } from "./schedules.ts";

/** The ports of those who make the runs of schedules, on AWS. */
export function liveFiring(): FiringPorts {
  const ports = livePorts();
  return { ...ports, schedules: scheduleStore(ports.table), scheduler: liveScheduler() };
}

/** As `liveFiring`, for endpoints. */
export function liveRunNow(): FiringPorts & HttpPorts {
  const ports = liveRuns();
  return { ...ports, schedules: scheduleStore(ports.table), scheduler: liveScheduler() };
}
