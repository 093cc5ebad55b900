import * as v from "valibot";
import { findDynamoRefusal } from "./dynamo-limits.ts";
import type { AwsResponse, HttpCall, ServiceError } from "./http-codec.ts";
import { memberOf } from "./middleware.ts";

/** Bytes of one message of SQS, and of one batch of them. */
const MESSAGE_BYTES = 1024 * 1024;
/** Messages of one batch of SQS. */
const BATCH_MESSAGES = 10;
/** Maximum delay of a message in SQS, in seconds. */
const DELAY_SECONDS = 900;
/** Bytes of the event of an asynchronous invocation. */
const ASYNC_EVENT_BYTES = 1024 * 1024;
/** Bytes of the event and of the response of a synchronous one: 6 MB, with a little for their wrapping. */
const SYNC_BYTES = 6_291_556;
/** Bytes of one message over a socket of API Gateway. */
const SOCKET_BYTES = 128 * 1024;

const Message = v.looseObject({
  MessageBody: v.string(),
  DelaySeconds: v.exactOptional(v.number()),
  MessageAttributes: v.exactOptional(v.unknown()),
});
type Message = v.InferOutput<typeof Message>;

/** Returns why AWS would refuse a call that the emulator accepts; undefined if it would not. */
export function findRefusal(call: HttpCall): ServiceError | undefined {
  if (call.service === "DynamoDB") {
    const message = findDynamoRefusal(call.command, call.json());
    return message === undefined ? undefined : { status: 400, code: "ValidationException", message };
  }
  if (call.service === "SQS") return findQueueRefusal(call);
  if (call.service === "Lambda" && call.command === "Invoke") {
    const isAsync = call.headers["x-amz-invocation-type"] === "Event";
    const most = isAsync ? ASYNC_EVENT_BYTES : SYNC_BYTES;
    if (call.body.length <= most) return undefined;
    const message = `${call.body.length} byte payload is too large for the ${isAsync ? "Event" : "RequestResponse"} invocation type (limit ${most} bytes)`;
    return { status: 413, code: "RequestTooLargeException", message };
  }
  if (call.command === "PostToConnection" && call.body.length > SOCKET_BYTES) {
    return { status: 413, code: "PayloadTooLargeException", message: "Message too long" };
  }
  return undefined;
}

/** What Lambda returns in place of a response that is too long; undefined otherwise. */
export function toSizeError(call: HttpCall, bytes: number): AwsResponse | undefined {
  if (call.service !== "Lambda" || call.command !== "Invoke" || bytes <= SYNC_BYTES) return undefined;
  const errorMessage = `Response payload size (${bytes} bytes) exceeded maximum allowed payload size (${SYNC_BYTES} bytes).`;
  const body = Buffer.from(JSON.stringify({ errorType: "Function.ResponseSizeTooLarge", errorMessage }));
  return { statusCode: 200, headers: { "x-amz-function-error": "Unhandled" }, body };
}

function findQueueRefusal({ command, json }: HttpCall): ServiceError | undefined {
  if (command === "SendMessage") return findMessageRefusal(v.parse(Message, json()));
  if (command !== "SendMessageBatch") return undefined;
  const entries = v.parse(v.array(Message), memberOf(json(), "Entries"));
  if (entries.length > BATCH_MESSAGES) {
    const message = `Maximum number of entries per request are ${BATCH_MESSAGES}. You have sent ${entries.length}.`;
    return { status: 400, code: "TooManyEntriesInBatchRequest", message };
  }
  const bytes = entries.reduce((sum, entry) => sum + countBytes(entry), 0);
  if (bytes > MESSAGE_BYTES) {
    const message = `Batch requests cannot be longer than ${MESSAGE_BYTES} bytes. You have sent ${bytes} bytes.`;
    return { status: 400, code: "BatchRequestTooLong", message };
  }
  return entries.map(findMessageRefusal).find((refusal) => refusal !== undefined);
}

function findMessageRefusal(message: Message): ServiceError | undefined {
  const refused = (reason: string) => ({ status: 400, code: "InvalidParameterValue", message: reason });
  if (countBytes(message) > MESSAGE_BYTES) {
    return refused(
      `One or more parameters are invalid. Reason: Message must be shorter than ${MESSAGE_BYTES + 1} bytes.`,
    );
  }
  const { DelaySeconds: delay = 0 } = message;
  if (Number.isInteger(delay) && delay >= 0 && delay <= DELAY_SECONDS) return undefined;
  return refused(
    `Value ${delay} for parameter DelaySeconds is invalid. Reason: must be between 0 and ${DELAY_SECONDS}.`,
  );
}

/** A message's attributes count, too. */
const countBytes = ({ MessageBody, MessageAttributes }: Message): number =>
  Buffer.byteLength(MessageBody) +
  (MessageAttributes === undefined ? 0 : Buffer.byteLength(JSON.stringify(MessageAttributes)));
