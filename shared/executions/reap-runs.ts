import { isExecuting, isTerminal, LEASE_SECONDS } from "#shared/records/run.ts";
import {
  isExecutingHead,
  isLocal,
  isOnOwnSandbox,
  isStopAwaited,
  leaseMs,
  parseOwner,
  type RunHead,
  startLeaseMs,
} from "#shared/records/run-head.ts";
import { describeTimeout, isTimeOver } from "#shared/records/time-limit.ts";
import { grantExecutions, readWait, WAITING_CHECK_MS } from "#shared/runs/capacity/deployment-queue.ts";
import { endAtLimit, failUnstartedLocalRun, failWaitingRun } from "#shared/runs/end-run.ts";
import { returnToQueue } from "#shared/runs/return-to-queue.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { endIdleRun, findIdleEnding } from "#shared/runs/turns/idle-run.ts";
import { takeBackOffer } from "#shared/workers/offer-run.ts";
import { toChunks } from "./chunks.ts";
import { type DueRun, type DueRuns, hasDueRun, postponeCheck, readDueRuns } from "./due-run-store.ts";
import { confirmStop, expireExecution } from "./expired-execution.ts";

/** A waiting run is sent to the queue again after these many milliseconds, then after twice as many, up to an hour. */
const RESEND_MS = 60_000;
const MAX_RESEND_MS = 3_600_000;
const CHECK_AGAIN_MS = LEASE_SECONDS * 1000;
/** A sandbox whose stop is awaited is checked in each pass. */
const CHECK_STOP_MS = 10_000;
/** The least milliseconds until the next check of a run. */
const MIN_CHECK_MS = 1_000;
/** Runs that are checked concurrently. */
const CONCURRENCY = 25;
/** A pass reads due runs again while a shard has more of them, for at most these milliseconds and rounds. The next pass checks the others. */
const ROUNDS_MS = 20_000;
const MAX_ROUNDS = 50;
/** A pass in which at least this many executions, and this share of them, are silent shows a fault of the service. */
const CIRCUIT_SHARE = 0.2;
const CIRCUIT_MIN_EXECUTIONS = 50;

export interface Pass {
  readonly looked: number;
  readonly lost: number;
  /** Runs that could not be read or written. They are checked again much later, so that they do not delay others. */
  readonly failed: number;
  /** True if runs are active, so that another pass is due soon. */
  readonly alive: boolean;
  /** True if so many leases expired at once that the pass extended them, once, instead. */
  readonly circuitOpen: boolean;
  /** The longest time, in seconds, that a run waits although its owner has room. An alarm reads it in the log. Absent where none waits. */
  readonly waitedSeconds?: number;
  /** The longest time, in seconds, since the end of a run that was not handled yet. An alarm reads it as well. Absent where none waits. */
  readonly endsWaitedSeconds?: number;
}

/**
 * Checks the runs that are due. Every state that is not terminal is left without the help of the run's worker: waiting runs are
 * sent to the queue again, silent executions expire, and sandboxes that do not confirm their stop are given up.
 */
export async function reapRuns(ports: RunPorts): Promise<Pass> {
  const now = ports.now();
  const rounds: Round[] = [];
  for (let more = true; more && rounds.length < MAX_ROUNDS && ports.now() < now + ROUNDS_MS; ) {
    const found = await readDueRuns(now, ports);
    rounds.push(await checkRound(found, now, ports));
    more = found.more;
  }
  const mayWait = await grantExecutions(ports.maxExecutions, ports);
  const longest = Math.max(
    0,
    ...rounds.map(({ longest }) => longest),
    (mayWait ? await readWait(ports) : undefined) ?? 0,
  );
  const longestEnd = Math.max(0, ...rounds.map(({ longestEnd }) => longestEnd));
  const sum = (name: "looked" | "lost" | "failed") => rounds.reduce((total, round) => total + round[name], 0);
  const isWorking = rounds.some(({ working }) => working > 0);
  const isQuiet = rounds.every(({ isQuiet }) => isQuiet);
  return {
    looked: sum("looked"),
    lost: sum("lost"),
    failed: sum("failed"),
    alive: isWorking || (!isQuiet && (await hasDueRun(now, ports))),
    circuitOpen: rounds.some(({ circuitOpen }) => circuitOpen),
    ...(longest > 0 && { waitedSeconds: Math.ceil(longest / 1000) }),
    ...(longestEnd > 0 && { endsWaitedSeconds: Math.ceil(longestEnd / 1000) }),
  };
}

/** What a part of a pass has found. */
interface Round extends Pick<Pass, "looked" | "lost" | "failed" | "circuitOpen"> {
  readonly working: number;
  readonly isQuiet: boolean;
  /** The longest waits, in milliseconds: for a start, and for the handling of an end. */
  readonly longest: number;
  readonly longestEnd: number;
}

