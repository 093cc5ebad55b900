import { endpoint } from "#shared/http/endpoint.ts";
import type { Cursors } from "#shared/pagination/cursor.ts";
import { pageQuery } from "#shared/pagination/page.ts";
import { listSchedules as list } from "#shared/schedules/list-schedules.ts";
import type { SchedulePorts } from "#shared/schedules/ports.ts";
import { ListSchedulesResponse } from "#shared/wire/schedule.ts";

/** GET /agent/schedules: the schedules that the caller sees, by name. */
export const listSchedules = endpoint({
  request: { query: pageQuery },
  reply: { 200: ListSchedulesResponse },
  async run({ query, principal }, ports: SchedulePorts & { readonly cursors: Cursors }) {
    return { status: 200, body: await list(query, principal, ports) };
  },
});
