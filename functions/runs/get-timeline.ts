import * as v from "valibot";
import { isTimelineEvent, toTimelineEvent } from "#shared/conversations/timeline.ts";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import type { Cursors } from "#shared/pagination/cursor.ts";
import { pageQuery, paginate } from "#shared/pagination/page.ts";
import { visibleRun } from "#shared/runs/read-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { Timeline } from "#shared/wire/event.ts";

/**
 * GET /agent/runs/{runId}/timeline: lists the timeline events of a run, oldest first. The timeline contains state
 * transitions, setup steps, checkpoints and artifacts, but no messages; use the events of the run for both.
 */
export const getTimeline = endpoint({
  request: { path: v.object({ runId: PathId }), query: pageQuery },
  reply: { 200: Timeline },
  async run({ path, query, principal }, ports: RunPorts & { readonly cursors: Cursors }) {
    await visibleRun(path.runId, principal, ports);
    const { items } = await ports.runs.timelineItems(path.runId);
    const options = { binding: ["timeline", path.runId], placeOf: ({ sk }: { sk: string }) => sk };
    const { items: some, page } = await paginate(items.filter(isTimelineEvent), query, options, ports.cursors);
    return { status: 200, body: { events: some.map((item) => toTimelineEvent(path.runId, item)), ...page } };
  },
});