async function checkRound({ due, isQuiet }: DueRuns, now: number, ports: RunPorts): Promise<Round> {
  const unreadable = due.filter(({ head }) => head === undefined);
  const runs = due.filter(isReadable);
  const silent = runs.filter(({ head }) => isSilent(head, now));
  const working = runs.filter(({ head }) => isExecuting(head.state));
  const newlySilent = silent.filter(({ head }) => !isExtended(head)).length;
  const circuitOpen = newlySilent > CIRCUIT_MIN_EXECUTIONS && newlySilent > CIRCUIT_SHARE * working.length;
  let failed = unreadable.length;
  for (const some of toChunks(runs, CONCURRENCY)) {
    const checks = await Promise.allSettled(some.map((run) => checkRun(run, now, circuitOpen, ports)));
    failed += checks.filter(({ status }) => status === "rejected").length;
  }
  for (const run of unreadable) await postponeCheck(run, now + MAX_RESEND_MS, ports);
  const ends = runs.filter(({ head }) => isEndUnhandled(head)).map(({ head }) => now - head.updated_at);
  const waits = runs.filter(({ head }) => waitsForService(head)).map(({ head }) => now - head.updated_at);
  return {
    looked: runs.length,
    lost: circuitOpen ? silent.length - newlySilent : silent.length,
    failed,
    circuitOpen,
    working: working.length,
    isQuiet,
    longest: Math.max(0, ...waits),
    longestEnd: Math.max(0, ...ends),
  };
}

/** True if a run has all that it needs to start, but for the service: neither its owner's limit nor a worker keeps it waiting. */
const waitsForService = (head: RunHead): boolean =>
  head.state === "QUEUED" && isOnOwnSandbox(head) && head.waiting === undefined && head.deployment_entry === undefined;

/** True if a run has ended, and the function that handles ends has not completed it; the end of its sandbox is not awaited. */
const isEndUnhandled = (head: RunHead): boolean => isTerminal(head.state) && !isStopAwaited(head);

type ReadableRun = DueRun & { readonly head: RunHead };

const isReadable = (run: DueRun): run is ReadableRun => run.head !== undefined;

async function checkRun(run: ReadableRun, now: number, circuitOpen: boolean, ports: RunPorts): Promise<void> {
  const { head } = run;
  const checkAgain = (milliseconds: number) => postponeCheck(run, findNextCheck(head, now, milliseconds), ports);
  if (head.state === "QUEUED" && isLocal(head)) {
    await checkAgain(CHECK_AGAIN_MS);
    return failUnstartedLocalRun(head.run_id, ports);
  }
  const isOverdue = isTimeOver(head, now) && !isTerminal(head.state);
  const requestStop = async () => {
    if (head.stops !== undefined) await ports.queue.sendEnd(head.run_id, parseOwner(head));
  };
  if (isOverdue && (head.state === "QUEUED" || head.state === "PENDING")) {
    await checkAgain(CHECK_AGAIN_MS);
    return failWaitingRun(head.run_id, "budget_exceeded", describeTimeout(head), ports);
  }
  if (head.state === "QUEUED") {
    // Each pass grants executions to the runs that wait for the deployment, so that nothing is to be done for one of them.
    if (head.deployment_entry !== undefined && head.stops === undefined) return checkAgain(WAITING_CHECK_MS);
    const waited = Math.min(Math.max(RESEND_MS, now - head.updated_at), MAX_RESEND_MS);
    await checkAgain(head.stops === undefined ? waited : CHECK_AGAIN_MS);
    await ports.queue.sendRun(head.run_id, parseOwner(head));
    return requestStop();
  }
  if (isTerminal(head.state)) {
    if (isStopAwaited(head) && "stop_by" in head && head.execution_id !== undefined) {
      await checkAgain(head.stops === undefined ? CHECK_AGAIN_MS : CHECK_STOP_MS);
      if ((head.stop_by ?? 0) > now) return requestStop();
      return confirmStop(head, head.execution_id, "timeout", ports);
    }
    await checkAgain(head.stops === undefined ? RESEND_MS : CHECK_AGAIN_MS);
    await ports.queue.sendEnd(head.run_id, parseOwner(head));
    return;
  }
  const idleMs = (findIdleEnding(head)?.until ?? Number.POSITIVE_INFINITY) - now;
  await checkAgain(Math.min(CHECK_AGAIN_MS, Math.max(MIN_CHECK_MS, idleMs)));
  await requestStop();
  if (!isExecutingHead(head)) return;
  // The message that requests its slot may be lost.
  if (head.waiting !== undefined) await ports.queue.sendRun(head.run_id, parseOwner(head));
  if (idleMs <= 0) return endIdleRun(head, ports);
  if (head.failing !== undefined && head.failing.by <= now) {
    await expireExecution(head, head.execution_id, "it did not finish", ports);
    return;
  }
  if (isOverdue && head.failing === undefined) return endAtLimit(head, describeTimeout(head), ports);
  if (!isSilent(head, now)) return;
  if (circuitOpen && !isExtended(head)) return ports.runs.extendLease(head);
  if (head.state === "PENDING" && head.worker_host !== undefined) return takeBackOffer(head, ports);
  if (head.state === "PENDING") {
    return returnToQueue(head.run_id, head.execution_id, "the sandbox did not start in time", ports);
  }
  const why = `no heartbeat for ${Math.floor((now - head.heartbeat_at) / 1000)} seconds`;
  await expireExecution(head, head.execution_id, why, ports, head.heartbeat_at);
}

/** When the run is checked again, in milliseconds: not later than when its time ends. */
function findNextCheck({ ends_by }: RunHead, now: number, milliseconds: number): number {
  return ends_by === undefined || ends_by <= now ? now + milliseconds : Math.min(now + milliseconds, ends_by);
}

/** True if the lease was extended already and no heartbeat has come since. */
const isExtended = (head: RunHead): boolean => isExecutingHead(head) && head.extended_from === head.heartbeat_at;

function isSilent(head: RunHead, now: number): boolean {
  if (head.state === "PENDING") return now - head.state_since >= startLeaseMs(head);
  if (head.state === "INPROGRESS" || head.state === "CLAIMED") return now - head.heartbeat_at >= leaseMs(head);
  return false;
}
