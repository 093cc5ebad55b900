import * as v from "valibot";

const Context = v.object({ connectionId: v.string(), requestId: v.exactOptional(v.string()) });

/** An event of API Gateway's WebSocket API; the members that are used. */
export const SocketEvent = v.object({
  requestContext: Context,
  body: v.exactOptional(v.string()),
  isBase64Encoded: v.exactOptional(v.boolean()),
});
export type SocketEvent = v.InferOutput<typeof SocketEvent>;

/** The event of `$connect`, the only one with the headers and the query of the request. */
export const ConnectEvent = v.object({
  requestContext: Context,
  headers: v.optional(v.record(v.string(), v.optional(v.string())), {}),
  queryStringParameters: v.nullish(v.record(v.string(), v.optional(v.string()))),
});
export type ConnectEvent = v.InferOutput<typeof ConnectEvent>;

/** The response to an event. A refused connection gets its status. */
export interface SocketResponse {
  readonly statusCode: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Finds a header, whose name API Gateway passes on as the client wrote it. */
export const findHeader = (headers: ConnectEvent["headers"], name: string): string | undefined =>
  Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
