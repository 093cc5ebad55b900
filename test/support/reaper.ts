import { eventSources } from "#infra/event-sources.ts";
import { type Pass, reapRuns } from "#shared/executions/reap-runs.ts";
import type { TestControlPlane } from "./control-plane.ts";
import { withRights } from "./rights.ts";

/** One pass of the reaper at the control plane's time. */
export const reap = (plane: TestControlPlane): Promise<Pass> =>
  withRights("reap-runs", eventSources.reapRuns.rights, () => reapRuns(plane.ports));
