import { invalid, notFound, RunyardError } from "#shared/errors.ts";
import { isUuid } from "#shared/ids.ts";
import type { Principal } from "#shared/principals/principal.ts";
import type { RunBody } from "#shared/records/run-body.ts";
import type { RunHead } from "#shared/records/run-head.ts";
import type { RunPorts } from "./ports.ts";
import { sees } from "./run-tree.ts";

interface FoundRun {
  readonly head: RunHead;
  readonly body: RunBody;
}

/** The run, if the principal may see it; else one answer, whether it exists or not. `what` is its name in that answer. */
export async function visibleRun(
  runId: string,
  principal: Principal,
  ports: Pick<RunPorts, "runs">,
  what = "run",
): Promise<FoundRun> {
  const found = await ports.runs.headAndBody(runId);
  if (found === undefined || !sees(principal, found.head, found.body)) throw notVisibleError(principal, what);
  return found;
}

/** As `visibleRun`, for who wants to steer it: a run's key steers its descendants, but not the run that it works for. */
export async function steerableRun(
  runId: string,
  principal: Principal,
  ports: Pick<RunPorts, "runs">,
): Promise<FoundRun> {
  if (principal.kind === "run" && principal.head.run_id === runId) {
    throw new RunyardError("not_authorized", { detail: "a run's key cannot steer its own run" });
  }
  return visibleRun(runId, principal, ports);
}

/** Missing, or not the principal's to see: 404. A run's key is told 403 of everything beyond its own family. */
export function notVisibleError(principal: Principal, what: string): RunyardError {
  return principal.kind === "run"
    ? new RunyardError("not_authorized", { detail: "a run's key reaches its own run and its descendants alone" })
    : notFound(what);
}

/** Refuses an ancestor that is not there or not the principal's to see; `field` is its name in the request. */
export async function refuseUnknownAncestor(
  runId: string | undefined,
  principal: Principal,
  ports: Pick<RunPorts, "runs">,
  field = "ancestor_run_id",
): Promise<void> {
  if (runId === undefined) return;
  const found = isUuid(runId) ? await ports.runs.headAndBody(runId) : undefined;
  if (found === undefined || !sees(principal, found.head, found.body)) {
    throw invalid(field, "there is no such run");
  }
}
