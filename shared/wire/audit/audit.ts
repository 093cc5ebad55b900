import * as v from "valibot";
import { PageInfo } from "#shared/wire/list.ts";
import { Count } from "#shared/wire/primitives.ts";
import { UserProfile } from "#shared/wire/run.ts";
import { AuditVia } from "./via.ts";

/** What a request was about. */
export const AuditTarget = v.object({
  /** The type of the resource, such as `key` or `run`. */
  type: v.string(),
  /** The resource's id. */
  uid: v.string(),
  /** The resource's name. Absent if it has none. */
  name: v.exactOptional(v.string()),
});
export type AuditTarget = v.InferOutput<typeof AuditTarget>;

/** The filters of a request by their names. */
const Filter = v.record(
  v.string(),
  v.union([v.string(), v.number(), v.array(v.string()), v.record(v.string(), v.string())]),
);

/** A request that changed something, or that was refused. */
export const AuditEvent = v.object({
  /** The event's id. */
  id: v.string(),
  /** The time of the request. @format date-time */
  at: v.string(),
  /** The person or identity that sent the request. */
  actor: UserProfile,
  /** What the actor authenticated with (`key`, `session`), or what acted for them. */
  via: AuditVia,
  /** The last four characters of the API key of the request. */
  key_suffix: v.exactOptional(v.string()),
  /** What was requested, such as `keys.delete`. */
  action: v.string(),
  /** What the request was about. */
  target: AuditTarget,
  /** The trace id of the request. Of runs and follow-ups that no request or an earlier release created: the event's id. */
  request_id: v.string(),
  /** The IP address that the request came from, as the gateway saw it. */
  ip: v.exactOptional(v.string()),
  /** The names of the request's members. */
  changes: v.exactOptional(v.array(v.string())),
  /** The filter of a request that changes all runs that match it. The text of `q` is replaced by `***`. */
  filter: v.exactOptional(Filter),
  /** The number of runs of the team that matched when the request began to change them. */
  matched: v.exactOptional(Count),
  /** True if the request was refused and changed nothing. */
  refused: v.exactOptional(v.literal(true)),
});
export type AuditEvent = v.InferOutput<typeof AuditEvent>;

/** A page of a team's audit log, newest first. */
export const ListAuditEventsResponse = v.object({
  /** The events, newest first. */
  events: v.array(AuditEvent),
  /** The position of the page in the list. */
  page_info: v.exactOptional(PageInfo),
});
export type ListAuditEventsResponse = v.InferOutput<typeof ListAuditEventsResponse>;
