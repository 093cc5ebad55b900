import { readUsage } from "#shared/records/budget-account.ts";
import { readTreeUsage } from "#shared/records/tree-usage.ts";
import type { FoundRun } from "#shared/runs/read-run.ts";
import { toRunItem, toViewSettings } from "#shared/runs/run-item.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { readSubmittedPrompt } from "#shared/runs/submitted-prompt.ts";
import type { RunItem } from "#shared/wire/run.ts";
import { readPrompt } from "./conversation.ts";

/** Formats a run as the response to a request that names it: with its whole prompt, its artifacts and its usage. */
export async function showRun({ head, body }: FoundRun, ports: RunPorts): Promise<RunItem> {
  const [prompt, artifacts, [used]] = await Promise.all([
    readPrompt(body, ports),
    head.artifacts > 0 ? ports.runs.artifacts(head.run_id) : [],
    readUsage([head], ports.table),
  ]);
  const submitted = await readSubmittedPrompt(head, prompt, ports);
  const view = { ...toViewSettings(ports), used, submitted };
  const item = toRunItem(head, { ...body, prompt }, artifacts, view);
  const tree = await readTreeUsage(head, used, ports);
  return { ...item, request_usage: { ...item.request_usage, tree } };
}
