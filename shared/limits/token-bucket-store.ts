import { keys } from "#shared/table/keys.ts";
import type { Update } from "#shared/table/table.ts";

/** Minutes for which a bucket is kept after the start of its own minute. */
const KEPT_MINUTES = 2;

/** Takes a token from a caller's bucket for a minute. The condition fails when `limit` tokens are taken. */
export const takeToken = (caller: string, kind: string, minute: number, limit: number): Update => ({
  kind: "update",
  key: keys.bucket(caller, kind, minute),
  set: { v: 1, expires_at: (minute + KEPT_MINUTES) * 60 },
  add: { taken: 1 },
  if: { taken: { absentOr: { below: limit } } },
});
