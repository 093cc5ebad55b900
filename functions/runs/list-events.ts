import { EVENTS_REQUEST, respondWithEvents } from "#shared/conversations/respond-with-events.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import { RunEvents } from "#shared/wire/event.ts";

/**
 * GET /agent/runs/{runId}/events: lists the events of a run in one gapless sequence. Events are numbered from 1 and
 * contain state transitions, messages and artifacts. Pass `next` of the response as `after` to continue. With `wait`,
 * the request blocks up to that many seconds until there is an event. When `ended` is true, no further events follow
 * unless the run receives a follow-up. With `live`, the response also contains output that is still being produced.
 * With `Accept: text/event-stream`, the response is a stream of events that ends with the run, or after 15 minutes;
 * continue with `Last-Event-ID`. Deployments that cannot stream respond with JSON.
 */
export const listEvents = endpoint({
  request: EVENTS_REQUEST,
  reply: { 200: RunEvents },
  eventStream: true,
  run: respondWithEvents,
});
