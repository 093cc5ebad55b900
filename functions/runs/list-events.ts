import * as v from "valibot";
import { waitForEvents } from "#shared/conversations/wait-for-events.ts";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { one } from "#shared/http/request.ts";
import { visibleRun } from "#shared/runs/read-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { RunEvents } from "#shared/wire/event.ts";

const whole = (most: number) =>
  v.pipe(
    v.string(),
    v.regex(/^\d{1,10}$/, "must be a whole number"),
    v.transform(Number),
    v.maxValue(most, `must be at most ${most}`),
  );

/**
 * GET /agent/runs/{runId}/events: lists the events of a run in one gapless sequence. Events are numbered from 1 and
 * contain state transitions, messages and artifacts. Pass `next` of the response as `after` to continue. With `wait`,
 * the request blocks up to that many seconds until there is an event. When `ended` is true, no further events follow
 * unless the run receives a follow-up.
 */
export const listEvents = endpoint({
  request: { path: v.object({ runId: PathId }), query: { after: one(whole(9_999_999_999)), wait: one(whole(25)) } },
  reply: { 200: RunEvents },
  async run({ path, query, principal }, ports: RunPorts) {
    const { head } = await visibleRun(path.runId, principal, ports);
    return { status: 200, body: await waitForEvents(head, query.after ?? 0, query.wait ?? 0, ports) };
  },
});
