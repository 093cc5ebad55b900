import type { HttpPorts } from "#shared/http/endpoint.ts";
import { livePorts, liveRuns } from "#shared/runs/live.ts";
import { liveScheduler } from "./live.ts";
import type { FiringPorts } from "./ports.ts";
import { scheduleStore } from "./schedule-store.ts";

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
