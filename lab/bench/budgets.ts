import { heartbeatSeconds } from "../../shared/records/run.ts";
import type { Bundles } from "./bundles.ts";
import type { Costs } from "./costs.ts";
import type { Latency } from "./latency.ts";
import type { PageCost } from "./pages.ts";
import type { Comparison } from "./peers/langgraph.ts";
import { type Bill, calculateBill, dollars } from "./prices.ts";

/** A budget of the design, and what was measured. */
export interface Budget {
  readonly what: string;
  readonly budget: string;
  readonly measured: string;
  /** Absent where it was not measured. */
  readonly met?: boolean;
}

/** What a run's minute adds: its heartbeats, which are written and not logged, and two looks of the reaper. */
const HEARTBEATS_A_MINUTE = 60 / heartbeatSeconds(false);
const REAPER_LOOKS = { reads: 2, writes: 6 };

/** The bill of a minute of running, for the units of one heartbeat. */
export function billOfMinute(heartbeat: { readonly reads: number; readonly writes: number }): Bill {
  const reads = HEARTBEATS_A_MINUTE * heartbeat.reads + REAPER_LOOKS.reads;
  const writes = HEARTBEATS_A_MINUTE * heartbeat.writes + REAPER_LOOKS.writes;
  return { ...calculateBill({ reads, writes }, HEARTBEATS_A_MINUTE, 0), quietInvocations: HEARTBEATS_A_MINUTE };
}

export function bundleBudgets({ routes, imports }: Bundles): Budget[] {
  const most = Math.max(...routes.map(({ bytes }) => bytes));
  const ratio = Math.max(...imports.map((entry) => entry.ratio));
  return [
    budget("a route's bundle, SDK included", most / 1000, 600, "kB"),
    budget("import against an empty handler with the SDK's DynamoDB client", ratio, 1.25, "times", 2),
  ];
}

export function countedBudgets({ steps, bareRun, headBytes }: Costs): Budget[] {
  const countCalls = (name: string) => steps.find((step) => step.name === name)?.calls ?? Number.NaN;
  return [
    budget("AWS calls of POST /agent/runs, plain", countCalls("POST /agent/runs"), 4, "calls"),
    budget("AWS calls of POST /agent/runs with a parent", countCalls("POST /agent/runs (child)"), 5, "calls"),
    budget("write units of a run without messages", bareRun.writes, 45, "units"),
    budget("a run's head, with messages, a file and a follow-up", headBytes.rich, 1024, "bytes"),
  ];
}

export function pageBudgets(pages: readonly PageCost[]): Budget[] {
  return pages.map(({ runs, pageSize, items }) =>
    budget(`a page of ${pageSize} at ${runs} runs, index entries and gets`, items, 4 * pageSize, "items"),
  );
}

export function priceBudgets({ steps, bareRun }: Costs): Budget[] {
  const findStep = (name: string) =>
    steps.find((step) => step.name === name) ?? { reads: Number.NaN, writes: Number.NaN };
  const heartbeat = findStep("POST /harness-support/heartbeat");
  return [
    budget("control plane, a million runs without messages", dollars(calculateBill(bareRun, 3, 2)), 50, "$", 1),
    budget(
      "… and for each batch of messages",
      dollars(calculateBill(findStep("POST /harness-support/messages"), 1, 0)),
      6,
      "$",
      1,
    ),
    budget(
      "… and for each minute of running",
      dollars(billOfMinute({ reads: heartbeat.reads, writes: 1 })),
      20,
      "$",
      1,
    ),
  ];
}

export const webBudget = (bytes: number): Budget =>
  budget("web page, first load, script gzipped", bytes / 1000, 150, "kB", 1);

/** In one benchmark, since it is the ratio that a machine does not decide. */
export function latencyBudget(ours: Latency, other: Comparison | undefined): Budget {
  const ratio = other === undefined ? Number.NaN : ours.firstCommand.p50 / other.firstCommand.p50;
  return budget("submit → first command, against langgraph dev", ratio, 0.5, "times", 2);
}

/** What this program does not measure. */
export const unmeasured: readonly Budget[] = [
  { what: "1,000 runs at once, one team", budget: "none lost, none twice", measured: "not measured" },
];

function budget(what: string, measured: number, most: number, unit: string, digits = 0): Budget {
  return {
    what,
    budget: `≤ ${most} ${unit}`,
    measured: Number.isNaN(measured) ? "not measured" : `${measured.toFixed(digits)} ${unit}`,
    ...(Number.isNaN(measured) ? {} : { met: measured <= most }),
  };
}
