import { appendFile } from "node:fs/promises";
import path from "node:path";
import { projectRoot } from "../../../server/host/paths.ts";
import type { SingleReport } from "./report.ts";

/** One line for each benchmark that was recorded, oldest first. */
const HISTORY = path.join(projectRoot, "lab/bench/history.jsonl");

/** Appends the figures of a report to the history, under the name of what was measured. */
export async function recordHistory(name: string, report: SingleReport): Promise<void> {
  await appendFile(HISTORY, `${JSON.stringify(toHistoryLine(name, report))}\n`);
}

function toHistoryLine(name: string, { machine, single, four, sixteen, usage, memory, reads, ready }: SingleReport) {
  const round = (value: number) => Math.round(value * 10) / 10;
  return {
    ...{ name, date: machine.date, cpu: machine.cpu, cores: machine.cores, node: machine.node, load: machine.load },
    ready_ms: [Math.round(ready.firstMs), Math.round(ready.laterMs)],
    first_command_ms: [single.firstCommand.p50, single.firstCommand.p95].map(round),
    end_ms: [single.end.p50, single.end.p95].map(round),
    runs_per_second: [four.perSecond, sixteen.perSecond].map(round),
    processor_ms: { server: round(usage.serverMs), execution: round(usage.executionsMs) },
    pss_mb: [memory.atRest?.pssMb, memory.afterBurst?.pssMb],
    get_ms: round(reads.run.milliseconds.p50),
    list_ms: round(reads.list.milliseconds.p50),
  };
}
