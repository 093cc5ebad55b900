import * as v from "valibot";
import { listFollowupPage } from "#shared/conversations/followup-queue.ts";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import type { Cursors } from "#shared/pagination/cursor.ts";
import { pageQuery } from "#shared/pagination/page.ts";
import { visibleRun } from "#shared/runs/read-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { ListFollowupsResponse } from "#shared/wire/runs/followup.ts";

/**
 * GET /agent/runs/{runId}/followups: lists the follow-ups of a run in the order of their delivery. A follow-up is
 * `pending` until the agent takes it, then `delivered`. Those that a cancel or a request removes while they are pending
 * stay readable as `removed`.
 */
export const listFollowups = endpoint({
  request: { path: v.object({ runId: PathId }), query: pageQuery },
  reply: { 200: ListFollowupsResponse },
  async run({ path, query, principal }, ports: RunPorts & { readonly cursors: Cursors }) {
    const { head } = await visibleRun(path.runId, principal, ports);
    return { status: 200, body: await listFollowupPage(head, query, ports) };
  },
});
