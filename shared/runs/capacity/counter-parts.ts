import { digestNumber } from "#shared/ids.ts";
import { DEFAULT_CONCURRENCY_LIMIT, DEFAULT_QUEUE_LIMIT } from "#shared/records/run.ts";
import type { Team } from "#shared/records/team.ts";
import { type Conditions, type Update, valueUnchanged } from "#shared/table/table.ts";
import { counterKey } from "./counter-store.ts";

/** Slots of a team for each part of its counters. */
const SLOTS_PER_PART = 64;
/** One batch reads all of them. */
const MAX_PARTS = 16;

type Limits = Pick<Team, "uid" | "concurrency_limit" | "queue_limit">;
type Parts = Pick<Team, "counter_parts">;

/** The number of items among which the limits of a team are to be divided. */
export function countParts({ concurrency_limit: limit = DEFAULT_CONCURRENCY_LIMIT }: Limits): number {
  return Math.max(1, Math.min(MAX_PARTS, Math.floor(limit / SLOTS_PER_PART)));
}

/** From this number of parts, the first one, whose partition has other items of the team, counts runs only where the others are full. */
const SPARED_FROM = 8;

/** Chooses the part of its team's counters that counts a new run; undefined where there is one item only. */
export function choosePart(runId: string, team: Parts | undefined): number | undefined {
  const parts = team?.counter_parts ?? 1;
  if (parts === 1) return undefined;
  const spared = parts < SPARED_FROM ? 0 : 1;
  return spared + (digestNumber(runId) % (parts - spared));
}

/**
 * Divides the limits of a team among the parts of its counters, whose sum they are.
 * @param before the parts that the team has had; those that it does not have any more have no slots
 */
export function divideLimits(team: Limits, before: number | undefined): Update[] {
  const { concurrency_limit = DEFAULT_CONCURRENCY_LIMIT, queue_limit = DEFAULT_QUEUE_LIMIT } = team;
  const parts = countParts(team);
  const all = Math.max(parts, before ?? 1);
  return Array.from({ length: all }, (_, part) => ({
    kind: "update",
    key: counterKey({ type: "Team", uid: team.uid }, part),
    set: {
      parts: all,
      concurrency_limit: toShare(concurrency_limit, part, parts),
      queue_limit: toShare(queue_limit, part, parts),
    },
    ...(part === 0 ? { if: partsUnchanged(before) } : {}),
  }));
}

/** The condition that the counters still have as many parts as when they were read. */
export const partsUnchanged = (parts: number | undefined): Conditions => ({ parts: valueUnchanged(parts) });

function toShare(limit: number, part: number, parts: number): number {
  return part >= parts ? 0 : Math.floor(limit / parts) + (part < limit % parts ? 1 : 0);
}
