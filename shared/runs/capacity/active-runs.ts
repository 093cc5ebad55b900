import { activePart, type Owner, SCOPE_SHARDS, scopeKey } from "#shared/table/keys.ts";
import type { Item, Table } from "#shared/table/table.ts";

/** A run that has not ended, as an index tells it. */
export interface ActiveRun {
  readonly runId: string;
  readonly state: string;
  readonly creator: string;
  readonly executor: string;
  readonly location: string;
}

/** The runs of an owner that have not ended, the one first that has not moved for longest; of each shard at most `limit`. */
export async function activeRuns(owner: Owner, ports: { readonly table: Table }, limit?: number): Promise<ActiveRun[]> {
  const shards = Array.from({ length: SCOPE_SHARDS }, (_, shard) => activePart(scopeKey(owner, shard)));
  const pages = await Promise.all(
    shards.map((pk) => ports.table.query({ index: "gsi1", pk, ...(limit === undefined ? {} : { limit }) })),
  );
  return pages.flatMap(({ items }) => items.map(toActive));
}

function toActive(item: Item): ActiveRun {
  const { p } = item;
  const facets = typeof p === "object" && p !== null ? Object.entries(p) : [];
  const facet = (name: string) => String(facets.find(([key]) => key === name)?.[1] ?? "");
  return {
    runId: item.pk.slice("RUN#".length),
    state: String(item["state"]),
    creator: facet("creator"),
    executor: facet("executor") || facet("creator"),
    location: facet("location"),
  };
}
