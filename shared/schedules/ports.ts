import type { RunPorts } from "#shared/runs/ports.ts";
import type { Scheduler } from "#shared/timers/scheduler.ts";
import type { ScheduleStore } from "./schedule-store.ts";

/** What the rules of schedules need from the world. */
export interface SchedulePorts extends Pick<RunPorts, "table" | "files" | "now"> {
  readonly schedules: ScheduleStore;
  readonly scheduler: Scheduler;
}

/** What making their runs needs besides. */
export interface FiringPorts extends SchedulePorts, RunPorts {}
