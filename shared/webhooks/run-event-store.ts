import * as v from "valibot";
import type { TeamEventRef } from "#shared/notifications/team-event-store.ts";
import { parseRunId } from "#shared/records/run-head.ts";
import { batchGetAll } from "#shared/table/batch-get.ts";
import { keys } from "#shared/table/keys.ts";
import type { Item, Key, Table } from "#shared/table/table.ts";
import { WebhookEventType } from "#shared/wire/webhooks/webhook.ts";

/** Names an event of a run. */
export interface RunEventRef {
  readonly run_id: string;
  readonly sequence: number;
}

const RunEvent = v.object({
  sequence: v.number(),
  type: v.string(),
  occurred_at: v.number(),
  data: v.record(v.string(), v.unknown()),
});
export type StoredRunEvent = v.InferOutput<typeof RunEvent> & RunEventRef;

/** The events of runs that webhooks are about. */
export const runEventStore = (table: Pick<Table, "batchGet">) => ({
  /** Reads events in the order of their refs, without those that do not exist. */
  async getMany(refs: readonly RunEventRef[]): Promise<StoredRunEvent[]> {
    const items = await batchGetAll(
      refs.map(({ run_id, sequence }) => keys.event(run_id, sequence)),
      table,
    );
    return items.flatMap((item) =>
      item === undefined ? [] : [{ ...v.parse(RunEvent, item), run_id: parseRunId(item) }],
    );
  },
});

/** Names an event of a run, or of a team's triggers and schedules. */
export type EventRef = RunEventRef | TeamEventRef;

/** Names the event with this key; undefined for keys of other items. */
export function parseEventKey({ pk, sk }: Key): EventRef | undefined {
  const [any, ofTeam] = [keys.event("", 0), keys.teamEvent("", "")];
  if (pk.startsWith(ofTeam.pk)) return { team_uid: pk.slice(ofTeam.pk.length), event_id: sk.slice(ofTeam.sk.length) };
  const prefix = any.sk.slice(0, any.sk.indexOf("#") + 1);
  if (!pk.startsWith(any.pk) || !sk.startsWith(prefix)) return undefined;
  return { run_id: parseRunId({ pk }), sequence: Number(sk.slice(prefix.length)) };
}

/** The event that an item is, if webhooks deliver events of its type. */
export const findWebhookEvent = (item: Item): EventRef | undefined =>
  v.is(WebhookEventType, item["type"]) ? parseEventKey(item) : undefined;
