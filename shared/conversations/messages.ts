import * as v from "valibot";
import { invalid, RunyardError } from "#shared/errors.ts";
import { type FileStore, fileKeys } from "#shared/files/file-store.ts";
import { sha256 } from "#shared/ids.ts";
import { RUN_CAPS } from "#shared/records/run.ts";
import { INLINE_BYTES } from "#shared/records/run-body.ts";
import type { ExecutingHead } from "#shared/records/run-head.ts";
import { changeExecution } from "#shared/runs/change-run.ts";
import { failExecution } from "#shared/runs/end-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import type { AttributeChange } from "#shared/runs/transition.ts";
import type { Item, Value } from "#shared/table/table.ts";
import { Message } from "#shared/wire/conversation.ts";

const BatchItem = v.object({
  sequence: v.number(),
  occurred_at: v.number(),
  execution_id: v.exactOptional(v.string()),
  first: v.number(),
  count: v.number(),
  /** Bytes of the messages as JSON. */
  bytes: v.number(),
  messages: v.exactOptional(v.string()),
  messages_file: v.exactOptional(v.string()),
});

export interface Batch {
  readonly sequence: number;
  readonly occurredAt: number;
  readonly first: number;
  readonly messages: readonly Message[];
}

/** Appends a batch to the conversation, as `prepareMessages` has it. Returns the next number. */
export async function storeMessages(
  first: ExecutingHead,
  firstSequence: number,
  messages: readonly Message[],
  ports: RunPorts,
): Promise<number> {
  const toChange = await prepareMessages(first, firstSequence, messages, ports);
  return changeExecution(first, ports, (head) => {
    const { count, ...change } = toChange(head);
    if (count === 0) return { result: head.messages + 1 };
    return {
      change: { events: [], ...change, set: { ...change.set, heartbeat_at: ports.now() } },
      result: head.messages + count + 1,
    };
  });
}

/** What a batch changes of a run, as a part of a change; `count` messages of it are new. */
type MessagesChange = Pick<AttributeChange, "messages" | "set"> & { readonly count: number };

/**
 * Prepares to append a batch to the conversation; messages that are stored already are skipped. A run that exceeds the limits of
 * RUN_CAPS ends.
 * @returns what the batch changes of the run's current head
 */
export async function prepareMessages(
  first: ExecutingHead,
  firstSequence: number,
  messages: readonly Message[],
  ports: RunPorts,
): Promise<(head: ExecutingHead) => MessagesChange> {
  if (firstSequence > first.messages + 1) {
    throw invalid("first_sequence", `leaves a gap: the next message is number ${first.messages + 1}`);
  }
  const fresh = messages.slice(first.messages + 1 - firstSequence);
  if (fresh.length === 0) return () => ({ count: 0 });
  const text = JSON.stringify(fresh);
  const bytes = Buffer.byteLength(text);
  if (first.messages + fresh.length > RUN_CAPS.messages || first.message_bytes + bytes > RUN_CAPS.messageBytes) {
    const detail = `a run stores at most ${RUN_CAPS.messages} messages of ${RUN_CAPS.messageBytes} bytes in total`;
    // Later messages could not be read by anyone.
    await failExecution(first, "operation_not_supported", `the run exceeded its message limit: ${detail}`, ports);
    throw new RunyardError("resource_unavailable", { status: 429, detail, retryable: false });
  }
  const content = await storeContent(first, text, bytes, ports.files);
  return (head) => {
    // The head numbers the messages, so a head with more of them than at the start has stored this batch.
    if (head.messages !== first.messages) return { count: 0 };
    return {
      count: fresh.length,
      messages: { first: head.messages + 1, count: fresh.length, bytes, ...content },
      set: { messages: head.messages + fresh.length, message_bytes: head.message_bytes + bytes },
    };
  };
}

async function storeContent(
  head: ExecutingHead,
  text: string,
  bytes: number,
  files: FileStore,
): Promise<Record<string, Value>> {
  if (bytes <= INLINE_BYTES) return { messages: text };
  const file = fileKeys.messages(head.run_id, head.execution_id, head.messages + 1, sha256(text));
  await files.put(file, text, "application/json");
  return { messages_file: file };
}

/** Reads a stored batch, from the bucket if it was too large for the table. */
export async function readBatch(item: Item, files: FileStore): Promise<Batch> {
  const batch = v.parse(BatchItem, item);
  const text = batch.messages ?? (batch.messages_file === undefined ? undefined : await files.get(batch.messages_file));
  if (text === undefined) throw new Error("the messages of a batch are missing");
  const stored: unknown = JSON.parse(Buffer.from(text).toString());
  return {
    sequence: batch.sequence,
    occurredAt: batch.occurred_at,
    first: batch.first,
    messages: v.parse(v.array(Message), stored),
  };
}
