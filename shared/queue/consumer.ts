import middy from "@middy/core";
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import * as v from "valibot";
import { logLine } from "#shared/log/log.ts";

/**
 * Defines an SQS consumer. It parses and handles each message separately and reports only the failed ones, so that the
 * others of the batch are not repeated. A malformed message fails too and ends in the dead-letter queue, which raises an alarm.
 */
export function queueConsumer<M, P>(definition: {
  readonly message: v.GenericSchema<unknown, M>;
  run(message: M, ports: P): Promise<void>;
}) {
  async function handle(event: SQSEvent, ports: P): Promise<SQSBatchResponse> {
    const results = await Promise.allSettled(event.Records.map((record) => handleRecord(record, ports)));
    const failed = event.Records.filter((_, index) => results[index]?.status === "rejected");
    return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
  }

  async function handleRecord(record: SQSRecord, ports: P): Promise<void> {
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
    /** Creates the Lambda handler, which calls `createPorts` at the first event. */
    lambda(createPorts: () => P) {
      let ports: P | undefined;
      return middy<SQSEvent, SQSBatchResponse, Error, Context>(async (event: SQSEvent) => {
        ports ??= createPorts();
        return handle(event, ports);
      });
    },
  };
}
