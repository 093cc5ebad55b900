import {
  type Budget,
  bundleBudgets,
  countedBudgets,
  latencyBudget,
  pageBudgets,
  priceBudgets,
  unmeasured,
  webBudget,
} from "./budgets.ts";
import type { Bundles } from "./bundles.ts";
import type { Costs } from "./costs.ts";
import type { Latency } from "./latency.ts";
import type { Machine } from "./machine.ts";
import type { Memory } from "./memory.ts";
import type { PageCost } from "./pages.ts";
import type { Comparison } from "./peers/langgraph.ts";

/** The results of one benchmark. */
export interface Report {
  readonly machine: Machine;
  readonly latency: {
    readonly oneAtATime: Latency;
    /** The first of many at once finds few processes started; the second finds those of the first. */
    readonly firstBurst: Latency;
    readonly secondBurst: Latency;
  };
  /** Another agent server on the same machine, if it was requested. */
  readonly other?: Comparison;
  /** Undefined if the host does not report it. */
  readonly memory: { readonly atRest?: Memory; readonly underLoad?: Memory; readonly runsUnderLoad: number };
  /** What counted the capacity units. */
  readonly countedBy: string;
  readonly costs: Costs;
  readonly pages: readonly PageCost[];
  readonly bundles: Bundles;
  readonly webScriptBytes: number;
}

export function listBudgets(report: Report): readonly Budget[] {
  return [
    ...bundleBudgets(report.bundles),
    ...countedBudgets(report.costs),
    ...priceBudgets(report.costs),
    ...pageBudgets(report.pages),
    webBudget(report.webScriptBytes),
    latencyBudget(report.latency.oneAtATime, report.other),
    ...unmeasured,
  ];
}

export function print(report: Report): void {
  const { machine, latency, memory, costs, bundles } = report;
  const { cpu, cores, memoryGb, node, date, load } = machine;
  console.log(`\n${date}  ${cpu}, ${cores} cores, ${memoryGb} GB, Node ${node}, load ${load.before} → ${load.after}\n`);
  heading("Latency on the local cloud, milliseconds from the submission");
  table([
    ["", "runs", "first command p50", "p95", "end p50", "p95"],
    ...Object.entries({
      "one at a time": latency.oneAtATime,
      "at once, first burst": latency.firstBurst,
      "at once, second burst": latency.secondBurst,
    }).map(([name, { runs, firstCommand, end }]) => [name, runs, firstCommand.p50, firstCommand.p95, end.p50, end.p95]),
  ]);
  console.log(`  on the way, one at a time: ${Object.entries(latency.oneAtATime.stages).map(stage).join(", ")}\n`);
  if (report.other !== undefined) console.log(`  ${compared(report.other)}\n`);
  heading("Memory of the local cloud");
  const sized = (name: string, found: Memory | undefined) =>
    found === undefined ? [name, "?", "?", "?"] : [name, found.processes, found.rssMb, found.pssMb];
  table([
    ["", "processes", "RSS MB", "PSS MB"],
    sized("at rest", memory.atRest),
    sized(`under ${memory.runsUnderLoad} runs`, memory.underLoad),
  ]);
  heading(`AWS calls and capacity units, counted by ${report.countedBy}`);
  table([
    ["", "calls", "read units", "write units", "bytes", "commands"],
    ...[...costs.steps, costs.bareRun, costs.shortRun].map((cost) => [
      cost.name,
      cost.calls,
      cost.reads,
      cost.writes,
      cost.bytes,
      cost.commands,
    ]),
  ]);
  if (costs.unmeasured.length > 0) console.log(`  not called: ${costs.unmeasured.join(", ")}\n`);
  heading("Bundles, bytes");
  table([
    ["", "with SDK", "without"],
    ...bundles.sizes.map(({ output, bytes, ownBytes }) => [output, bytes, ownBytes]),
  ]);
  for (const { output, cpuMs, ratio } of bundles.imports) {
    const against = `${bundles.emptyCpuMs.toFixed(0)} ms of an empty handler: ${ratio.toFixed(2)} times`;
    console.log(`  importing ${output} takes ${cpuMs.toFixed(0)} ms of processor time, against ${against}`);
  }
  console.log();
  heading("Budgets");
  table([
    ["", "budget", "measured", ""],
    ...listBudgets(report).map(({ what, budget, measured, met }) => [what, budget, measured, verdict(met)]),
  ]);
}

const compared = ({ name, runs, firstCommand, runsAtOnce, firstCommandAtOnce }: Comparison): string =>
  `${name} to the first command: ${firstCommand.p50} p50, ${firstCommand.p95} p95 of ${runs}; ` +
  `${firstCommandAtOnce.p50} p50, ${firstCommandAtOnce.p95} p95 of ${runsAtOnce} at once`;

const verdict = (met: boolean | undefined): string => (met === undefined ? "–" : met ? "met" : "NOT MET");
const stage = ([name, at]: [string, number]): string => `${name.replaceAll("_", " ")} ${at}`;
const heading = (text: string): void => console.log(`${text}\n`);

/** Columns of text, numbers to the right; the last column is as long as it likes. */
function table(rows: readonly (readonly (string | number)[])[]): void {
  const columns = Math.max(...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => String(row[column] ?? "").length)),
  );
  for (const row of rows) {
    const cells = row.map((cell, column) => {
      const width = column === columns - 1 ? 0 : (widths[column] ?? 0);
      return typeof cell === "number" ? String(cell).padStart(width) : cell.padEnd(width);
    });
    console.log(`  ${cells.join("  ")}`.trimEnd());
  }
  console.log();
}
