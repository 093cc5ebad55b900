import type { RunPorts } from "#shared/runs/run-ports.ts";
import type { Scheduler } from "#shared/timers/scheduler.ts";
import type { ScheduleStore } from "./schedule-store.ts";

/** What the rules of schedules need from their infrastructure. */
export interface SchedulePorts extends Pick<RunPorts, "table" | "files" | "now"> {
  readonly schedules: ScheduleStore;
  readonly scheduler: Scheduler;
}

/** What creating their runs needs as well. */
export interface FiringPorts extends SchedulePorts, RunPorts {}
