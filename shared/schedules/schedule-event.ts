import { putTeamEvent } from "#shared/notifications/team-event-store.ts";
import type { Put } from "#shared/table/table.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import type { TeamEventType } from "#shared/wire/webhooks/webhook.ts";
import type { Schedule } from "./schedule.ts";
import type { Tick } from "./tick.ts";

/** The write of the event that a firing could start no run, which webhooks of the team deliver; none for a person's schedule. */
export const putFailed = (schedule: Schedule, { at, recorded_at, reason = "" }: Tick): Put | undefined =>
  putEvent(schedule, "schedule_failed", at, recorded_at, { scheduled_at: toTimestamp(at), reason });

/** As above, for firings that no timer has delivered in time and that are not made up for. At least one. */
export function putMissed(schedule: Schedule, ticks: readonly Tick[]): Put | undefined {
  const [first, last] = [ticks[0], ticks.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const { at, recorded_at, reason = "" } = first;
  return putEvent(schedule, "schedule_missed", at, recorded_at, {
    scheduled_at: toTimestamp(at),
    last_scheduled_at: toTimestamp(last.at),
    missed: ticks.length,
    reason,
  });
}

/** As above, for the pause of a schedule whose runs have failed. */
export const putPaused = (
  schedule: Schedule,
  { at, reason, run_id }: { readonly at: number; readonly reason: string; readonly run_id: string },
): Put | undefined => putEvent(schedule, "schedule_failed", run_id, at, { paused: true, run_id, reason });

function putEvent(
  { owner, schedule_id, name }: Schedule,
  type: Extract<TeamEventType, `schedule_${string}`>,
  occurrence: number | string,
  occurred_at: number,
  facts: Readonly<Record<string, string | number | boolean>>,
): Put | undefined {
  if (owner.type !== "Team") return undefined;
  const event_id = `${schedule_id}.${occurrence}`;
  return putTeamEvent({ team_uid: owner.uid, event_id, type, occurred_at, schedule_id, title: name, facts });
}
