import { bold, green, red, say } from "../../../server/host/terminal.ts";
import type { Budget } from "../budgets.ts";
import type { Latency } from "../latency.ts";
import type { Machine } from "../machine.ts";
import type { Memory } from "../memory.ts";
import type { Comparison } from "../peers/langgraph.ts";
import type { OpenhandsFigures } from "../peers/openhands.ts";
import type { Overload } from "./overload.ts";
import type { Reads } from "./reads.ts";
import type { Throughput } from "./throughput.ts";
import type { Usage } from "./usage.ts";

/** A server to compare with that could not be installed or started here. */
export interface MissingPeer {
  readonly name: string;
  readonly reason: string;
  readonly details: readonly string[];
}

/** The results of one benchmark of the single machine. */
export interface SingleReport {
  readonly machine: Machine;
  readonly missing: readonly MissingPeer[];
  readonly ready: { readonly firstMs: number; readonly laterMs: number };
  readonly single: Latency;
  readonly four: Throughput;
  readonly sixteen: Throughput;
  /** Processor time of each run of `sixteen`. */
  readonly usage: Usage;
  /** Undefined if the host does not report it. */
  readonly memory: { readonly atRest: Memory | undefined; readonly afterBurst: Memory | undefined };
  readonly reads: Readonly<Record<"run" | "runByEight" | "list" | "events", Reads>>;
  readonly openhands?: OpenhandsFigures;
  readonly langgraph?: Comparison;
  readonly overload?: Overload;
}

/** The budgets of a report. Times against peers are ratios of one benchmark, since the machine decides the times. */
export function toBudgets(report: SingleReport): Budget[] {
  const { ready, single, sixteen, usage, memory, reads, openhands } = report;
  const ended = sixteen.succeeded === sixteen.runs ? "" : `, ${sixteen.runs - sixteen.succeeded} did not succeed`;
  return [
    atMost("ready after npm start, first time", ready.firstMs / 1000, 3, "s", 1),
    atMost("ready after npm start, later", ready.laterMs / 1000, 1, "s", 1),
    atMost("memory of all processes at rest (PSS)", memory.atRest?.pssMb, 200, "MB"),
    atMost("memory a minute after the burst (PSS)", memory.afterBurst?.pssMb, 200, "MB"),
    atMost(
      "submit → first command p50, against OpenHands",
      ratio(single.firstCommand.p50, openhands?.firstCommand.p50),
      1,
      "×",
      2,
    ),
    atMost("submit → end p50, against OpenHands", ratio(single.end.p50, openhands?.end.p50), 1, "×", 2),
    atLeast(
      `${sixteen.runs} runs from 16 callers, against OpenHands${ended}`,
      ratio(sixteen.perSecond, openhands?.perSecond[16]),
      1.5,
      "×",
      2,
    ),
    atMost("processor time of a run", usage.serverMs + usage.executionsMs, 150, "ms"),
    atMost("GET a run, p50", reads.run.milliseconds.p50, 4, "ms", 1),
    atLeast("GET a run, eight callers", reads.runByEight.perSecond, 500, "requests/s"),
    atMost(`a page of 20 of ${sixteen.runs} runs, p50`, reads.list.milliseconds.p50, 8, "ms", 1),
  ];
}

/** Prints tables for people. */
export function printReport(report: SingleReport): void {
  const { machine, missing, single, four, sixteen, usage, reads, openhands, langgraph, overload } = report;
  say(`${machine.cores} cores of ${machine.cpu}, ${machine.memoryGb} GB, Node ${machine.node}, ${machine.date}`);
  say(`load average ${machine.load.before} before, ${machine.load.after} after`);
  say();
  for (const { what, budget, measured, met } of toBudgets(report)) {
    const mark = met === undefined ? "" : met ? green("met") : red("not met");
    say(`${what.padEnd(64)} ${budget.padStart(18)} ${measured.padStart(16)} ${mark}`);
  }
  for (const { name, reason } of missing) say(red(`${name} was not measured. ${reason}`));
  say();
  say(bold("milliseconds                    p50      p95      p99"));
  printSpread("submit → first command", single.firstCommand);
  printSpread("submit → end", single.end);
  printSpread("GET a run", reads.run.milliseconds);
  printSpread("GET a run, eight callers", reads.runByEight.milliseconds);
  printSpread("GET a page of 20 runs", reads.list.milliseconds);
  printSpread("GET the events of a run", reads.events.milliseconds);
  if (openhands !== undefined) printSpread("OpenHands, first command", openhands.firstCommand);
  if (openhands !== undefined) printSpread("OpenHands, end", openhands.end);
  if (langgraph !== undefined) printSpread("langgraph, first command", langgraph.firstCommand);
  say(
    `phases: ${Object.entries(single.stages)
      .map(([name, ms]) => `${name} ${Math.round(ms)}`)
      .join(", ")}`,
  );
  for (const { runs, callers, perSecond } of [four, sixteen])
    say(`${runs} runs from ${callers} callers: ${perSecond.toFixed(1)} runs/s`);
  if (openhands !== undefined) say(`OpenHands, conversations/s by callers: ${JSON.stringify(openhands.perSecond)}`);
  say(
    `processor time of a run: server ${Math.round(usage.serverMs)} ms, execution ${Math.round(usage.executionsMs)} ms`,
  );
  if (overload !== undefined) printOverload(overload);
}

function printOverload(overload: Overload): void {
  const { callers, seconds, statuses, milliseconds, accepted, drainSeconds, otherQuietMs, otherLoadedMs } = overload;
  const counts = Object.entries(statuses).map(([status, count]) => `${count} × ${status}`);
  say(`overload, ${callers} callers for ${seconds} s: ${counts.join(", ")}`);
  printSpread("response", milliseconds);
  say(`slowest response ${milliseconds.most.toFixed(0)} ms`);
  say(`${accepted} runs accepted; the last one ended ${drainSeconds.toFixed(0)} s after the callers had stopped`);
  const times = (otherLoadedMs / otherQuietMs).toFixed(2);
  say(`a run of another owner started after ${otherLoadedMs} ms, and ${otherQuietMs} ms without load: ${times} ×`);
}

function printSpread(name: string, { p50, p95, p99 }: { p50: number; p95: number; p99: number }): void {
  say(`${name.padEnd(28)} ${[p50, p95, p99].map((value) => value.toFixed(1).padStart(8)).join(" ")}`);
}

const ratio = (ours: number, other: number | undefined): number | undefined =>
  other === undefined ? undefined : ours / other;

const atMost = (what: string, measured: number | undefined, most: number, unit: string, digits = 0): Budget =>
  toBudget(what, `≤ ${most} ${unit}`, measured, (value) => value <= most, unit, digits);

const atLeast = (what: string, measured: number | undefined, least: number, unit: string, digits = 0): Budget =>
  toBudget(what, `≥ ${least} ${unit}`, measured, (value) => value >= least, unit, digits);

function toBudget(
  what: string,
  budget: string,
  measured: number | undefined,
  isMet: (value: number) => boolean,
  unit: string,
  digits: number,
): Budget {
  if (measured === undefined || Number.isNaN(measured)) return { what, budget, measured: "not measured" };
  return { what, budget, measured: `${measured.toFixed(digits)} ${unit}`, met: isMet(measured) };
}
