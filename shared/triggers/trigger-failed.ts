import { putTeamEvent, type TeamEvent } from "#shared/notifications/team-event-store.ts";
import type { Owner } from "#shared/table/keys.ts";
import type { Put } from "#shared/table/table.ts";

/** The write of the event that webhooks of the team deliver. A person has no webhooks. */
export const putTriggerFailed = (
  { type, uid }: Owner,
  event: Pick<TeamEvent, "event_id" | "trigger_uid" | "title" | "facts">,
  occurred_at: number,
): Put | undefined =>
  type === "User" ? undefined : putTeamEvent({ ...event, team_uid: uid, type: "trigger_failed", occurred_at });
