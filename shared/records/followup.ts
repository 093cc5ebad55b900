import * as v from "valibot";
import { type FileStore, fileKeys } from "#shared/files/file-store.ts";
import { sha256 } from "#shared/ids.ts";
import { keys } from "#shared/table/keys.ts";
import type { Item, Put, Table } from "#shared/table/table.ts";
import { ApprovalDecision } from "#shared/wire/executions/approval.ts";
import { RunMode, UserProfile } from "#shared/wire/run.ts";
import { FollowupPolicy } from "#shared/wire/runs/followup.ts";
import { RequestOrigin } from "./request-origin.ts";
import { INLINE_BYTES, StoredAttachment } from "./run-body.ts";

const FollowupItem = v.object({
  /** Its place in the order of delivery. */
  number: v.number(),
  /** Its number when it was sent, of which its id is made; absent unless a promotion has moved it. */
  original: v.exactOptional(v.number()),
  message: v.exactOptional(v.string()),
  /** The file with the message, if it is too long for the item. */
  message_file: v.exactOptional(v.string()),
  /** Bytes of that message as JSON; absent in those that earlier versions stored. */
  message_bytes: v.exactOptional(v.number()),
  attachments: v.exactOptional(v.array(StoredAttachment)),
  policy: FollowupPolicy,
  mode: v.exactOptional(RunMode),
  created_at: v.number(),
  /** Who sent it; absent in those that earlier versions stored. */
  created_by: v.exactOptional(UserProfile),
  /** How it was sent; absent in those that earlier versions stored. */
  origin: v.exactOptional(RequestOrigin),
  /** The sender's position in its trace, where that is another one than the run's. */
  traceparent: v.exactOptional(v.string()),
  /** What its sender decided about the call that the run waits for. */
  decision: v.exactOptional(ApprovalDecision),
  /** True if it was deleted before an execution has stored it. */
  deleted: v.exactOptional(v.literal(true)),
});
export type StoredFollowup = v.InferOutput<typeof FollowupItem>;

/** Formats the id of the follow-up that was sent with this number. */
export const toFollowupId = (number: number): string => `followup-${number}`;

/** The id of a follow-up within its run; its message in the conversation has the same one. */
export const followupIdOf = ({ number, original = number }: Pick<StoredFollowup, "number" | "original">): string =>
  toFollowupId(original);

export const parseFollowup = (item: Item): StoredFollowup => v.parse(FollowupItem, item);

/** Reads the follow-ups with these numbers, in their order; a missing one is undefined. At most 100. */
export async function readFollowupsAt(
  runId: string,
  numbers: readonly number[],
  table: Pick<Table, "batchGet">,
): Promise<(StoredFollowup | undefined)[]> {
  const items = await table.batchGet(numbers.map((number) => keys.followup(runId, number)));
  return items.map((item) => (item === undefined ? undefined : parseFollowup(item)));
}

/** The write that stores a follow-up; its condition fails if the run has one of that number. */
export const putFollowup = (runId: string, followup: StoredFollowup): Put => ({
  kind: "put",
  item: { ...keys.followup(runId, followup.number), v: 1, ...followup },
  if: { pk: { exists: false } },
});

/** The write that replaces a stored follow-up, or takes its place in the order of delivery. */
export const replaceFollowup = (runId: string, followup: StoredFollowup): Put => ({
  kind: "put",
  item: { ...keys.followup(runId, followup.number), v: 1, ...followup },
  if: { pk: { exists: true } },
});

type StoredText = Pick<StoredFollowup, "message" | "message_file" | "message_bytes">;

/** Stores the text of a follow-up: in a file if it is too long for the item. */
export async function storeText(runId: string, text: string, files: FileStore): Promise<StoredText> {
  if (Buffer.byteLength(text) <= INLINE_BYTES) return { message: text };
  const file = fileKeys.followup(runId, sha256(text));
  await files.put(file, text, "text/plain; charset=utf-8");
  return { message_file: file, message_bytes: Buffer.byteLength(JSON.stringify(text)) };
}

/** Reads the text of a follow-up. */
export async function readText({ number, message, message_file }: StoredFollowup, files: FileStore): Promise<string> {
  const text = message ?? (message_file === undefined ? undefined : await files.get(message_file));
  if (text === undefined) throw new Error(`the text of follow-up ${number} is missing`);
  return text.toString();
}
