import { triggers } from "#infra/triggers.ts";
import { type Pass, reapRuns } from "#shared/executions/reap-runs.ts";
import { withRights } from "./rights.ts";
import type { World } from "./world.ts";

/** One pass of the reaper at the world's time. */
export const reap = (world: World): Promise<Pass> =>
  withRights("reap-runs", triggers.reapRuns.rights, () => reapRuns(world.ports));
