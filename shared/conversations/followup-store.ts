import * as v from "valibot";
import { keys } from "#shared/table/keys.ts";
import type { Item, Put } from "#shared/table/table.ts";
import { FollowupPolicy, RunMode, UserProfile } from "#shared/wire/run.ts";

const FollowupItem = v.object({
  number: v.number(),
  message: v.exactOptional(v.string()),
  /** The file with the message, if it is too long for the item. */
  message_file: v.exactOptional(v.string()),
  policy: FollowupPolicy,
  mode: v.exactOptional(RunMode),
  created_at: v.number(),
  /** Who sent it; absent in those that earlier versions stored. */
  created_by: v.exactOptional(UserProfile),
});
export type StoredFollowup = v.InferOutput<typeof FollowupItem>;

export const parseFollowup = (item: Item): StoredFollowup => v.parse(FollowupItem, item);

/** The write that stores a follow-up; its condition fails if the run has one of that number. */
export const putFollowup = (runId: string, followup: StoredFollowup): Put => ({
  kind: "put",
  item: { ...keys.followup(runId, followup.number), v: 1, ...followup },
  if: { pk: { exists: false } },
});
