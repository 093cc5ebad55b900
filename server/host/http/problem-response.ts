import { randomUUID } from "node:crypto";
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";

/** The titles of the service's errors, as in shared/errors.ts. */
const TITLES = {
  invalid_request: "The request is not valid",
  resource_unavailable: "The request cannot be served for now",
  internal_error: "Something went wrong on our side",
} as const;

/** A response of the HTTP port itself, in the format of the service's errors. */
export type LocalProblem = { readonly status: number; readonly detail?: string } & (
  | { readonly code: "invalid_request" }
  | { readonly code: "resource_unavailable" | "internal_error"; readonly retryAfterSeconds: number }
);

/**
 * Responds to a request with a problem, without reading its body.
 * @param baseUrl base URL of the API, which describes the errors. @default the API of the port on this machine
 */
export function sendProblem(
  request: IncomingMessage,
  response: ServerResponse,
  problem: LocalProblem,
  baseUrl?: string,
): void {
  request.resume();
  const path = (request.url ?? "/").split("?", 1)[0] ?? "/";
  const { headers, body } = problemMessage(problem, { path, baseUrl: baseUrl ?? localBaseUrl(request.socket) });
  response.writeHead(problem.status, headers);
  response.end(body);
}

/** A whole HTTP/1.1 response, for a connection whose request could not be parsed. */
export function rawProblem(problem: LocalProblem, socket: Socket, baseUrl = localBaseUrl(socket)): string {
  const { headers, body } = problemMessage(problem, { path: "/", baseUrl });
  const lines = Object.entries({ ...headers, connection: "close" }).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`, ...lines, "", body].join("\r\n");
}

/** Not the request's Host header, which the caller can choose freely. */
const localBaseUrl = ({ localPort = 80 }: Socket): string => `http://127.0.0.1:${localPort}/api/v1`;

/** Of a request's path; a longer one is the reason why the request is refused. */
const MAX_INSTANCE_LENGTH = 2_048;

function problemMessage(problem: LocalProblem, { path, baseUrl }: { readonly path: string; readonly baseUrl: string }) {
  const { status, code, detail } = problem;
  const title = TITLES[code];
  const traceId = randomUUID();
  const isRetryable = "retryAfterSeconds" in problem;
  const body = JSON.stringify({
    type: `${baseUrl}/docs/errors/${code.replaceAll("_", "-")}`,
    title,
    status,
    ...(detail === undefined ? {} : { detail }),
    instance: path.slice(0, MAX_INSTANCE_LENGTH),
    error: detail === undefined ? title : `${title} (${detail})`,
    error_code: code,
    retryable: isRetryable,
    trace_id: traceId,
  });
  const headers = {
    "content-type": "application/problem+json",
    "content-length": String(Buffer.byteLength(body)),
    "cache-control": "no-store",
    "x-request-id": traceId,
    "x-should-retry": String(isRetryable),
    ...(isRetryable ? { "retry-after": String(problem.retryAfterSeconds) } : {}),
  };
  return { headers, body };
}
