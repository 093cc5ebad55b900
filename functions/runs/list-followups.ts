import * as v from "valibot";
import { listFollowupItems } from "#shared/conversations/followup-queue.ts";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import type { Cursors } from "#shared/pagination/cursor.ts";
import { pageQuery, paginate } from "#shared/pagination/page.ts";
import { visibleRun } from "#shared/runs/read-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { type FollowupItem, ListFollowupsResponse } from "#shared/wire/run.ts";

/**
 * GET /agent/runs/{runId}/followups: lists the follow-ups of a run, oldest first. A follow-up is `pending` until the
 * agent has stored it, then `delivered`. A cancel makes those that are pending `removed`; they stay readable.
 */
export const listFollowups = endpoint({
  request: { path: v.object({ runId: PathId }), query: pageQuery },
  reply: { 200: ListFollowupsResponse },
  async run({ path, query, principal }, ports: RunPorts & { readonly cursors: Cursors }) {
    const { head } = await visibleRun(path.runId, principal, ports);
    const items = await listFollowupItems(head, ports);
    const placeOf = ({ number }: FollowupItem) => String(number).padStart(10, "0");
    const options = { binding: ["followups", path.runId], placeOf };
    const { items: followups, page } = await paginate(items, query, options, ports.cursors);
    return { status: 200, body: { followups, ...page } };
  },
});
