import {
  type ApiGatewayManagementApiClient,
  DeleteConnectionCommand,
  PostToConnectionCommand,
} from "@aws-sdk/client-apigatewaymanagementapi";
import type { WorkerSockets } from "#shared/sandbox/worker-sockets.ts";

const GONE = "GoneException";

/** The sockets of an API Gateway WebSocket API. The client is created at the first use. */
export function apiGatewaySockets(createClient: () => ApiGatewayManagementApiClient): WorkerSockets {
  let client: ApiGatewayManagementApiClient | undefined;
  const isOpen = async (call: (client: ApiGatewayManagementApiClient) => Promise<unknown>): Promise<boolean> => {
    client ??= createClient();
    try {
      await call(client);
      return true;
    } catch (error) {
      if (error instanceof Error && error.name === GONE) return false;
      throw error;
    }
  };
  return {
    post: (connectionId, frame) =>
      isOpen((sender) =>
        sender.send(new PostToConnectionCommand({ ConnectionId: connectionId, Data: Buffer.from(frame) })),
      ),
    async close(connectionId) {
      await isOpen((sender) => sender.send(new DeleteConnectionCommand({ ConnectionId: connectionId })));
    },
  };
}
