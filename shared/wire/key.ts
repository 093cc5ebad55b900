import * as v from "valibot";
import { Scope, Scopes } from "./keys/scope.ts";
import { PageInfo } from "./list.ts";
import { Name, optional, Timestamp, usdUpTo } from "./primitives.ts";
import { UserProfile } from "./run.ts";

/** A new API key. */
export const CreateKeyRequest = v.object({
  /** The key's name. */
  name: Name,
  /** The expiry time, in the future. By default the key does not expire. @format date-time */
  expires_at: optional(Timestamp),
  /** What the key may be used for. By default it has all scopes of the request's own credential, which has to have each of them. */
  scopes: optional(Scopes),
  /** The maximum cost of the runs that the key creates, and of their descendants, in a calendar month (UTC). By default it is not limited. */
  max_budget_usd: optional(usdUpTo(1_000_000)),
  /** The maximum number of runs that the key creates in a day (UTC). By default it is not limited. */
  max_runs_per_day: optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_000_000))),
});
export type CreateKeyRequest = v.InferOutput<typeof CreateKeyRequest>;

/** An API key without its value. */
export const KeyItem = v.object({
  /** The key's id. */
  uid: v.string(),
  /** The key's name. */
  name: v.string(),
  /** The last four characters of the key. */
  suffix: v.string(),
  /** The time of creation. @format date-time */
  created_at: v.string(),
  /** The person who created the key. Absent for keys from before this was recorded. */
  created_by: v.exactOptional(UserProfile),
  /** The expiry time. Absent for a key that does not expire. @format date-time */
  expires_at: v.exactOptional(v.string()),
  /** What the key may be used for. */
  scopes: v.array(Scope),
  /** The maximum cost of its runs in a calendar month. Absent where it is not limited. */
  max_budget_usd: v.exactOptional(v.number()),
  /** The maximum number of runs that it creates in a day. Absent where it is not limited. */
  max_runs_per_day: v.exactOptional(v.number()),
  /** The time of the latest request with the key that changed something, to the hour. @format date-time */
  last_used_at: v.exactOptional(v.string()),
});
export type KeyItem = v.InferOutput<typeof KeyItem>;

/** A new API key. The value in `key` is returned once. */
export const CreatedKey = v.object({
  ...KeyItem.entries,
  /** The API key, returned once. */
  key: v.string(),
});
export type CreatedKey = v.InferOutput<typeof CreatedKey>;

/** A page of API keys. */
export const ListKeysResponse = v.object({
  /** The API keys, without their values. */
  keys: v.array(KeyItem),
  /** The position of the page in the list. */
  page_info: v.exactOptional(PageInfo),
});
