import * as v from "valibot";
import { uuidv7 } from "#shared/ids.ts";
import { keys } from "#shared/table/keys.ts";
import type { Item, Put, Update } from "#shared/table/table.ts";
import { AuditEvent } from "#shared/wire/audit/audit.ts";

/** How long an event is kept. */
const KEPT_MS = 400 * 24 * 3_600_000;
const HOUR_MS = 3_600_000;
/** Refused requests that are recorded of a team in an hour. */
const MAX_REFUSALS = 100;

const { id: _, at: __, ...entries } = AuditEvent.entries;
const StoredAuditEvent = v.object({ ...entries, at: v.number(), expires_at: v.number() });
/** An event before it has an id and a time. */
export type NewAuditEvent = Omit<AuditEvent, "id" | "at">;

/** An event of the audit log as it is stored. */
export type StoredAuditEvent = v.InferOutput<typeof StoredAuditEvent> & { readonly id: string };

export const parseAuditEvent = (item: Item): StoredAuditEvent => ({
  ...v.parse(StoredAuditEvent, item),
  id: item.sk.slice(item.sk.indexOf("#") + 1),
});

/** The second in which an event of this time expires. */
export const toExpiry = (at: number): number => Math.ceil((at + KEPT_MS) / 1000);

/** The write of an event, which the table deletes after 400 days. */
export const putAuditEvent = (team: string, event: NewAuditEvent, now: number): Put => ({
  kind: "put",
  item: {
    ...keys.auditEvent(team, uuidv7(now)),
    v: 1,
    at: now,
    ...event,
    expires_at: toExpiry(now),
  },
});

/** Counts a refused request; its condition fails where enough of them are recorded in this hour. */
export function countRefusal(team: string, now: number): Update {
  const hour = Math.floor(now / HOUR_MS);
  return {
    kind: "update",
    key: keys.auditRefusals(team, hour),
    set: { expires_at: ((hour + 2) * HOUR_MS) / 1000 },
    add: { recorded: 1 },
    if: { recorded: { absentOr: { below: MAX_REFUSALS } } },
  };
}
