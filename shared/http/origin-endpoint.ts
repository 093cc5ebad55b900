import type { APIGatewayProxyEventV2 } from "aws-lambda";
import { notFound, RunyardError } from "#shared/errors.ts";
import { uuidv7 } from "#shared/ids.ts";
import { ORIGIN_SECRET_HEADER, refuseOtherOrigins } from "./origin-secret.ts";
import { type HttpResponse, problem } from "./problem.ts";

/** The header that CloudFront adds with the host that the caller named. */
const VIEWER_HOST = "runyard-viewer-host";
const PREFIX = "/api/v1";

interface Ports {
  readonly baseUrl: string;
  /** What the requests of CloudFront have in a header, and no others: one secret, or several with commas. */
  readonly originSecret: string;
}

interface Endpoint<P> {
  handle(event: APIGatewayProxyEventV2, ports: P): Promise<HttpResponse>;
}

/**
 * Serves one GET endpoint behind a function URL, which anybody can call. Only requests through CloudFront are accepted; the endpoint then
 * authenticates the caller. Streams of events are passed on as they grow.
 * @param pattern path below /api/v1, with one parameter
 */
export function originEndpoint<P extends Ports>(pattern: string, endpoint: Endpoint<NoInfer<P>>, ports: P) {
  const [before = "", name = "", after = ""] = pattern.split(/[{}]/);
  const path = new RegExp(`^${RegExp.escape(PREFIX + before)}([^/]+)${RegExp.escape(after)}$`);
  return async (request: Request): Promise<Response> => {
    const url = new URL(request.url);
    const traceId = /Root=([\w-]+)/.exec(request.headers.get("x-amzn-trace-id") ?? "")?.[1] ?? uuidv7(Date.now());
    const viewerHost = request.headers.get(VIEWER_HOST);
    const baseUrl = viewerHost === null ? ports.baseUrl : `https://${viewerHost}${PREFIX}`;
    try {
      refuseOtherOrigins(request.headers.get(ORIGIN_SECRET_HEADER) ?? undefined, ports.originSecret);
      const [, value] = path.exec(url.pathname) ?? [];
      if (value === undefined) throw notFound("path");
      if (request.method !== "GET") throw wrongMethod();
      const event = toEvent(request, {
        traceId,
        routeKey: `GET ${PREFIX}${pattern}`,
        pathParameters: { [name]: value },
      });
      return toResponse(await endpoint.handle(event, { ...ports, baseUrl }));
    } catch (error) {
      return toResponse(problem(error, { baseUrl, instance: url.pathname, traceId }));
    }
  };
}

const wrongMethod = (): RunyardError =>
  new RunyardError("invalid_request", { status: 405, detail: "the path supports GET", headers: { allow: "GET" } });

interface Routed {
  readonly traceId: string;
  readonly routeKey: string;
  readonly pathParameters: Readonly<Record<string, string>>;
}

/** The request as an event of API Gateway, which endpoints handle. */
function toEvent(request: Request, { traceId, routeKey, pathParameters }: Routed): APIGatewayProxyEventV2 {
  const { pathname, search, hostname } = new URL(request.url);
  const now = new Date();
  return {
    version: "2.0",
    routeKey,
    rawPath: pathname,
    rawQueryString: search.slice(1),
    headers: Object.fromEntries(request.headers),
    requestContext: {
      accountId: "anonymous",
      apiId: "",
      domainName: hostname,
      domainPrefix: "",
      http: {
        method: request.method,
        path: pathname,
        protocol: "HTTP/1.1",
        sourceIp: "",
        userAgent: request.headers.get("user-agent") ?? "",
      },
      requestId: traceId,
      routeKey,
      stage: "$default",
      time: now.toUTCString(),
      timeEpoch: now.getTime(),
    },
    pathParameters: { ...pathParameters },
    isBase64Encoded: false,
  };
}

function toResponse({ statusCode, headers, body, stream }: HttpResponse): Response {
  if (stream === undefined) return new Response(body, { status: statusCode, headers });
  return new Response(ReadableStream.from(toBytes(stream)), { status: statusCode, headers });
}

async function* toBytes(text: AsyncIterable<string>): AsyncGenerator<Uint8Array, void> {
  const encoder = new TextEncoder();
  for await (const piece of text) yield encoder.encode(piece);
}
