import * as v from "valibot";
import { batchGetAll } from "#shared/table/batch-get.ts";
import { keys } from "#shared/table/keys.ts";
import type { Put, Table } from "#shared/table/table.ts";
import type { TeamEventType } from "#shared/wire/webhooks/webhook.ts";

/** Seconds for which events are kept, as the deliveries of webhooks are. */
const KEPT_SECONDS = 7 * 24 * 3600;

/** Names an event of a team's triggers and schedules. */
export interface TeamEventRef {
  readonly team_uid: string;
  readonly event_id: string;
}

const TeamEvent = v.object({
  team_uid: v.string(),
  /** The same for each repetition of what the event reports. */
  event_id: v.string(),
  type: v.string(),
  occurred_at: v.number(),
  /** One of the two: what the event is about. */
  trigger_uid: v.exactOptional(v.string()),
  schedule_id: v.exactOptional(v.string()),
  /** The name of the trigger or the schedule. */
  title: v.string(),
  facts: v.record(v.string(), v.union([v.string(), v.number(), v.boolean()])),
});
export type TeamEvent = v.InferOutput<typeof TeamEvent>;

/** The write of an event that the team's webhooks deliver, for the transaction of what it reports. */
export const putTeamEvent = (event: TeamEvent & { readonly type: TeamEventType }): Put => ({
  kind: "put",
  item: {
    ...keys.teamEvent(event.team_uid, event.event_id),
    v: 1,
    ...event,
    expires_at: Math.ceil(event.occurred_at / 1000) + KEPT_SECONDS,
  },
});

/** Reads events in the order of their refs, without those that do not exist. */
export async function readTeamEvents(
  refs: readonly TeamEventRef[],
  table: Pick<Table, "batchGet">,
): Promise<TeamEvent[]> {
  const items = await batchGetAll(
    refs.map(({ team_uid, event_id }) => keys.teamEvent(team_uid, event_id)),
    table,
  );
  return items.flatMap((item) => (item === undefined ? [] : [v.parse(TeamEvent, item)]));
}
