import type { LoadedSkill } from "#shared/records/run-body.ts";
import { keys } from "#shared/table/keys.ts";
import type { Update } from "#shared/table/table.ts";

/** The write that notes in the run's body which skill its execution has loaded. */
export const noteLoadedSkill = (runId: string, loaded: LoadedSkill): Update => ({
  kind: "update",
  key: keys.body(runId),
  set: { agent_skill: { ...loaded } },
});
