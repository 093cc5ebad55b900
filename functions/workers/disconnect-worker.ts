import * as v from "valibot";
import { logLine } from "#shared/log/log.ts";
import { invocation } from "#shared/queue/invocation.ts";
import { type ConnectPorts, disconnectWorker as forgetConnection } from "#shared/worker-socket/connect-worker.ts";
import { SocketEvent, type SocketResponse } from "#shared/worker-socket/socket-event.ts";

/** WebSocket `$disconnect`: removes the connection of a self-hosted worker. Its runs go on. */
export const disconnectWorker = invocation(
  async (event: unknown, ports: Pick<ConnectPorts, "table" | "now">): Promise<SocketResponse> => {
    const { requestContext } = v.parse(SocketEvent, event);
    const { connectionId } = requestContext;
    await forgetConnection(connectionId, ports);
    logLine("info", "worker disconnected", { connection_id: connectionId });
    return { statusCode: 200 };
  },
);
