import { toUsd } from "#shared/records/money.ts";
import { collectRefusals } from "#shared/refusals.ts";
import type { PlanCall } from "#shared/runs/plan-run.ts";
import { shownConfig } from "#shared/runs/run-item.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { runStore } from "#shared/runs/run-store.ts";
import { createRun, readFiles } from "#shared/runs/submit-run.ts";
import { readOnlyTable } from "#shared/table/read-only-table.ts";
import type { DryRunResponse } from "#shared/wire/runs/new-run.ts";
import { findRemarks, toErrorFinding } from "./findings.ts";

/**
 * Reports what the creation of a run would result in. The request takes the same path as one that creates a run, with ports
 * that change nothing. It has no record of the request and takes no rate-limit token.
 */
export async function dryRun(call: PlanCall, ports: RunPorts): Promise<DryRunResponse> {
  const { refusals, add, check } = collectRefusals();
  const created = await createNothing({ ...call, check }, toReadOnly(ports)).catch(add);
  const errors = refusals.map(toErrorFinding);
  // A request with errors has no run that more could be said about.
  const run = errors.length === 0 ? created : undefined;
  const remarks = await findRemarks(call, run, ports);
  const { config } = run?.body ?? {};
  const limit = run?.allowance?.limit;
  return {
    would_start: errors.length === 0,
    findings: [...errors, ...remarks],
    ...(config === undefined ? {} : { resolved_config: shownConfig(config) }),
    ...(limit === undefined ? {} : { estimated_cost_usd: toUsd(limit) }),
  };
}

async function createNothing(call: PlanCall, ports: RunPorts) {
  const files = readFiles(call.body, call.check);
  return createRun(call, { files, name: "dry-run", count: () => ({}) }, ports);
}

/** The ports of an attempt that reads what it needs, stores nothing and sends nothing. */
function toReadOnly(ports: RunPorts): RunPorts {
  const table = readOnlyTable(ports.table);
  const doNothing = async () => {};
  return {
    ...ports,
    table,
    runs: runStore(table),
    files: { ...ports.files, put: doNothing, copy: doNothing },
    queue: { sendRun: doNothing, sendEnd: doNothing },
  };
}
