import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import type { Cursors } from "#shared/pagination/cursor.ts";
import { pageQuery } from "#shared/pagination/page.ts";
import { readTickPage } from "#shared/schedules/list-schedules.ts";
import type { SchedulePorts } from "#shared/schedules/schedule-ports.ts";
import { ListTicksResponse } from "#shared/wire/schedule.ts";

/**
 * GET /agent/schedules/{scheduleId}/ticks: lists the outcomes of planned firings, newest first. Each planned firing has
 * exactly one outcome, kept for 90 days.
 */
export const listTicks = endpoint({
  request: { path: v.object({ scheduleId: PathId }), query: pageQuery },
  reply: { 200: ListTicksResponse },
  async run({ path, query, principal }, ports: SchedulePorts & { readonly cursors: Cursors }) {
    return { status: 200, body: await readTickPage(path.scheduleId, query, principal, ports) };
  },
});
