import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { APIGatewayProxyEventV2 } from "aws-lambda";

const ACCOUNT = "000000000000";

/** The parts of a request that an event depends on. */
type Incoming = Pick<IncomingMessage, "method" | "url" | "httpVersion" | "rawHeaders"> & {
  readonly socket: Pick<IncomingMessage["socket"], "remoteAddress">;
};

export interface ApiRequest {
  readonly incoming: Incoming;
  readonly body: Buffer;
  /** Method and path pattern of the route. */
  readonly routeKey: string;
  readonly pathParameters: Readonly<Record<string, string>>;
}

/** Converts a request to an event of API Gateway's HTTP API, payload format 2.0. The body is always in base64. */
export function toApiEvent({ incoming, body, routeKey, pathParameters }: ApiRequest): APIGatewayProxyEventV2 {
  const { method = "GET", url = "/" } = incoming;
  const [rawPath = "/", ...query] = url.split("?");
  const headers = joinHeaders(incoming.rawHeaders);
  const cookies = headers["cookie"]?.split(/;\s*/);
  delete headers["cookie"];
  const now = new Date();
  const domainName = headers["host"]?.replace(/:\d+$/, "") ?? "localhost";
  return {
    version: "2.0",
    routeKey,
    rawPath,
    rawQueryString: query.join("?"),
    ...(cookies === undefined ? {} : { cookies }),
    headers,
    requestContext: {
      accountId: ACCOUNT,
      apiId: "runyard",
      domainName,
      domainPrefix: domainName.split(".", 1)[0] ?? domainName,
      http: {
        method,
        path: rawPath,
        protocol: `HTTP/${incoming.httpVersion}`,
        sourceIp: incoming.socket.remoteAddress ?? "127.0.0.1",
        userAgent: headers["user-agent"] ?? "",
      },
      requestId: randomUUID(),
      routeKey,
      stage: "$default",
      time: now.toUTCString(),
      timeEpoch: now.getTime(),
    },
    pathParameters: { ...pathParameters },
    ...(body.length === 0 ? {} : { body: body.toString("base64") }),
    isBase64Encoded: body.length > 0,
  };
}

/** Lower-case names; the values of repeated headers are joined with commas, as API Gateway does. */
function joinHeaders(rawHeaders: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = Object.create(null);
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? "").toLowerCase();
    const value = rawHeaders[index + 1] ?? "";
    headers[name] = name in headers ? `${headers[name]},${value}` : value;
  }
  return headers;
}
