import { loadavg } from "node:os";
import type { Resource } from "./excess.ts";
import type { Outcome } from "./round.ts";

/** What a campaign found. */
export interface Report {
  readonly seed: number;
  readonly commit: string;
  readonly startedAt: number;
  readonly minutes: number;
  /** How many executions there were, by how they were to end. */
  readonly executions: Readonly<Record<string, number>>;
  readonly asRoot: number;
  readonly fromCheckpoints: number;
  readonly checkpoints: number;
  /** How often each trick was tried, as far as its output was stored. */
  readonly tricks: Readonly<Record<string, number>>;
  /** The highest load average of a minute. */
  readonly load: number;
  /** Commands that were ended for a limit. */
  readonly ended: number;
  readonly violations: readonly string[];
  /** For each resource, how many executions reached its limit. */
  readonly limits: Readonly<Partial<Record<Resource, LimitReport>>>;
}

interface LimitReport {
  /** Executions that used as much as the limit, and those that used more than 110 % of it. */
  readonly reached: number;
  readonly above: number;
  /** The largest overshoot, in percent of the limit. */
  readonly overshootPercent: number;
  /** The longest time above 110 %, in seconds, and the longest time between two measurements meanwhile. */
  readonly longestSeconds: number;
  readonly measuredEverySeconds: number;
}

/** An excess of a limit may last this long. */
const MAX_EXCESS_MS = 1_000;

export const createReport = (seed: number, commit: string): Report => ({
  ...{ seed, commit, startedAt: Date.now(), minutes: 0, executions: {}, asRoot: 0, fromCheckpoints: 0 },
  ...{ checkpoints: 0, load: 0, tricks: {}, ended: 0, violations: [], limits: {} },
});

export function addOutcome(report: Report, outcome: Outcome): Report {
  const { number, end, user, summary } = outcome;
  const limits = { ...report.limits };
  const excesses: string[] = [];
  for (const { resource, most, longestMs, slowestMs } of outcome.excess) {
    const before = limits[resource] ?? NEVER;
    limits[resource] = {
      reached: before.reached + (most >= 1 ? 1 : 0),
      above: before.above + (longestMs > 0 ? 1 : 0),
      overshootPercent: Math.max(before.overshootPercent, Math.round((most - 1) * 100), 0),
      longestSeconds: Math.max(before.longestSeconds, toSeconds(longestMs)),
      measuredEverySeconds: Math.max(before.measuredEverySeconds, toSeconds(slowestMs)),
    };
    if (longestMs > MAX_EXCESS_MS)
      excesses.push(
        `${resource} ${most.toFixed(2)} of its limit, above 1.1 for ${Math.round(longestMs)} ms, measured every ${Math.round(slowestMs)} ms at worst; tricks ${[...new Set(outcome.tricks)].join(" ")}; ${summary.slice(0, 120)}`,
      );
  }
  return {
    ...report,
    minutes: Math.round((Date.now() - report.startedAt) / 6_000) / 10,
    executions: count(report.executions, [end]),
    asRoot: report.asRoot + (user === 0 ? 1 : 0),
    fromCheckpoints: report.fromCheckpoints + (outcome.snapshot === undefined ? 0 : 1),
    checkpoints: report.checkpoints + (outcome.checkpoint === undefined ? 0 : 1),
    load: Math.max(report.load, Math.round((loadavg()[0] ?? 0) * 10) / 10),
    tricks: count(report.tricks, outcome.tricks),
    ended: report.ended + (/was ended: /.test(summary) ? 1 : 0),
    violations: [
      ...report.violations,
      ...[...outcome.violations, ...excesses].map((text) => `execution ${number}, user ${user}, ${end}: ${text}`),
    ],
    limits,
  };
}

const NEVER: LimitReport = { reached: 0, above: 0, overshootPercent: 0, longestSeconds: 0, measuredEverySeconds: 0 };
const toSeconds = (ms: number): number => Math.round(ms / 10) / 100;

function count(before: Readonly<Record<string, number>>, words: readonly string[]): Record<string, number> {
  const counts = { ...before };
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}
