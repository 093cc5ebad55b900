import { invalid } from "#shared/errors.ts";
import { isUuid } from "#shared/ids.ts";
import type { Cursors } from "#shared/pagination/cursor.ts";
import { fitting, MAX_PAGE_ITEMS, type PageQuery } from "#shared/pagination/page.ts";
import { type Principal, toPrincipalKey } from "#shared/principals/principal.ts";
import { requireAdministeredTeams } from "#shared/principals/require-role.ts";
import type { StoredAuditEvent } from "#shared/records/audit-event.ts";
import type { Table } from "#shared/table/table.ts";
import type { AuditEvent, ListAuditEventsResponse } from "#shared/wire/audit/audit.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import { readAuditEvents } from "./audit-store.ts";
import { addCreators, type Range, RUN_CREATED, readCreatedRuns, readEventsOfRun } from "./run-events.ts";

/** Queries of one request for events that may be rare. */
const MAX_QUERIES = 10;
/** Events of one query. */
const BATCH = 500;
/** Sorts behind the ids of all times. */
const END = "~";

export interface AuditFilter {
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly actor: string | undefined;
  readonly action: string | undefined;
  readonly target: string | undefined;
}

interface Ports {
  readonly table: Table;
  readonly cursors: Cursors;
  readonly now: () => number;
}

/** Reads a page of the audit logs of the teams that the caller is an admin of, newest first. */
export async function listAuditEventPage(
  query: PageQuery & AuditFilter,
  principal: Principal,
  { table, cursors, now }: Ports,
): Promise<ListAuditEventsResponse> {
  const teams = requireAdministeredTeams(principal);
  const { from, to, actor, action, target, limit } = query;
  const bounds = { from: from === undefined ? 0 : Date.parse(from), to: to === undefined ? Infinity : Date.parse(to) };
  if (bounds.from >= bounds.to) throw invalid("to", "must be later than from");
  const filter = { actor, action, target };
  const binding = ["audit", toPrincipalKey(principal), teams, bounds.from, to ?? "", filter];
  const start = query.cursor === undefined ? toPlace(bounds.to) : await cursors.read(binding, query.cursor);
  const read = (before: string) =>
    readMerged(teams, filter, { from: toPlace(bounds.from), before, limit: BATCH }, table);
  const { events, last } = await findEvents(start, limit ?? MAX_PAGE_ITEMS, filter, read);
  const page = fitting(await addCreators(events, table));
  const end = page.length < events.length ? page.at(-1)?.id : last;
  const items = page.filter(({ expires_at }) => expires_at * 1000 > now()).map(toAuditEvent);
  if (end === undefined && limit === undefined && query.cursor === undefined) return { events: items };
  const next = end === undefined ? {} : { next_cursor: await cursors.write(binding, end) };
  return { events: items, page_info: { has_next_page: end !== undefined, ...next } };
}

/** The place of a time among ids, which begin with it. */
function toPlace(milliseconds: number): string {
  if (milliseconds >= 2 ** 48) return END;
  const digits = Math.max(0, milliseconds).toString(16).padStart(12, "0");
  return `${digits.slice(0, 8)}-${digits.slice(8)}`;
}

type Read = (before: string) => Promise<StoredAuditEvent[]>;

/** Finds events, and the last one that was looked at if there may be more. */
async function findEvents(
  start: string,
  limit: number,
  filter: Pick<AuditFilter, "actor" | "action" | "target">,
  read: Read,
): Promise<{ readonly events: StoredAuditEvent[]; readonly last: string | undefined }> {
  const events: StoredAuditEvent[] = [];
  let last = start;
  for (let query = 0; query < MAX_QUERIES; query++) {
    const batch = await read(last);
    for (const event of batch) {
      // One more than fits shows that there are more.
      if (matches(event, filter)) {
        if (events.length === limit) return { events, last: events.at(-1)?.id };
        events.push(event);
      }
      last = event.id;
    }
    if (batch.length < BATCH) return { events, last: undefined };
  }
  return { events, last };
}

function matches(
  { actor, action, target }: StoredAuditEvent,
  filter: Pick<AuditFilter, "actor" | "action" | "target">,
): boolean {
  return (
    isAction(action, filter.action) &&
    (filter.actor === undefined || actor.uid === filter.actor) &&
    (filter.target === undefined || target.uid === filter.target)
  );
}

/** Whether an action is the wanted one, or begins with it. */
const isAction = (action: string, wanted: string | undefined): boolean =>
  wanted === undefined || `${action}.`.startsWith(`${wanted}.`);

/** The newest events of several teams, with their runs. */
async function readMerged(
  teams: readonly string[],
  filter: Pick<AuditFilter, "action" | "target">,
  range: Range,
  table: Table,
): Promise<StoredAuditEvent[]> {
  const pages = await Promise.all([
    ...teams.map((team) => readAuditEvents(team, range, table)),
    ...readRunEvents(teams, filter, range, table),
  ]);
  const all = pages.flat().sort((one, other) => (one.id < other.id ? 1 : -1));
  return all.slice(0, range.limit);
}

/** The events of runs. Those of follow-ups are found by their run only, since no index has their times. */
function readRunEvents(
  teams: readonly string[],
  { action, target }: Pick<AuditFilter, "action" | "target">,
  range: Range,
  table: Table,
): readonly Promise<StoredAuditEvent[]>[] {
  if (target !== undefined) return isUuid(target) ? [readEventsOfRun(target, teams, range, table)] : [];
  // A team creates far more runs than it changes other things: they would fill the batches of a search for another action.
  return isAction(RUN_CREATED, action) ? teams.map((team) => readCreatedRuns(team, range, table)) : [];
}

function toAuditEvent({ at, expires_at: _, ...event }: StoredAuditEvent): AuditEvent {
  return { ...event, at: toTimestamp(at) };
}
