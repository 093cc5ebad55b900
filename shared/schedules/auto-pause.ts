import type { SchedulePorts } from "./ports.ts";
import { attempting } from "./schedule-store.ts";
import { putTick } from "./tick.ts";

type Ports = Pick<SchedulePorts, "schedules" | "now">;

/** Pauses every schedule whose runs an identity carries out, because that one can do so no more. */
export async function pauseSchedulesOf(identity: string, why: string, ports: Ports): Promise<void> {
  for (const id of await ports.schedules.ofIdentity(identity)) await autoPause(id, why, ports);
}

/**
 * Pauses a schedule on the service's own account, and says why. From then on a timer that goes off does nothing; the
 * reconciler takes it away.
 */
export async function autoPause(id: string, why: string, { schedules, now }: Ports): Promise<void> {
  await attempting(async () => {
    const before = await schedules.get(id);
    if (before?.timing.state !== "active") return;
    const at = before.timing.next_run;
    const tick = { at, outcome: "skipped", recorded_at: now(), reason: why } as const;
    await schedules.change(
      before,
      { ...before, timing: { state: "paused" }, last_spawn_error: why, plan: before.plan + 1, pending_since: now() },
      [],
      at <= now() ? [putTick(id, tick)] : [],
    );
  });
}
