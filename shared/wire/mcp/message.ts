import * as v from "valibot";

const RequestId = v.union([v.string(), v.number()], "must be a string or a number");
const Members = v.record(v.string(), v.unknown());

/** A message of the Model Context Protocol: a request has an `id`, a notification has none. Responses of clients have no `method`. */
export const McpMessage = v.object({
  /** The version of JSON-RPC. */
  jsonrpc: v.literal("2.0"),
  /** The id of a request, which its response repeats. A notification has none. */
  id: v.exactOptional(RequestId),
  /** What the client requests, such as `tools/list` or `tools/call`. */
  method: v.exactOptional(v.string()),
  /** The arguments of the method. */
  params: v.exactOptional(Members),
  /** The result of a response of the client, which is ignored. */
  result: v.exactOptional(v.unknown()),
  /** The error of a response of the client, which is ignored. */
  error: v.exactOptional(v.unknown()),
});
export type McpMessage = v.InferOutput<typeof McpMessage>;

/** The response to a request of the Model Context Protocol. */
export const McpResponse = v.object({
  /** The version of JSON-RPC. */
  jsonrpc: v.literal("2.0"),
  /** The id of the request. */
  id: RequestId,
  /** The result of the method. */
  result: v.exactOptional(Members),
  /** Why there is no result. Errors of tools are results with `isError`. */
  error: v.exactOptional(
    v.object({
      /** The code of JSON-RPC. */
      code: v.number(),
      /** What is wrong. */
      message: v.string(),
    }),
  ),
});
export type McpResponse = v.InferOutput<typeof McpResponse>;
