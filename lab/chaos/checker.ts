import { formatTitle } from "./clients.ts";
import type { Evidence, StoredItem } from "./evidence.ts";
import {
  checkOutcome,
  checkResponses,
  type Execution,
  type StoredRun,
  storedRuns,
  type Violation,
  walk,
} from "./run-checks.ts";

/** Maximum time in which a lost execution is detected, in milliseconds after the kill. */
export const DETECTION_MS = 120_000;

export interface Findings {
  readonly violations: readonly Violation[];
  /** Number of runs by final state. */
  readonly states: Readonly<Record<string, number>>;
  /** Executions of these runs, and how many of them were lost to a kill of their harness or sandbox. */
  readonly executions: number;
  readonly lost: number;
  /** The longest time from such a kill to the event that records the loss, in milliseconds; 0 if none was lost. */
  readonly longestDetectionMs: number;
}

/** Checks the evidence of a chaos test. It is a pure function: the same evidence gives the same findings. */
export function check(evidence: Evidence, seed: number): Findings {
  const { items, accepted, before, responses, hits } = evidence;
  const runs = storedRuns(items).filter(({ runId }) => !before.has(runId));
  const byId = new Map(runs.map((run) => [run.runId, run]));
  const violations: Violation[] = [...checkRequests(runs, evidence, seed)];
  const executions: Execution[] = [];
  const killedCommands = new Set(
    hits.flatMap(({ kind, executionId }) => (kind === "command" && executionId !== undefined ? [executionId] : [])),
  );
  for (const run of runs) {
    const walked = walk(run);
    violations.push(...walked.violations);
    executions.push(...walked.executions);
    const one = accepted.find(({ runId }) => runId === run.runId);
    if (one === undefined) continue;
    violations.push(...checkOutcome(run, one, walked.executions, killedCommands));
    violations.push(...checkResponses(run, one, responses.get(run.runId)));
  }
  const detection = detected(executions, evidence);
  violations.push(...detection.violations, ...checkCounters(items), ...checkObjects(evidence, byId));
  violations.push(
    ...evidence.processes.map((about) => ({ rule: "process" as const, about, detail: "the process still exists" })),
  );
  const states: Record<string, number> = {};
  for (const { head } of runs) states[head.state] = (states[head.state] ?? 0) + 1;
  return {
    violations,
    states,
    executions: executions.length,
    lost: detection.lost,
    longestDetectionMs: detection.longestMs,
  };
}

/** Checks that each accepted request has its run, and each run its request. */
function checkRequests(runs: readonly StoredRun[], { accepted }: Evidence, seed: number): Violation[] {
  const found: Violation[] = [];
  const byTitle = Map.groupBy(runs, ({ title }) => title);
  for (const { name, runId } of accepted) {
    const created = byTitle.get(formatTitle(seed, name)) ?? [];
    if (!created.some((run) => run.runId === runId)) {
      found.push({ rule: "lost", about: runId, detail: `request ${name} was accepted, and there is no such run` });
    }
    const others = created.filter((run) => run.runId !== runId);
    found.push(
      ...others.map((run) => ({
        rule: "twice" as const,
        about: run.runId,
        detail: `request ${name} made ${runId} as well`,
      })),
    );
  }
  const known = new Set(accepted.map(({ name }) => formatTitle(seed, name)));
  const strays = runs.filter(({ title }) => !known.has(title));
  found.push(
    ...strays.map(({ runId, title }) => ({
      rule: "twice" as const,
      about: runId,
      detail: `no response contained the run "${title}"`,
    })),
  );
  return found;
}

/** Executions that a kill took the harness or the sandbox from, and when the service detected it. */
function detected(executions: readonly Execution[], { hits, lastKillAt }: Evidence) {
  const byId = new Map(executions.map((execution) => [execution.id, execution]));
  const violations: Violation[] = [];
  let lost = 0;
  let longestMs = 0;
  for (const { number, kind, executionId, at } of hits) {
    if ((kind !== "harness" && kind !== "sandbox") || executionId === undefined) continue;
    const execution = byId.get(executionId);
    // A harness that waited for a run had no execution.
    if (kind === "harness" && execution === undefined) continue;
    const fencedAt = execution?.fencedAt;
    const about = execution?.runId ?? executionId;
    if (fencedAt === undefined) {
      violations.push({
        rule: "detection",
        about,
        detail: `kill ${number} of ${executionId} was never detected`,
      });
    } else if (fencedAt >= at) {
      lost++;
      longestMs = Math.max(longestMs, fencedAt - at);
      if (fencedAt <= Math.max(at, lastKillAt) + DETECTION_MS) continue;
      violations.push({ rule: "detection", about, detail: `kill ${number} was detected after ${fencedAt - at} ms` });
    }
  }
  return { violations, lost, longestMs };
}

const COUNTED = ["queued", "running", "waiting", "tree_running"];

function checkCounters(items: readonly StoredItem[]): Violation[] {
  const found: Violation[] = [];
  const complain = ({ pk, sk }: StoredItem, detail: string) => {
    found.push({ rule: "counters", about: `${pk} ${sk}`, detail });
  };
  for (const item of items) {
    const { pk, sk } = item;
    if (sk.startsWith("WAITING#")) complain(item, "a run still waits for a slot");
    const counts = sk === "COUNTERS" || sk.startsWith("TREE#") || (sk === "HEAD" && pk.startsWith("RUN#"));
    if (!counts) continue;
    for (const name of COUNTED) {
      if (Number(item[name] ?? 0) !== 0 && !(sk === "HEAD" && name === "waiting"))
        complain(item, `${name} is ${item[name]}`);
    }
    if (sk !== "HEAD") continue;
    for (const name of ["slot", "waiting", "check_shard", "stop_pending"]) {
      if (item[name] !== undefined) complain(item, `${name} is ${item[name]}`);
    }
  }
  return found;
}

function checkObjects({ objects, items, before }: Evidence, runs: ReadonlyMap<string, StoredRun>): Violation[] {
  const bodies = items.filter(({ sk }) => sk === "BODY").map((body) => JSON.stringify(body));
  return objects.flatMap((about): Violation[] => {
    const [kind, , runId = ""] = about.split("/");
    // The files of a request are stored before its run is written.
    if (kind === "requests") {
      const isNamed = bodies.some((body) => body.includes(JSON.stringify(about)));
      return isNamed ? [] : [{ rule: "object", about, detail: "no run names it" }];
    }
    if ((kind !== "runs" && kind !== "snapshots") || before.has(runId)) return [];
    const run = runs.get(runId);
    if (run === undefined) return [{ rule: "object", about, detail: "there is no such run" }];
    const [, transcript] = /\/transcript-(\d+)\.jsonl$/.exec(about) ?? [];
    const isAhead = transcript !== undefined && Number(transcript) >= run.head.next_sequence;
    return isAhead ? [{ rule: "object", about, detail: "it is of events that never were" }] : [];
  });
}
