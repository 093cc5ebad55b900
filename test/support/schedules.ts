import { fireSchedule } from "#functions/execution/fire-schedule.ts";
import { triggers } from "#infra/triggers.ts";
import type { FiringPorts } from "#shared/schedules/ports.ts";
import { type Reconciled, reconcileSchedules } from "#shared/schedules/reconcile.ts";
import { clientOf } from "./client.ts";
import { sqsEvent } from "./execution.ts";
import { withRights } from "./rights.ts";
import type { Answer, World } from "./world.ts";

/** A good body of POST /agent/schedules. */
export const nightly = { name: "Nightly", cron_schedule: "30 2 * * *", prompt: "hello" };

/** Creates a schedule and answers it. */
export async function makeSchedule(
  world: World,
  body: Record<string, unknown> = {},
  key = world.key,
): Promise<Answer["body"]> {
  const answer = await clientOf(world, key).post("/agent/schedules", { ...nightly, ...body });
  if (answer.status !== 201) throw new Error(`the schedule was not created: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

export const readSchedule = async (world: World, id: string): Promise<Answer["body"]> =>
  (await clientOf(world).get(`/agent/schedules/${id}`)).body;

export const ticksOf = async (world: World, id: string): Promise<Answer["body"][]> =>
  (await clientOf(world).get(`/agent/schedules/${id}/ticks`)).body.ticks;

/** The message that a timer sends when it goes off at a time. Answers how many deliveries failed. */
export async function timerOff(
  world: World,
  id: string,
  time: string,
  ports: FiringPorts = world.ports,
): Promise<number> {
  const event = sqsEvent("ticks", [{ v: 1, schedule_id: id, scheduled_time: time }]);
  const answer = await withRights("fire-schedule", triggers.fireSchedule.rights, () =>
    fireSchedule.handle(event, ports),
  );
  return answer.batchItemFailures.length;
}

/** Moves the clock to a time, and lets a schedule's timer go off then. */
export async function fireAt(world: World, id: string, time: string): Promise<void> {
  world.clock.now = Date.parse(time) + 5_000;
  if ((await timerOff(world, id, time)) > 0) throw new Error("the firing failed");
}

export const reconcile = (world: World, ports: FiringPorts = world.ports): Promise<Reconciled> =>
  withRights("reconcile-schedules", triggers.reconcileSchedules.rights, () => reconcileSchedules(ports));

/** The runs of a schedule as the list of runs shows them, newest first. */
export const runsOf = async (world: World, id: string): Promise<Answer["body"][]> =>
  (await clientOf(world).get(`/agent/runs?schedule_id=${id}&sort_by=created_at`)).body.runs;
