import { fireSchedule } from "#functions/executions/fire-schedule.ts";
import { eventSources } from "#infra/event-sources.ts";
import { type Reconciled, reconcileOverdue } from "#shared/schedules/reconcile.ts";
import type { FiringPorts } from "#shared/schedules/schedule-ports.ts";
import { createClient } from "./client.ts";
import type { ResponseBody, TestControlPlane } from "./control-plane.ts";
import { withRights } from "./rights.ts";

/** A valid body of POST /agent/schedules. */
export const nightly = { name: "Nightly", cron_schedule: "30 2 * * *", prompt: "hello" };

/** Creates a schedule and returns it. */
export async function makeSchedule(
  plane: TestControlPlane,
  body: Record<string, unknown> = {},
  key = plane.key,
): Promise<ResponseBody["body"]> {
  const response = await createClient(plane, key).post("/agent/schedules", { ...nightly, ...body });
  if (response.status !== 201) throw new Error(`the schedule was not created: ${JSON.stringify(response.body)}`);
  return response.body;
}

export const readSchedule = async (plane: TestControlPlane, id: string): Promise<ResponseBody["body"]> =>
  (await createClient(plane).get(`/agent/schedules/${id}`)).body;

export const listTicks = async (plane: TestControlPlane, id: string): Promise<ResponseBody["body"][]> =>
  (await createClient(plane).get(`/agent/schedules/${id}/ticks`)).body.ticks;

/** Invokes the function as a timer does that fires at this time. Returns the number of failed invocations. */
export async function timerOff(
  plane: TestControlPlane,
  id: string,
  time: string,
  ports: FiringPorts = plane.ports,
): Promise<number> {
  const event = { v: 1 as const, schedule_id: id, scheduled_time: time };
  const firing = withRights("fire-schedule", eventSources.fireSchedule.rights, () => fireSchedule.handle(event, ports));
  return firing.then(
    () => 0,
    () => 1,
  );
}

/** Sets the clock to a time, and fires the schedule's timer. */
export async function fireAt(plane: TestControlPlane, id: string, time: string): Promise<void> {
  plane.clock.now = Date.parse(time) + 5_000;
  if ((await timerOff(plane, id, time)) > 0) throw new Error("the firing failed");
}

export const reconcile = (plane: TestControlPlane, ports: FiringPorts = plane.ports): Promise<Reconciled> =>
  withRights("reconcile-schedules", eventSources.reconcileSchedules.rights, () => reconcileOverdue(ports));

/** The runs of a schedule as the list of runs shows them, newest first. */
export const listRuns = async (plane: TestControlPlane, id: string): Promise<ResponseBody["body"][]> =>
  (await createClient(plane).get(`/agent/runs?schedule_id=${id}&sort_by=created_at`)).body.runs;
