import { isExecuting } from "#shared/records/run.ts";
import { isOnOwnSandbox, type RunHead } from "#shared/records/run-head.ts";
import { keys } from "#shared/table/keys.ts";
import type { Update, Value } from "#shared/table/table.ts";
import type { SlotTransition } from "./slots.ts";

interface ExecutionCount {
  readonly set: Readonly<Record<string, Value>>;
  readonly remove: readonly string[];
  readonly write: Update | undefined;
}

/**
 * Builds what a state transition changes of the number of executions in the deployment, which only a deployment with a limit counts. The
 * head says whether its run is counted, so that the limit can be introduced and removed while runs execute. A run that continues
 * immediately in a new execution stays counted.
 */
export function toExecutionCount(head: RunHead, { to, keepsSlot, maxExecutions }: SlotTransition): ExecutionCount {
  const unchanged = { set: {}, remove: [], write: undefined };
  if (to === undefined) return unchanged;
  if (head.counted === true) {
    if (isExecuting(to) || keepsSlot === true) return unchanged;
    return { set: {}, remove: ["counted"], write: countExecutions(-1) };
  }
  if (!isExecuting(to) || !isOnOwnSandbox(head) || maxExecutions === undefined) return unchanged;
  const write = { ...countExecutions(1), if: { running: { absentOr: { below: maxExecutions } } } } as const;
  return { set: { counted: true }, remove: [], write };
}

const countExecutions = (running: number): Update => ({ kind: "update", key: keys.executions(), add: { running } });
