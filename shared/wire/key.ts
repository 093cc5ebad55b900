import * as v from "valibot";
import { PageInfo } from "./list.ts";
import { Name, Timestamp } from "./primitives.ts";
import { UserProfile } from "./run.ts";

export const CreateKeyRequest = v.object({
  name: Name,
  /** In the future; without it the key is good until it is deleted. */
  expires_at: v.exactOptional(v.nullable(Timestamp)),
});
export type CreateKeyRequest = v.InferOutput<typeof CreateKeyRequest>;

/** An API key as lists show it. */
export const KeyItem = v.object({
  uid: v.string(),
  name: v.string(),
  /** The key's last four characters. */
  suffix: v.string(),
  created_at: v.string(),
  /** The person who created the key; absent on keys from before this was stored. */
  created_by: v.exactOptional(UserProfile),
  expires_at: v.exactOptional(v.string()),
  /** When the key last changed something, to the hour; calls that only read are not noted. */
  last_used_at: v.exactOptional(v.string()),
});
export type KeyItem = v.InferOutput<typeof KeyItem>;

/** A new key; `key` is shown in this answer and never again. */
export const CreatedKey = v.object({ ...KeyItem.entries, key: v.string() });
export type CreatedKey = v.InferOutput<typeof CreatedKey>;

export const ListKeysResponse = v.object({ keys: v.array(KeyItem), page_info: v.exactOptional(PageInfo) });
