import * as v from "valibot";
import { invocation } from "#shared/queue/invocation.ts";
import { receiveFrame as handleFrame } from "#shared/worker-socket/receive-frame.ts";
import { SocketEvent, type SocketResponse } from "#shared/worker-socket/socket-event.ts";
import type { OfferPorts } from "#shared/workers/worker-ports.ts";

/** WebSocket `$default`: handles a frame of a self-hosted worker. */
export const receiveFrame = invocation(async (event: unknown, ports: OfferPorts): Promise<SocketResponse> => {
  const { requestContext, body = "", isBase64Encoded } = v.parse(SocketEvent, event);
  // Binary frames are not part of the protocol.
  if (isBase64Encoded !== true) await handleFrame(requestContext.connectionId, body, ports);
  return { statusCode: 200 };
});
