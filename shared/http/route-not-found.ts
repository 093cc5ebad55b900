import { inflateRawSync } from "node:zlib";
import * as v from "valibot";
import { RunyardError } from "#shared/errors.ts";

/** Method and path of each route, compressed; paths are relative to the prefix and have their parameters in braces. */
export const RouteTable = v.pipe(
  v.string(),
  v.transform((packed): unknown => JSON.parse(inflateRawSync(Buffer.from(packed, "base64")).toString())),
  v.array(v.tuple([v.string(), v.string()])),
);
type RouteTable = v.InferOutput<typeof RouteTable>;

/** What the fallback for requests without a route needs. */
export interface RoutePorts {
  readonly baseUrl: string;
  readonly routes: RouteTable;
}

const PREFIX = "/api/v1";

/**
 * Returns the error of a request that matches no route: 405 where the path exists without the method, else 404. A path that exists
 * with the method was not routed because of its parameters, such as `..`, which servers read as a step up.
 */
export function routeNotFoundError(routes: RouteTable, method: string, rawPath: string): RunyardError {
  const allowed = findMethods(routes, rawPath);
  if (allowed.length > 0 && !allowed.includes(method)) {
    return new RunyardError("invalid_request", {
      status: 405,
      detail: `${method} is not allowed here; allowed: ${allowed.join(", ")}`,
      headers: { allow: allowed.join(", ") },
    });
  }
  const trimmed = rawPath.replace(/(?<!\/)\/+$/, "");
  const isSlashed = trimmed !== rawPath && findMethods(routes, trimmed).length > 0;
  const detail = isSlashed ? `there is no such path; ${trimmed} has no slash at its end` : "there is no such path";
  return new RunyardError("resource_not_found", { detail });
}

function findMethods(routes: RouteTable, rawPath: string): string[] {
  const matching = routes.filter(([, path]) => pattern(path).test(rawPath));
  // A literal path takes precedence over a path with parameters: only its methods are allowed.
  const own = matching.filter(([, path]) => PREFIX + path === rawPath);
  const methods = (own.length > 0 ? own : matching).map(([method]) => method);
  return [...new Set(methods)].sort();
}

function pattern(path: string): RegExp {
  const body = path
    .split("/")
    .map((part) => (part.startsWith("{") ? "[^/]+" : part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")))
    .join("/");
  return new RegExp(`^${PREFIX}${body}$`);
}
