import middy from "@middy/core";
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import * as v from "valibot";
import { logLine } from "#shared/log/log.ts";

/**
 * The one way to write an SQS consumer. Each message is parsed and worked on by itself; one that fails is reported
 * alone, so that the others of its batch are not repeated. A message that is malformed fails too, and ends in the
 * dead-letter queue, where somebody sees it.
 */
export function worker<M, P>(definition: {
  readonly message: v.GenericSchema<unknown, M>;
  run(message: M, ports: P): Promise<void>;
}) {
  async function handle(event: SQSEvent, ports: P): Promise<SQSBatchResponse> {
    const results = await Promise.allSettled(event.Records.map((record) => one(record, ports)));
    const failed = event.Records.filter((_, index) => results[index]?.status === "rejected");
    return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
  }

  async function one(record: SQSRecord, ports: P): Promise<void> {
    const started = performance.now();
    const fields = { message_id: record.messageId, attempt: record.attributes.ApproximateReceiveCount };
    try {
      const message = v.parse(definition.message, JSON.parse(record.body));
      await definition.run(message, ports);
      logLine("info", "message", { ...fields, ms: Math.round(performance.now() - started) });
    } catch (error) {
      logLine("error", "message failed", { ...fields, error });
      throw error;
    }
  }

  return {
    message: definition.message,
    handle,
    /** The Lambda handler; `live` is called at the first event and not before. */
    lambda(live: () => P) {
      let ports: P | undefined;
      return middy<SQSEvent, SQSBatchResponse, Error, Context>(async (event: SQSEvent) => {
        ports ??= live();
        return handle(event, ports);
      });
    },
  };
}
