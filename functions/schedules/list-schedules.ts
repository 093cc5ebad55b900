import { endpoint } from "#shared/http/endpoint.ts";
import type { Cursors } from "#shared/pagination/cursor.ts";
import { pageQuery } from "#shared/pagination/page.ts";
import { readSchedulePage } from "#shared/schedules/list-schedules.ts";
import type { SchedulePorts } from "#shared/schedules/schedule-ports.ts";
import { ListSchedulesResponse } from "#shared/wire/schedule.ts";

/** GET /agent/schedules: lists the schedules visible to the caller, sorted by name. */
export const listSchedules = endpoint({
  request: { query: pageQuery },
  reply: { 200: ListSchedulesResponse },
  async run({ query, principal }, ports: SchedulePorts & { readonly cursors: Cursors }) {
    return { status: 200, body: await readSchedulePage(query, principal, ports) };
  },
});
