import { SendMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import type * as v from "valibot";
import {
  formatMessageGroup,
  type PassQueue,
  type ReaperMessage,
  type RunMessage,
  type RunQueue,
} from "#shared/queue/run-queue.ts";
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

/** Creates the queue by which the reaper repeats its passes within the minute. */
export function sqsPassQueue(client: SQSClient, url: () => string): PassQueue {
  return {
    async sendPass(pass, delaySeconds) {
      const message: v.InferOutput<typeof ReaperMessage> = { v: 1, pass };
      await client.send(
        new SendMessageCommand({ QueueUrl: url(), MessageBody: JSON.stringify(message), DelaySeconds: delaySeconds }),
      );
    },
  };
}
