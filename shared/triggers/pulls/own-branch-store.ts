import type { OwnBranch } from "#shared/records/run-body.ts";
import { keys } from "#shared/table/keys.ts";
import type { Update } from "#shared/table/table.ts";

/** The write by which a run works on the branch of the pull request that it has opened. */
export const putOwnBranch = (runId: string, own_branch: OwnBranch): Update => ({
  kind: "update",
  key: keys.body(runId),
  set: { own_branch: { ...own_branch } },
  if: { pk: { exists: true } },
});
