import { authorizeExecution } from "#shared/executions/execution-access.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import type { AccessPorts } from "#shared/triggers/access.ts";
import { pushRunBranch } from "#shared/triggers/pushes/push-run-branch.ts";
import { PushBranchRequest, PushBranchResponse } from "#shared/wire/executions/push-branch.ts";

/**
 * POST /harness-support/push-branch: pushes commits to the head branch of the run's pull request. The first call returns
 * an upload target for their objects; after the upload, repeat the call to push them. The push goes to that branch only
 * and is never forced: the response is 409 if the commits do not continue the branch.
 */
export const pushBranch = endpoint({
  request: { body: PushBranchRequest },
  reply: { 200: PushBranchResponse },
  async run({ body, principal, header }, ports: RunPorts & AccessPorts) {
    return { status: 200, body: await pushRunBranch(await authorizeExecution(principal, header, ports), body, ports) };
  },
});
