import { bold, green, red, say, seconds } from "../../server/host/terminal.ts";
import type { Machine } from "../bench/machine.ts";
import type { Findings } from "./checker.ts";
import { KINDS } from "./plan.ts";
import { RULES } from "./run-checks.ts";
import type { Hit } from "./targets.ts";

export interface Report {
  readonly seed: number;
  /** Runs that were accepted, children included. */
  readonly runs: number;
  readonly callers: number;
  readonly machine: Machine;
  /** Requests that callers retried. */
  readonly retries: number;
  readonly hits: readonly Hit[];
  /** How often each fault was injected into the calls of AWS; absent without --faults. */
  readonly faults?: Readonly<Record<string, number>>;
  /** Milliseconds from the first request to the last kill. */
  readonly loadMs: number;
  /** Milliseconds from the last kill until each caller had seen its runs end. */
  readonly endedMs: number;
  /** Milliseconds from the last kill until no run was due for the reaper; absent if that never happened. */
  readonly restMs?: number;
  readonly findings: Findings;
}

/** Maximum number of violations to print for each rule. */
const SHOWN = 10;

export function print({
  seed,
  runs,
  callers,
  machine,
  retries,
  hits,
  faults,
  loadMs,
  endedMs,
  restMs,
  findings,
}: Report): void {
  const { states, executions, lost, longestDetectionMs, violations } = findings;
  say();
  say(
    `${bold("chaos")}  seed ${seed}, ${runs} runs by ${callers} concurrent callers, ${hits.length} kills in ${seconds(loadMs)}`,
  );
  say(`       ${machine.cores} × ${machine.cpu}, load ${machine.load.before} before, ${machine.load.after} after`);
  say();
  // Without kills there is no line for each kind, and times count from the last request.
  const last = hits.length > 0 ? "kill" : "request";
  for (const kind of hits.length > 0 ? KINDS : []) {
    const own = hits.filter((hit) => hit.kind === kind);
    if (own.length === 0) continue;
    const busy = own.filter((hit) => hit.busy).length;
    say(`  ${kind.padEnd(12)} ${String(own.length).padStart(5)} kills, ${busy} of busy processes`);
  }
  if (faults !== undefined) {
    const injected = Object.entries(faults).map(([fault, count]) => `${count} ${fault}`);
    say(`  faults       ${injected.length === 0 ? red("none") : injected.sort().join(", ")}`);
  }
  say();
  say(
    `  runs         ${Object.entries(states)
      .map(([state, count]) => `${count} ${state}`)
      .join(", ")}`,
  );
  say(`  executions   ${executions}, ${lost} of which lost their harness or sandbox`);
  say(`  detected     all within ${seconds(longestDetectionMs)}`);
  say(`  callers      retried ${retries} requests; saw their runs end ${seconds(endedMs)} after the last ${last}`);
  say(`  at rest      ${restMs === undefined ? red("never") : `${seconds(restMs)} after the last ${last}`}`);
  say();
  for (const [rule, promise] of Object.entries(RULES)) {
    const broken = violations.filter((violation) => violation.rule === rule);
    say(broken.length === 0 ? `${green("✓")} ${promise}` : `${red("✗")} ${promise}: ${broken.length} violations`);
    for (const { about, detail } of broken.slice(0, SHOWN)) say(`    ${about}  ${detail}`);
  }
}
