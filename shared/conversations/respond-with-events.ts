import * as v from "valibot";
import { PathId } from "#shared/http/endpoint.ts";
import { one, type Query } from "#shared/http/request.ts";
import type { Principal } from "#shared/principals/principal.ts";
import { notVisibleError, visibleRun } from "#shared/runs/read-run.ts";
import { sees } from "#shared/runs/run-tree.ts";
import { Flag, WaitSeconds, wholeNumber } from "#shared/wire/primitives.ts";
import { streamRunEvents } from "./event-stream.ts";
import type { EventPorts } from "./live-output.ts";
import { type CheckAccess, waitForEvents } from "./wait-for-events.ts";

const MAX_SEQUENCE = 9_999_999_999;
const query = {
  /** Returns events after this number. @default 0 */
  after: one(wholeNumber(MAX_SEQUENCE)),
  /** The maximum number of seconds to wait for an event, 0 to 25. @default 0 */
  wait: one(WaitSeconds),
  /** Whether to include output that is still being produced. @default false */
  live: one(Flag),
  /** `live_next` of the last response. Returns only newer live output. */
  live_after: one(v.pipe(v.string(), v.maxLength(16_384))),
};

/** The request of a run's events, which two functions serve: one with responses as a whole, one that streams. */
export const EVENTS_REQUEST = { path: v.object({ runId: PathId }), query };

interface EventsCall {
  readonly path: { readonly runId: string };
  readonly query: Query<typeof query>;
  readonly principal: Principal;
  readonly header: (name: string) => string | undefined;
  readonly authenticateAgain: () => Promise<Principal>;
}

/** Responds with the events of a run: as a stream if the caller accepts one and the deployment can stream. */
export async function respondWithEvents(call: EventsCall, ports: EventPorts) {
  const { path, query, principal, header } = call;
  const { head, body } = await visibleRun(path.runId, principal, ports);
  const checkAccess: CheckAccess = async (now) => {
    const again = await call.authenticateAgain();
    if (!sees(again, now, body)) throw notVisibleError(again, "run");
  };
  const { after = 0, wait = 0, live = false, live_after } = query;
  const { streamSeconds } = ports;
  if (streamSeconds !== undefined && acceptsStream(header("accept"))) {
    const last = Number(/^\d{1,10}$/.exec(header("last-event-id") ?? "")?.[0] ?? after);
    const stream = streamRunEvents(head, { after: last, isLive: live, streamSeconds, checkAccess }, ports);
    return { status: 200 as const, stream };
  }
  const options = { after, waitSeconds: wait, isLive: live, livePosition: live_after, checkAccess };
  return { status: 200 as const, body: await waitForEvents(head, options, ports) };
}

const acceptsStream = (accept = ""): boolean =>
  accept.split(",").some((type) => /^\s*text\/event-stream\s*(;|$)/i.test(type));
