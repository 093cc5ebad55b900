import * as v from "valibot";
import type { Item } from "#shared/table/table.ts";
import type { EnvironmentItem } from "#shared/wire/environment.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";

/** A setup snapshot, as far as responses show it. */
export const ShownSnapshot = v.object({ run_id: v.string(), created_at: v.number(), size_bytes: v.number() });
export type ShownSnapshot = v.InferOutput<typeof ShownSnapshot>;

/** Storage deletes files of snapshots after 30 days, so that an execution has a day to download them. */
const LIFETIME_MS = 29 * 24 * 3_600_000;

export const isExpired = ({ created_at }: ShownSnapshot, now: number): boolean => now > created_at + LIFETIME_MS;

/** Formats the snapshot in the item of an environment's latest run for responses. */
export function showSetupSnapshot(item: Item | undefined): Pick<EnvironmentItem, "setup_snapshot"> {
  const parsed = v.safeParse(ShownSnapshot, item?.["setup_snapshot"]);
  if (!parsed.success) return {};
  const { run_id, created_at, size_bytes } = parsed.output;
  const times = { created_at: toTimestamp(created_at), expires_at: toTimestamp(created_at + LIFETIME_MS) };
  return { setup_snapshot: { run_id, ...times, size_bytes } };
}
