import type { LoadedSkill } from "#shared/records/run-body.ts";
import type { ExecutingHead } from "#shared/records/run-head.ts";
import { keys } from "#shared/table/keys.ts";
import type { Key, Update, Value } from "#shared/table/table.ts";

/** The writes that copy the facets `p` with the loaded skill to the run's other items, each of which is an index entry. */
export function copyFacets({ run_id }: ExecutingHead, p: ExecutingHead["p"], loaded: LoadedSkill): Update[] {
  const update = (key: Key, set: Record<string, Value>): Update => ({ kind: "update", key, set });
  return [
    update(keys.body(run_id), { agent_skill: { ...loaded } }),
    update(keys.event(run_id, 1), { p }),
    ...(p.schedule === undefined ? [] : [update(keys.scheduleEntry(run_id), { p })]),
  ];
}
