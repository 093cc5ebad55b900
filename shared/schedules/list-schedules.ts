import type { Cursors } from "#shared/pagination/cursor.ts";
import { listVisibleOwners, type Principal, toPrincipalKey } from "#shared/principals/principal.ts";
import { ownerPk } from "#shared/table/keys.ts";
import type { ListSchedulesResponse, ListTicksResponse, ScheduleItem } from "#shared/wire/schedule.ts";
import type { SchedulePorts } from "./ports.ts";
import { caller, toItems, visibleSchedule } from "./read-schedule.ts";
import type { Entry } from "./schedule-store.ts";
import { toTickItem } from "./tick.ts";

/** Items and bytes of one answer. */
const MAX_ITEMS = 500;
const MAX_BYTES = 4_000_000;
/** Schedules that are read at once. */
const CHUNK = 50;

export interface PageQuery {
  readonly limit: number | undefined;
  readonly cursor: string | undefined;
}
type Ports = SchedulePorts & { readonly cursors: Cursors };

/** The schedules that the principal sees, by name. */
export async function listSchedules(
  query: PageQuery,
  principal: Principal,
  ports: Ports,
): Promise<ListSchedulesResponse> {
  const owners = listVisibleOwners(caller(principal));
  const binding = ["schedules", toPrincipalKey(principal), owners.map(ownerPk)];
  const after = query.cursor === undefined ? undefined : await ports.cursors.read(binding, query.cursor);
  const all = (await Promise.all(owners.map(ports.schedules.entries))).flat().sort((a, b) => compare(a.place, b.place));
  const rest = after === undefined ? all : all.filter(({ place }) => compare(place, after) > 0);
  const { items, read } = await readPage(rest, query.limit ?? MAX_ITEMS, ports);
  const last = rest[read - 1];
  const next = read < rest.length && last !== undefined ? await ports.cursors.write(binding, last.place) : undefined;
  return { schedules: items, ...pageInfo(query, next) };
}

/** What became of a schedule's planned firings, the latest first. */
export async function listTicks(
  id: string,
  query: PageQuery,
  principal: Principal,
  ports: Ports,
): Promise<ListTicksResponse> {
  await visibleSchedule(id, principal, ports);
  const binding = ["ticks", toPrincipalKey(principal), id];
  const before = query.cursor === undefined ? undefined : await ports.cursors.read(binding, query.cursor);
  // One more than the page holds tells whether there is a next one.
  const limit = query.limit ?? MAX_ITEMS;
  const { items } = await ports.schedules.ticks(id, before, limit + 1);
  const page = items.slice(0, limit);
  const last = items.length > limit ? page.at(-1) : undefined;
  const next = last === undefined ? undefined : await ports.cursors.write(binding, last.sk);
  return { ticks: page.map(toTickItem), ...pageInfo(query, next) };
}

/** `page_info` only where a page was asked for, or is needed. */
function pageInfo(query: PageQuery, next: string | undefined) {
  if (next === undefined && query.limit === undefined && query.cursor === undefined) return {};
  const cursor = next === undefined ? {} : { next_cursor: next };
  return { page_info: { has_next_page: next !== undefined, ...cursor } };
}

/** The first schedules, as many as one answer takes; `read` counts those that have gone since, too. */
async function readPage(
  entries: readonly Entry[],
  limit: number,
  ports: Ports,
): Promise<{ items: ScheduleItem[]; read: number }> {
  const items: ScheduleItem[] = [];
  let bytes = 0;
  let read = 0;
  for (; read < entries.length; ) {
    const some = entries.slice(read, read + CHUNK);
    const schedules = await ports.schedules.many(some.map(({ id }) => id));
    const there = schedules.filter(({ timing }) => timing.state !== "deleted");
    const found = new Map((await toItems(there, ports)).map((item) => [item.id, item]));
    for (const { id } of some) {
      const item = found.get(id);
      if (item !== undefined) {
        bytes += Buffer.byteLength(JSON.stringify(item)) + 1;
        if ((bytes > MAX_BYTES && items.length > 0) || items.length === limit) return { items, read };
        items.push(item);
      }
      read++;
    }
  }
  return { items, read };
}

/** Orders as the table does: by the bytes of UTF-8. */
const compare = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
