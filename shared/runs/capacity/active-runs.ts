import { parseRunId } from "#shared/records/run-head.ts";
import type { Owner } from "#shared/table/keys.ts";
import type { Item, Table } from "#shared/table/table.ts";
import { readActiveEntries } from "./active-run-store.ts";

/** A run that has not ended, as its index entry describes it. */
export interface ActiveRun {
  readonly runId: string;
  readonly state: string;
  readonly creator: string;
  readonly executor: string;
  readonly location: string;
}

/** Lists the runs of an owner that have not ended, those that have not changed for longest first. */
export async function activeRuns(owner: Owner, ports: { readonly table: Table }): Promise<ActiveRun[]> {
  return (await readActiveEntries(owner, ports.table)).map(toActiveRun);
}

function toActiveRun(item: Item): ActiveRun {
  const { p } = item;
  const facets = typeof p === "object" && p !== null ? Object.entries(p) : [];
  const facet = (name: string) => String(facets.find(([key]) => key === name)?.[1] ?? "");
  return {
    runId: parseRunId(item),
    state: String(item["state"]),
    creator: facet("creator"),
    executor: facet("executor") || facet("creator"),
    location: facet("location"),
  };
}
