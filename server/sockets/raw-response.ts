import { STATUS_CODES } from "node:http";
import type { SocketResponse } from "#shared/worker-socket/socket-event.ts";

/** A whole HTTP/1.1 response to a request that is not upgraded. */
export function rawResponse({ statusCode, headers = {}, body = "" }: SocketResponse): string {
  const all = { ...headers, "content-length": String(Buffer.byteLength(body)), connection: "close" };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode] ?? ""}`, ...lines, "", body].join("\r\n");
}
