import type { Item } from "#shared/table/table.ts";
import { behind, inOrder, type Order, positionOf, type Range, type Source } from "./sources.ts";

interface Lane {
  readonly source: Source;
  range: Range;
  /** Read and not yet taken. */
  entries: Item[];
  more: boolean;
}

export interface Merged {
  /** The next entries in their order: `amount` of them, or fewer where the range ends. */
  take(amount: number): Promise<Item[]>;
  /** True where the last entry that was taken may not have been the range's last. */
  readonly more: boolean;
}

/**
 * The entries of several sources within a range as one sorted stream. Each source is asked for its share first and for
 * more when it runs out, so that little is read that the page does not take; for everything at once where `isWhole` says
 * that the range is to be read to its end.
 */
export function merged(sources: readonly Source[], range: Range, order: Order, isWhole = false): Merged {
  const lanes = sources.map((source): Lane => ({ source, range, entries: [], more: true }));

  async function fill(lane: Lane, amount: number): Promise<void> {
    const { items, more } = await lane.source(lane.range, amount, order.descending);
    lane.entries.push(...items);
    lane.more = more;
    const last = items.at(-1);
    if (last !== undefined) lane.range = behind(range, positionOf(last, order), order.descending);
    else lane.more = false;
  }

  return {
    async take(amount) {
      const taken: Item[] = [];
      while (taken.length < amount) {
        const rest = amount - taken.length;
        const dry = lanes.filter(({ entries, more }) => entries.length === 0 && more);
        const live = lanes.filter(({ entries, more }) => entries.length > 0 || more).length;
        await Promise.all(dry.map((lane) => fill(lane, isWhole ? rest : shareOf(rest, amount, live, dry.length))));
        // Until every lane that has more shows its next one, none is known to be the first.
        if (lanes.some(({ entries, more }) => entries.length === 0 && more)) continue;
        const [lane, other] = lanes.filter(({ entries }) => entries.length > 0);
        if (lane === undefined) break;
        const first = other === undefined ? lane.entries.splice(0, rest) : [firstOf(lanes, order)];
        taken.push(...first.filter((entry) => entry !== undefined));
      }
      return taken;
    },
    get more() {
      return lanes.some(({ entries, more }) => entries.length > 0 || more);
    },
  };
}

/** How many entries a lane is asked for: all that are missing of the only one, else a part of them. */
function shareOf(rest: number, amount: number, live: number, dry: number): number {
  if (live === 1) return rest;
  const part = dry === live ? Math.floor(rest / (live + 1)) : Math.max(Math.ceil(rest / 2), Math.ceil(amount / 5));
  return Math.min(rest, Math.max(2, part));
}

function firstOf(lanes: readonly Lane[], order: Order): Item | undefined {
  const [lane] = lanes.filter(({ entries }) => entries.length > 0).sort((a, b) => compareFirst(a, b, order));
  return lane?.entries.shift();
}

function compareFirst({ entries: [a] }: Lane, { entries: [b] }: Lane, order: Order): number {
  return a === undefined || b === undefined ? 0 : inOrder(a, b, order);
}
