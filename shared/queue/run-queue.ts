import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import * as v from "valibot";
import type { Owner } from "#shared/table/keys.ts";

/** The message of the run queues: the run to dispatch, or the ended run to complete. */
export const RunMessage = v.object({ v: v.literal(1), run_id: v.string() });

export interface RunQueue {
  /** Requests the dispatch of a waiting run, after `delaySeconds` if given, at most 900. Repeats are harmless. */
  sendRun(runId: string, owner: Owner, delaySeconds?: number): Promise<void>;
  /** Requests the completion of an ended run: its transcript, and the start of a run that waits for the slot. */
  sendEnd(runId: string, owner: Owner): Promise<void>;
}

export const ReaperMessage = v.object({ v: v.literal(1), pass: v.pipe(v.number(), v.integer()) });

/** The message group of an owner's messages, which makes the queues fair between owners. */
export const formatMessageGroup = ({ type, uid }: Owner): string => `${type.toUpperCase()}#${uid}`;

/** A dead-letter queue that nothing polls: a function that runs every minute drains it. */
export interface DeadLetterQueue {
  /** Passes on the messages that are there now, and deletes those that are not among the failed ones. */
  drain(handle: (event: SQSEvent) => Promise<SQSBatchResponse>): Promise<void>;
}

export interface PassQueue {
  /** Seconds between two passes of a minute. */
  readonly everySeconds: number;
  /** Requests pass number `pass` after `delaySeconds`. */
  sendPass(pass: number, delaySeconds: number): Promise<void>;
}
