import * as v from "valibot";
import { problem } from "#shared/http/problem.ts";
import { logLine } from "#shared/log/log.ts";
import { invocation } from "#shared/queue/invocation.ts";
import { type ConnectPorts, connectWorker as openConnection } from "#shared/worker-socket/connect-worker.ts";
import { ConnectEvent, findHeader, type SocketResponse } from "#shared/worker-socket/socket-event.ts";

/** WebSocket `$connect`: accepts or refuses a connection of a self-hosted worker. */
export const connectWorker = invocation(
  async (event: unknown, ports: ConnectPorts & { readonly baseUrl: string }): Promise<SocketResponse> => {
    const { requestContext, headers, queryStringParameters } = v.parse(ConnectEvent, event);
    const { connectionId } = requestContext;
    const header = (name: string) => findHeader(headers, name);
    try {
      await openConnection(
        {
          connectionId,
          authorization: header("authorization"),
          teamUid: header("x-team-uid") ?? header("x-warp-team-uid"),
          workerId: queryStringParameters?.["worker_id"],
        },
        ports,
      );
      logLine("info", "worker connected", { connection_id: connectionId });
      return { statusCode: 200 };
    } catch (error) {
      const traceId = requestContext.requestId ?? connectionId;
      const refusal = problem(error, { baseUrl: ports.baseUrl, instance: "/", traceId });
      const level = refusal.statusCode >= 500 ? "error" : "info";
      logLine(level, "worker refused", { connection_id: connectionId, status: refusal.statusCode, error });
      return refusal;
    }
  },
);
