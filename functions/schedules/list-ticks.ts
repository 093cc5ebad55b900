import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import type { Cursors } from "#shared/pagination/cursor.ts";
import { pageQuery } from "#shared/pagination/page.ts";
import { listTicks as list } from "#shared/schedules/list-schedules.ts";
import type { SchedulePorts } from "#shared/schedules/ports.ts";
import { ListTicksResponse } from "#shared/wire/schedule.ts";

/** GET /agent/schedules/{scheduleId}/ticks: what became of each planned firing, the latest first. */
export const listTicks = endpoint({
  request: { path: v.object({ scheduleId: PathId }), query: pageQuery },
  reply: { 200: ListTicksResponse },
  async run({ path, query, principal }, ports: SchedulePorts & { readonly cursors: Cursors }) {
    return { status: 200, body: await list(path.scheduleId, query, principal, ports) };
  },
});
