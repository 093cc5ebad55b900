import type { Order } from "./order.ts";
import { isByTime } from "./segments.ts";

/** Segments of one round, entries that a segment should hold, and how many are read of one that holds more. */
const MAX_SEGMENTS = 8;
const SEGMENT_ENTRIES = 1_000;
const SEGMENT_MOST = 2_000;
/** How much more a round may read, and how much wider its segments may be, than the one before it. */
const GROWTH = 4;
/** A little more than the rate of matches predicts, so that one round is enough. */
const MARGIN = 1.2;

export interface Round {
  readonly segments: number;
  /** Milliseconds of one segment. */
  readonly width: number;
  /** Entries to read, of each segment at most. */
  readonly entries: number;
}

/** Decides how much a search reads in each round, by how many entries have matched and how dense they are in time. */
export function createBatchSizer(order: Order, wanted: number) {
  let amount = wanted;
  let width = 0;
  let before = 0;
  let round = { entries: 0, milliseconds: 0 };
  return {
    round(): Round {
      // Before the first round their density is not known.
      const isDivided = isByTime(order) && width > 0;
      const segments = isDivided ? Math.min(MAX_SEGMENTS, Math.ceil(amount / SEGMENT_ENTRIES)) : 1;
      return { segments, width, entries: segments > 1 ? SEGMENT_MOST : amount };
    },
    /** Notes how many entries a part of the round had, and the time that they are spread over. */
    note(entries: number, milliseconds: number): void {
      round = { entries: round.entries + entries, milliseconds: round.milliseconds + milliseconds };
    },
    next(found: number): void {
      // The last round's rate, since matches may have been dense before and be rare from here on.
      const fresh = found - before;
      const expected = fresh === 0 ? Number.POSITIVE_INFINITY : (MARGIN * (wanted - found) * round.entries) / fresh;
      amount = Math.ceil(Math.min(amount * GROWTH, Math.max(wanted - found, expected), MAX_SEGMENTS * SEGMENT_ENTRIES));
      const fitting = (SEGMENT_ENTRIES * round.milliseconds) / Math.max(1, round.entries);
      width = Math.max(1, Math.ceil(width === 0 ? fitting : Math.min(fitting, width * GROWTH)));
      round = { entries: 0, milliseconds: 0 };
      before = found;
    },
  };
}
