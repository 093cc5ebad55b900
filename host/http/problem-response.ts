import { randomUUID } from "node:crypto";
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";

/** A response of the local HTTP port itself, in the format of the service's errors. */
export interface LocalProblem {
  readonly status: number;
  readonly code: "invalid_request" | "resource_unavailable" | "internal_error";
  readonly title: string;
  readonly detail?: string;
  /** @default the caller need not try again */
  readonly retryAfterSeconds?: number;
}

/** Responds to a request with a problem, without reading its body. */
export function sendProblem(request: IncomingMessage, response: ServerResponse, problem: LocalProblem): void {
  request.resume();
  const { headers, body } = problemMessage(problem, request.socket, (request.url ?? "/").split("?", 1)[0] ?? "/");
  response.writeHead(problem.status, headers);
  response.end(body);
}

/** A whole HTTP/1.1 response, for a connection whose request could not be parsed. */
export function rawProblem(problem: LocalProblem, socket: Socket): string {
  const { headers, body } = problemMessage(problem, socket, "/");
  const lines = Object.entries({ ...headers, connection: "close" }).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`, ...lines, "", body].join("\r\n");
}

/** Of a request's path; a longer one is the reason why the request is refused. */
const MAX_INSTANCE_LENGTH = 2_048;

function problemMessage(problem: LocalProblem, { localPort = 80 }: Socket, path: string) {
  const { status, code, title, detail, retryAfterSeconds } = problem;
  const traceId = randomUUID();
  const isRetryable = code !== "invalid_request";
  const body = JSON.stringify({
    // Not the request's Host header, which the caller can choose freely.
    type: `http://127.0.0.1:${localPort}/api/v1/docs/errors/${code.replaceAll("_", "-")}`,
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
    ...(retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) }),
  };
  return { headers, body };
}
