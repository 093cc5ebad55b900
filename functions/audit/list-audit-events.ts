import { listAuditEventPage } from "#shared/audit/list-events.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import { one } from "#shared/http/request.ts";
import type { IdentityPorts } from "#shared/identities/identity-ports.ts";
import { pageQuery } from "#shared/pagination/page.ts";
import { ListAuditEventsResponse } from "#shared/wire/audit/audit.ts";
import { Id, Timestamp } from "#shared/wire/primitives.ts";

/**
 * GET /agent/audit: lists the team's audit log, newest first. It has one event for each request that changed something, and for each
 * refused one. `from` is inclusive and `to` exclusive. `action` is an action such as `keys.delete`, or its beginning, such as
 * `keys`; `actor` and `target` are uids. Events are kept for 400 days. Requires the role `admin`.
 */
export const listAuditEvents = endpoint({
  request: {
    query: {
      ...pageQuery,
      /** Lists only events at or after this time. */
      from: one(Timestamp),
      /** Lists only events before this time. */
      to: one(Timestamp),
      /** Lists only events of this user or identity, by uid. */
      actor: one(Id),
      /** Lists only this action, such as `keys.delete`, or those that begin with it, such as `keys`. */
      action: one(Id),
      /** Lists only events of the resource with this uid. For a run, its follow-ups are included. */
      target: one(Id),
    },
  },
  reply: { 200: ListAuditEventsResponse },
  async run({ query, principal }, ports: IdentityPorts) {
    return { status: 200, body: await listAuditEventPage(query, principal, ports) };
  },
});
