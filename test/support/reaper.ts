import { type Pass, reapRuns } from "#shared/runs/reap.ts";
import type { World } from "./world.ts";

/** One pass of the reaper at the world's time. */
export const reap = (world: World): Promise<Pass> => reapRuns(world.ports);
