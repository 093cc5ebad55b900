import { invalid, RunyardError } from "#shared/errors.ts";
import { getThirdParty } from "#shared/runs/harness-model.ts";
import { type ApprovalRule, MAX_APPROVALS } from "#shared/wire/executions/approval.ts";
import type { RunAgentRequest } from "#shared/wire/runs/new-run.ts";

/** Refuses rules for a run whose program does not ask before it calls a tool. */
export function checkApprovals({
  config = {},
  execution_location,
}: Pick<RunAgentRequest, "config" | "execution_location">): void {
  if ((config.approvals ?? []).length === 0) return;
  const program = execution_location === "LOCAL" ? "a run that its caller executes" : getThirdParty(config);
  if (program === undefined) return;
  throw new RunyardError("operation_not_supported", {
    detail: `config.approvals: ${program} does not wait for approvals; use the built-in agent, or leave them out and have none as a default of the identity and the environment`,
  });
}

/** The rules of a child: those of its parent hold for it too. */
export function joinApprovals(ofParent: readonly ApprovalRule[], own: readonly ApprovalRule[] = []): ApprovalRule[] {
  const added = own.filter(({ tool, match }) => !ofParent.some((rule) => rule.tool === tool && rule.match === match));
  if (ofParent.length + added.length > MAX_APPROVALS) {
    throw invalid(
      "config.approvals",
      `must have at most ${MAX_APPROVALS} rules together with those of the parent, which has ${ofParent.length}`,
    );
  }
  return [...ofParent, ...added];
}
