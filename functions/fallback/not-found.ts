import type { APIGatewayProxyEventV2 } from "aws-lambda";
import { type HttpResponse, problem } from "#shared/http/problem.ts";
import { readTraceId } from "#shared/http/response.ts";
import { type RoutePorts, routeNotFoundError } from "#shared/http/route-not-found.ts";
import { loggedPath, logLine } from "#shared/log/log.ts";
import { invocation } from "#shared/queue/invocation.ts";

/** Handles every request that matches no route: 405 where the path exists, else 404. */
export const notFound = invocation(
  async (event: APIGatewayProxyEventV2, { baseUrl, routes }: RoutePorts): Promise<HttpResponse> => {
    const { method } = event.requestContext.http;
    const traceId = readTraceId(event);
    const error = routeNotFoundError(routes, method, event.rawPath);
    const response = problem(error, { baseUrl, instance: event.rawPath, traceId });
    logLine("info", "request", {
      method,
      path: loggedPath(event.rawPath),
      status: response.statusCode,
      trace_id: traceId,
    });
    return response;
  },
);
