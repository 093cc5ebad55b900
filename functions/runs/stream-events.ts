import type { EventPorts } from "#shared/conversations/live-output.ts";
import { EVENTS_REQUEST, respondWithEvents } from "#shared/conversations/respond-with-events.ts";
import { endpoint, type HttpPorts } from "#shared/http/endpoint.ts";
import { originEndpoint } from "#shared/http/origin-endpoint.ts";
import { streamed } from "#shared/http/streamed.ts";
import { RunEvents } from "#shared/wire/event.ts";

const events = endpoint({
  request: EVENTS_REQUEST,
  reply: { 200: RunEvents },
  eventStream: true,
  run: respondWithEvents,
});

/** The events of a run behind a URL that only CloudFront may call: API Gateway cannot stream responses. */
export const streamEvents = streamed((ports: EventPorts & HttpPorts & { readonly originSecret: string }) =>
  originEndpoint("/agent/runs/{runId}/events", events, ports),
);
