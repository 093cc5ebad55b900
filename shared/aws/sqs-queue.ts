import {
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import type { SQSRecord } from "aws-lambda";
import type * as v from "valibot";
import type { DeliveryRef, EventMessage, EventQueue } from "#shared/queue/event-queue.ts";
import { type DeadLetterQueue, formatMessageGroup, type RunMessage, type RunQueue } from "#shared/queue/run-queue.ts";
import type { Owner } from "#shared/table/keys.ts";

/** Creates the run queues on SQS: standard queues with the owner as message group, which makes them fair between owners. */
export function sqsRunQueue(client: SQSClient, urls: { runs: () => string; ends: () => string }): RunQueue {
  const send = async (url: () => string, runId: string, owner: Owner, delaySeconds?: number) => {
    const message: v.InferOutput<typeof RunMessage> = { v: 1, run_id: runId };
    await client.send(
      new SendMessageCommand({
        QueueUrl: url(),
        MessageBody: JSON.stringify(message),
        MessageGroupId: formatMessageGroup(owner),
        ...(delaySeconds === undefined ? {} : { DelaySeconds: delaySeconds }),
      }),
    );
  };
  return {
    sendRun: (runId, owner, delaySeconds) => send(urls.runs, runId, owner, delaySeconds),
    sendEnd: (runId, owner) => send(urls.ends, runId, owner),
  };
}

/** Creates the queue of events on SQS. The trigger is the message group, so that one with many events delays no other. */
export function sqsEventQueue(client: SQSClient, url: () => string): EventQueue {
  return {
    async sendDelivery(delivery: DeliveryRef) {
      const message: v.InferOutput<typeof EventMessage> = { v: 1, ...delivery };
      const MessageGroupId = `TRIGGER#${delivery.trigger_uid}`;
      await client.send(
        new SendMessageCommand({ QueueUrl: url(), MessageBody: JSON.stringify(message), MessageGroupId }),
      );
    },
  };
}

/** Messages that one request receives at most. */
const RECEIVED_AT_ONCE = 10;
/** Requests of one drain; the next minute continues. */
const MAX_REQUESTS = 10;

/** Creates a dead-letter queue that is polled only when it is drained: an event source mapping polls it all the time. */
export function sqsDeadLetterQueue(client: SQSClient, url: () => string): DeadLetterQueue {
  return {
    async drain(handle) {
      for (let request = 0; request < MAX_REQUESTS; request++) {
        const { Messages = [] } = await client.send(
          new ReceiveMessageCommand({
            QueueUrl: url(),
            MaxNumberOfMessages: RECEIVED_AT_ONCE,
            MessageSystemAttributeNames: ["All"],
          }),
        );
        if (Messages.length === 0) return;
        const { batchItemFailures } = await handle({ Records: Messages.map(toRecord) });
        const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
        const handled = Messages.filter(({ MessageId }) => !failed.has(MessageId ?? ""));
        for (const { ReceiptHandle } of handled)
          await client.send(new DeleteMessageCommand({ QueueUrl: url(), ReceiptHandle }));
      }
    },
  };
}

const toRecord = ({ MessageId, ReceiptHandle, Body, Attributes, MD5OfBody }: Message): SQSRecord => ({
  messageId: MessageId ?? "",
  receiptHandle: ReceiptHandle ?? "",
  body: Body ?? "",
  attributes: {
    ApproximateReceiveCount: Attributes?.ApproximateReceiveCount ?? "1",
    SentTimestamp: Attributes?.SentTimestamp ?? "0",
    SenderId: Attributes?.SenderId ?? "",
    ApproximateFirstReceiveTimestamp: Attributes?.ApproximateFirstReceiveTimestamp ?? "0",
  },
  messageAttributes: {},
  md5OfBody: MD5OfBody ?? "",
  eventSource: "aws:sqs",
  eventSourceARN: "",
  awsRegion: "",
});
