import { createHash } from "node:crypto";
import type { SQSEvent, SQSRecord } from "aws-lambda";
import type { Delivery } from "./message-store.ts";

const REGION = "us-east-1";
const ACCOUNT = "000000000000";
/** In the form of SQS, which names the sender's role. */
const SENDER = "AROA00000000000000000:runyard-server";

/** Converts messages to the event that a Lambda function receives. */
export const toSqsEvent = (queue: string, deliveries: readonly Delivery[]): SQSEvent => ({
  Records: deliveries.map((delivery) => toRecord(queue, delivery)),
});

function toRecord(queue: string, delivery: Delivery): SQSRecord {
  return {
    messageId: delivery.messageId,
    receiptHandle: delivery.receipt,
    body: delivery.body,
    attributes: {
      ApproximateReceiveCount: String(delivery.receives),
      SentTimestamp: String(delivery.sentAt),
      SenderId: SENDER,
      ApproximateFirstReceiveTimestamp: String(delivery.firstReceivedAt),
      ...(delivery.group === "" ? {} : { MessageGroupId: delivery.group }),
    },
    messageAttributes: {},
    md5OfBody: createHash("md5").update(delivery.body).digest("hex"),
    eventSource: "aws:sqs",
    eventSourceARN: `arn:aws:sqs:${REGION}:${ACCOUNT}:runyard-${queue}`,
    awsRegion: REGION,
  };
}
