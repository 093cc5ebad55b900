import type { Item } from "#shared/table/table.ts";
import { compareEntries, type Order, positionOf, type Range, rangeAfter, type Source } from "./order.ts";

/** How far one source was read. */
interface Stream {
  readonly source: Source;
  range: Range;
  /** Read and not yet taken. */
  entries: Item[];
  more: boolean;
}

export interface MergedStream {
  /** The next entries in their order: `amount` of them, or fewer where the range ends. */
  take(amount: number): Promise<Item[]>;
  /** True if the last entry that was taken may not have been the range's last. */
  readonly more: boolean;
}

/**
 * Merges the entries of several sources within a range into one sorted stream. Reads a share of each source first, and more
 * when a source runs out, so that little is read that the page does not need. If `isWhole`, the range is needed to its end, and
 * each source is read at once.
 */
export function mergeSources(sources: readonly Source[], range: Range, order: Order, isWhole = false): MergedStream {
  const streams = sources.map((source): Stream => ({ source, range, entries: [], more: true }));

  async function fill(stream: Stream, amount: number): Promise<void> {
    const { items, more } = await stream.source(stream.range, amount, order.descending);
    stream.entries.push(...items);
    stream.more = more;
    const last = items.at(-1);
    if (last !== undefined) stream.range = rangeAfter(range, positionOf(last, order), order.descending);
    else stream.more = false;
  }

  return {
    async take(amount) {
      const items: Item[] = [];
      while (items.length < amount) {
        const rest = amount - items.length;
        const dry = streams.filter(({ entries, more }) => entries.length === 0 && more);
        const live = streams.filter(({ entries, more }) => entries.length > 0 || more).length;
        await Promise.all(dry.map((stream) => fill(stream, isWhole ? rest : toShare(rest, amount, live))));
        // Until every stream that has more shows its next one, none is known to be the first.
        if (streams.some(({ entries, more }) => entries.length === 0 && more)) continue;
        const [stream, other] = streams.filter(({ entries }) => entries.length > 0);
        if (stream === undefined) break;
        const first = other === undefined ? stream.entries.splice(0, rest) : [takeFirst(streams, order)];
        items.push(...first.filter((entry) => entry !== undefined));
      }
      return items;
    },
    get more() {
      return streams.some(({ entries, more }) => entries.length > 0 || more);
    },
  };
}

/** How many entries to read from a stream: its share of all missing ones, and never only a few, since each read takes a round trip. */
const toShare = (rest: number, amount: number, live: number): number =>
  Math.min(rest, Math.max(2, Math.ceil(Math.max(rest, amount / 2.5) / live)));

function takeFirst(streams: readonly Stream[], order: Order): Item | undefined {
  const [stream] = streams.filter(({ entries }) => entries.length > 0).sort((a, b) => compareFirst(a, b, order));
  return stream?.entries.shift();
}

function compareFirst({ entries: [a] }: Stream, { entries: [b] }: Stream, order: Order): number {
  return a === undefined || b === undefined ? 0 : compareEntries(a, b, order);
}
