import { SendMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import * as v from "valibot";
import { type Owner, ownerPk } from "#shared/table/keys.ts";

/** The message of the queues of runs: which run to dispatch, or which ending to complete. */
export const RunMessage = v.object({ v: v.literal(1), run_id: v.string() });

export interface RunQueue {
  /** Asks for the dispatch of a waiting run. Repeats are harmless. */
  sendRun(runId: string, owner: Owner): Promise<void>;
  /** Asks for what follows an ending: the transcript, and the start of a run that waited for the slot. */
  sendEnd(runId: string, owner: Owner): Promise<void>;
}

export const ReaperMessage = v.object({ v: v.literal(1), pass: v.pipe(v.number(), v.integer()) });

export interface PassQueue {
  /** Asks for pass number `pass` after `delaySeconds`. */
  sendPass(pass: number, delaySeconds: number): Promise<void>;
}

/** The queues on SQS: standard ones, with the owner as message group, which makes them fair between owners. */
export function sqsRunQueue(client: SQSClient, urls: { runs: () => string; ends: () => string }): RunQueue {
  const send = async (url: () => string, runId: string, owner: Owner) => {
    const message: v.InferOutput<typeof RunMessage> = { v: 1, run_id: runId };
    await client.send(
      new SendMessageCommand({ QueueUrl: url(), MessageBody: JSON.stringify(message), MessageGroupId: ownerPk(owner) }),
    );
  };
  return {
    sendRun: (runId, owner) => send(urls.runs, runId, owner),
    sendEnd: (runId, owner) => send(urls.ends, runId, owner),
  };
}

/** The reaper's own queue, with which it comes back within the minute. */
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
