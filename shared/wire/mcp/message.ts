import * as v from "valibot";

const RequestId = v.union([v.string(), v.number()], "must be a string or a number");
const Members = v.record(v.string(), v.unknown());

/** A message of the Model Context Protocol: a request has an `id`, a notification has none. Responses of clients have no `method`. */
export const McpMessage = v.object({
  jsonrpc: v.literal("2.0"),
  id: v.exactOptional(RequestId),
  method: v.exactOptional(v.string()),
  params: v.exactOptional(Members),
  result: v.exactOptional(v.unknown()),
  error: v.exactOptional(v.unknown()),
});
export type McpMessage = v.InferOutput<typeof McpMessage>;

/** The response to a request of the Model Context Protocol. */
export const McpResponse = v.object({
  jsonrpc: v.literal("2.0"),
  id: RequestId,
  result: v.exactOptional(Members),
  error: v.exactOptional(v.object({ code: v.number(), message: v.string() })),
});
export type McpResponse = v.InferOutput<typeof McpResponse>;
