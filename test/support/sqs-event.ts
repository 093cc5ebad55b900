import type { SQSEvent } from "aws-lambda";

/** An SQS event with one record for each body. */
export function sqsEvent(queue: string, bodies: readonly unknown[]): SQSEvent {
  return {
    Records: bodies.map((body, index) => ({
      messageId: `message-${index + 1}`,
      receiptHandle: "handle",
      body: typeof body === "string" ? body : JSON.stringify(body),
      attributes: {
        ApproximateReceiveCount: "1",
        SentTimestamp: "0",
        SenderId: "sender",
        ApproximateFirstReceiveTimestamp: "0",
      },
      messageAttributes: {},
      md5OfBody: "",
      eventSource: "aws:sqs",
      eventSourceARN: `arn:aws:sqs:us-east-1:000000000000:${queue}`,
      awsRegion: "us-east-1",
    })),
  };
}
