import { isExecuting } from "#shared/records/run.ts";
import { isOnOwnSandbox, parseOwner, type RunHead } from "#shared/records/run-head.ts";
import { keys, type Owner } from "#shared/table/keys.ts";
import type { Conditions, Update, Value } from "#shared/table/table.ts";
import type { NamedWrites } from "#shared/table/transact.ts";
import type { SlotTransition } from "./slots.ts";

/** The deployment has as many executions as it may have. */
export const isDeploymentFull = (maxExecutions: number): Conditions => ({ running: { atLeast: maxExecutions } });
/** Other runs wait for an execution already. */
export const othersWait: Conditions = { waiting: { atLeast: 1 } };
/** The deployment may have another execution, and no run waits for it. */
const hasRoom = (maxExecutions: number): Conditions => ({
  running: { absentOr: { below: maxExecutions } },
  waiting: { absentOr: { below: 1 } },
});

interface ExecutionCount {
  readonly set: Readonly<Record<string, Value>>;
  readonly remove: readonly string[];
  readonly if: Conditions;
  readonly writes: NamedWrites;
}

const NO_CHANGE: ExecutionCount = { set: {}, remove: [], if: {}, writes: {} };

/**
 * Builds what a state transition changes of the number of executions in the deployment, which only a deployment with a limit counts. The
 * head says whether its run is counted or waits, so that the limit can be introduced and removed while runs execute. A run that
 * continues immediately in a new execution stays counted.
 */
export function toExecutionCount(head: RunHead, { to, keepsSlot, maxExecutions }: SlotTransition): ExecutionCount {
  if (to === undefined) return NO_CHANGE;
  if (head.deployment_entry !== undefined) return leaveDeploymentQueue(head, head.deployment_entry);
  const isOutside: Conditions = head.state === "QUEUED" ? { deployment_entry: { exists: false } } : {};
  const unchanged = { ...NO_CHANGE, if: isOutside };
  if (head.counted === true) {
    if (isExecuting(to) || keepsSlot === true) return unchanged;
    return { set: {}, remove: ["counted"], if: isOutside, writes: { executions: countExecutions({ running: -1 }) } };
  }
  if (!isExecuting(to) || !isOnOwnSandbox(head) || maxExecutions === undefined) return unchanged;
  const executions = { ...countExecutions({ running: 1 }), if: hasRoom(maxExecutions) };
  return { set: { counted: true }, remove: [], if: isOutside, writes: { executions } };
}

const leaveDeploymentQueue = (head: RunHead, entry: string): ExecutionCount => ({
  set: {},
  remove: ["deployment_entry"],
  if: { deployment_entry: { eq: entry } },
  writes: {
    executions: countExecutions({ waiting: -1 }),
    deploymentEntry: { kind: "delete", key: keys.deploymentEntry(entry) },
    ownerTurn: countOwner(parseOwner(head), -1),
  },
});

export const countExecutions = (add: Readonly<Record<string, number>>): Update => ({
  kind: "update",
  key: keys.executions(),
  add,
});

/** Changes the number of an owner's runs that wait for an execution. */
export const countOwner = (owner: Owner, waiting: number): Update => ({
  kind: "update",
  key: keys.deploymentTurn(owner),
  add: { waiting },
});
