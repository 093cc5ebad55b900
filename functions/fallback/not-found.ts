import type { APIGatewayProxyEventV2 } from "aws-lambda";
import * as v from "valibot";
import { traceOf } from "#shared/http/endpoint.ts";
import { type HttpResponse, problem } from "#shared/http/problem.ts";
import { RouteTable, refuseUnrouted } from "#shared/http/route-not-found.ts";
import { loggedPath, logLine } from "#shared/log/log.ts";
import { setting } from "#shared/settings.ts";

/** Every request that no route takes: 405 where the path is known, else 404. */
export async function handler(event: APIGatewayProxyEventV2): Promise<HttpResponse> {
  const routes = v.parse(RouteTable, setting("ROUTES"));
  const { method } = event.requestContext.http;
  const traceId = traceOf(event);
  const error = refuseUnrouted(routes, method, event.rawPath);
  const response = problem(error, { baseUrl: setting("BASE_URL"), instance: event.rawPath, traceId });
  logLine("info", "request", {
    method,
    path: loggedPath(event.rawPath),
    status: response.statusCode,
    trace_id: traceId,
  });
  return response;
}
