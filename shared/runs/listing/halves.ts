import type { Item } from "#shared/table/table.ts";
import { rangeAfter, type Source } from "./order.ts";

/** Reads the halves of the agent order one after the other in both directions: runs without a skill last. */
export function readInHalves(source: Source): Source {
  const halves = [
    { from: "0#", before: "1#" },
    { from: "1#", before: "2#" },
  ];
  return async ({ after, before }, limit, descending) => {
    const start = descending ? before : after;
    const items: Item[] = [];
    for (const half of halves) {
      if (start !== undefined && start >= half.before) continue;
      if (items.length === limit) return { items, more: true };
      const isInside = start !== undefined && start >= half.from;
      const page = await source(
        rangeAfter(half, isInside ? start : undefined, descending),
        limit - items.length,
        descending,
      );
      items.push(...page.items);
      if (page.more) return { items, more: true };
    }
    return { items, more: false };
  };
}
