import { countUnchanged, type RunFacets, type RunHead } from "#shared/records/run-head.ts";
import type { AttributeChange } from "#shared/runs/transition.ts";
import { keys } from "#shared/table/keys.ts";
import type { Key, Update } from "#shared/table/table.ts";

/** Builds the change of a head's facets. No event records it, so that a counter detects concurrent changes. */
export const changeFacets = (head: RunHead, p: RunFacets): Pick<AttributeChange, "set" | "add" | "if"> => ({
  set: { p },
  add: { facet_changes: 1 },
  if: { facet_changes: countUnchanged(head.facet_changes) },
});

/** The writes that copy the facets to the run's other items that are index entries. */
export function copyFacets(runId: string, p: RunFacets): Update[] {
  const update = (key: Key): Update => ({ kind: "update", key, set: { p } });
  return [update(keys.event(runId, 1)), ...(p.schedule === undefined ? [] : [update(keys.scheduleEntry(runId))])];
}
