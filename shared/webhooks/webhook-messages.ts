import * as v from "valibot";
import { AttemptRequest } from "./send-webhooks.ts";

/** An event of a run, or of a team's triggers and schedules, that may have to be delivered. */
export const EventMessage = v.union([
  v.object({ v: v.literal(1), run_id: v.string(), sequence: v.number() }),
  v.object({ v: v.literal(1), team_uid: v.string(), event_id: v.string() }),
]);

/** Deliveries of one webhook that are attempted with one request: 110 KB, of the 256 KB of an asynchronous invocation. */
export const MAX_REQUESTED = 1_000;

/** Deliveries of one webhook to attempt now. */
export const AttemptMessage = v.object({
  v: v.literal(1),
  deliveries: v.pipe(
    v.array(
      v.object({
        of_run: v.exactOptional(v.literal(true)),
        is_reply: v.exactOptional(v.literal(true)),
        webhook_uid: v.string(),
        sequence: v.number(),
        check_at: v.string(),
      }),
    ),
    v.maxLength(MAX_REQUESTED),
  ),
});

/** Requests to send to the URLs of webhooks. */
export const SendMessage = v.object({ v: v.literal(1), requests: v.array(AttemptRequest) });
