import type { Cursors } from "#shared/pagination/cursor.ts";
import { listVisibleOwners, type Principal, toPrincipalKey } from "#shared/principals/principal.ts";
import type { ListSchedulesResponse, ListTicksResponse, ScheduleItem } from "#shared/wire/schedule.ts";
import { findVisibleSchedule, requireCaller, showSchedules } from "./read-schedule.ts";
import type { SchedulePorts } from "./schedule-ports.ts";
import { type Entry, entriesIn } from "./schedule-store.ts";
import { toTickItem } from "./tick.ts";
import { queryTicks } from "./tick-store.ts";

/** Items and bytes of one response. */
const MAX_ITEMS = 500;
const MAX_BYTES = 4_000_000;
/** Schedules that are read at once. */
const CHUNK = 50;

export interface PageQuery {
  readonly limit: number | undefined;
  readonly cursor: string | undefined;
}
type Ports = SchedulePorts & { readonly cursors: Cursors };

/** Reads a page of the schedules that the principal sees, by name. */
export async function readSchedulePage(
  query: PageQuery,
  principal: Principal,
  ports: Ports,
): Promise<ListSchedulesResponse> {
  const owners = listVisibleOwners(requireCaller(principal));
  const binding = ["schedules", toPrincipalKey(principal), owners.map((owner) => entriesIn(owner).pk)];
  const after = query.cursor === undefined ? undefined : await ports.cursors.read(binding, query.cursor);
  const all = (await Promise.all(owners.map(ports.schedules.listEntries)))
    .flat()
    .sort((a, b) => compare(a.place, b.place));
  const rest = after === undefined ? all : all.filter(({ place }) => compare(place, after) > 0);
  const { items, read } = await readItems(rest, query.limit ?? MAX_ITEMS, ports);
  const last = rest[read - 1];
  const next = read < rest.length && last !== undefined ? await ports.cursors.write(binding, last.place) : undefined;
  return { schedules: items, ...toPageInfo(query, next) };
}

/** Reads a page of the outcomes of a schedule's planned firings, the latest first. */
export async function readTickPage(
  id: string,
  query: PageQuery,
  principal: Principal,
  ports: Ports,
): Promise<ListTicksResponse> {
  await findVisibleSchedule(id, principal, ports);
  const binding = ["ticks", toPrincipalKey(principal), id];
  const before = query.cursor === undefined ? undefined : await ports.cursors.read(binding, query.cursor);
  // One item more than the page holds shows whether there is a next page.
  const limit = query.limit ?? MAX_ITEMS;
  const { items } = await queryTicks(id, before, limit + 1, ports.table);
  const page = items.slice(0, limit);
  const last = items.length > limit ? page.at(-1) : undefined;
  const next = last === undefined ? undefined : await ports.cursors.write(binding, last.sk);
  return { ticks: page.map(toTickItem), ...toPageInfo(query, next) };
}

/** Returns `page_info` where the request has a limit or cursor, or there is a next page. */
function toPageInfo(query: PageQuery, next: string | undefined) {
  if (next === undefined && query.limit === undefined && query.cursor === undefined) return {};
  const cursor = next === undefined ? {} : { next_cursor: next };
  return { page_info: { has_next_page: next !== undefined, ...cursor } };
}

/** Reads the first schedules, as many as one response holds; `read` also counts entries of deleted schedules. */
async function readItems(
  entries: readonly Entry[],
  limit: number,
  ports: Ports,
): Promise<{ items: ScheduleItem[]; read: number }> {
  const items: ScheduleItem[] = [];
  let bytes = 0;
  let read = 0;
  for (; read < entries.length; ) {
    const some = entries.slice(read, read + CHUNK);
    const schedules = await ports.schedules.getMany(some.map(({ id }) => id));
    const there = schedules.filter(({ timing }) => timing.state !== "deleted");
    const found = new Map((await showSchedules(there, ports)).map((item) => [item.id, item]));
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
