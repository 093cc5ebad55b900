import { expireAtRestart, recordShutdown } from "#shared/executions/expired-execution.ts";
import { logLine } from "#shared/log/log.ts";
import { isTerminal } from "#shared/records/run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { killMarked } from "#shared/sandbox/processes.ts";
import { removeAbandoned } from "#shared/sandbox/scratch.ts";
import type { ExecutionLog } from "./execution-log.ts";

/**
 * Expires the executions that a stop of the service is about to end. Each counts as a restart: without this, the last report of its harness
 * would count as a loss of its run.
 */
export async function expireExecutions(log: Pick<ExecutionLog, "all">, ports: RunPorts): Promise<void> {
  await Promise.all(log.all().map(({ id, run_id }) => expire(id, run_id, ports)));
}

async function expire(executionId: string, runId: string, ports: RunPorts): Promise<void> {
  try {
    const head = await ports.runs.head(runId);
    if (head !== undefined) await expireAtRestart(head, executionId, ports);
  } catch (error) {
    logLine("warn", "an execution was not expired before the service stopped", {
      run_id: runId,
      execution_id: executionId,
      error,
    });
  }
}

/**
 * Ends what a killed process left running, so that its runs continue at once instead of when their leases expire.
 * @param scratchParent where the temporary directories of executions are. @default the temporary directory, that of earlier releases
 */
export async function recoverExecutions(log: ExecutionLog, ports: RunPorts, scratchParent?: string): Promise<number> {
  const executions = log.all();
  // Before anything is killed: a harness can outlive the service for a moment, and would report its command as killed.
  for (const { id, run_id } of executions) await recover(id, run_id, ports);
  if (executions.length > 0) await killMarked(...executions.map(({ id }) => id));
  for (const { id } of executions) log.remove(id);
  await removeAbandoned();
  if (scratchParent !== undefined) await removeAbandoned(scratchParent);
  return executions.length;
}

async function recover(executionId: string, runId: string, ports: RunPorts): Promise<void> {
  try {
    const head = await ports.runs.head(runId);
    if (head !== undefined && "execution_id" in head && head.execution_id === executionId) {
      if (isTerminal(head.state)) await recordShutdown(head, executionId, {}, ports);
      else await expireAtRestart(head, executionId, ports);
    }
  } catch (error) {
    // Another execution has taken over, or the lease of this one runs out.
    logLine("info", "an execution was not recovered", { run_id: runId, execution_id: executionId, error });
  }
}
