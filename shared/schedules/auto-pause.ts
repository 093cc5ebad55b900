import type { Put } from "#shared/table/table.ts";
import { nextRunOf, type Schedule } from "./schedule.ts";
import type { SchedulePorts } from "./schedule-ports.ts";
import { retryOnChange } from "./schedule-store.ts";

type Ports = Pick<SchedulePorts, "schedules" | "now">;

/** Pauses every schedule whose runs an identity executes, because the identity is no longer available. */
export async function pauseSchedulesByIdentity(identity: string, why: string, ports: Ports): Promise<void> {
  for (const id of await ports.schedules.listByIdentity(identity)) await autoPause(id, why, ports);
}

/**
 * Pauses a schedule without a request, and stores the reason. From then on its timer has no effect; the reconciler removes it.
 */
export async function autoPause(id: string, why: string, ports: Ports): Promise<void> {
  await retryOnChange(async () => {
    const before = await ports.schedules.get(id);
    if (before !== undefined) await pauseSchedule(before, before, why, ports);
  });
}

/** Writes `after` in the place of `before`, paused; nothing where it is not active. */
export async function pauseSchedule(
  before: Schedule,
  after: Schedule,
  why: string,
  { schedules, now }: Ports,
  teamEvent?: Put,
): Promise<void> {
  const at = nextRunOf(before);
  if (at === undefined) return;
  const tick = { at, outcome: "skipped", recorded_at: now(), reason: why } as const;
  await schedules.change(
    before,
    { ...after, timing: { state: "paused" }, last_spawn_error: why, plan: before.plan + 1, pending_since: now() },
    { ticks: at <= now() ? [tick] : [], teamEvent },
  );
}
