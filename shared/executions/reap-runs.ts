import { isExecuting, isTerminal, LEASE_SECONDS } from "#shared/records/run.ts";
import {
  isExecutingHead,
  isLocal,
  isStopAwaited,
  leaseMs,
  ownerOf,
  parseRunHead,
  type RunHead,
  startLeaseMs,
} from "#shared/records/run-head.ts";
import { failUnstartedLocalRun } from "#shared/runs/end-run.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import { CHECK_SHARDS, sortableTime } from "#shared/table/keys.ts";
import type { Item } from "#shared/table/table.ts";
import { putBack } from "./dispatch-run.ts";
import { confirmStop, expireExecution } from "./expired-execution.ts";

/** Runs looked at in one pass and shard; what is left is due in the next. */
const PASS_LIMIT = 200;
/** A waiting run is sent again after these many milliseconds, then twice as many, up to an hour. */
const RESEND_MS = 60_000;
const RESEND_MOST_MS = 3_600_000;
const LOOK_AGAIN_MS = LEASE_SECONDS * 1000;
/** A sandbox that somebody waits for to be gone is looked at in each pass. */
const STOP_AGAIN_MS = 10_000;
/** Runs that are worked on side by side. */
const AT_ONCE = 10;
/** A pass in which this share of the executions (and this many) are silent tells of a fault of ours, not of theirs. */
const CIRCUIT_SHARE = 0.2;
const CIRCUIT_MIN_EXECUTIONS = 50;

export interface Pass {
  readonly looked: number;
  readonly lost: number;
  /** Runs that could not be read or written; they are looked at again much later, so that they stand in nobody's way. */
  readonly failed: number;
  /** True where runs are alive, so that another pass is worth its while soon. */
  readonly alive: boolean;
  /** True where so many leases ran out at once that they were extended instead, once. */
  readonly circuitOpen: boolean;
}

/**
 * One pass over the runs that are due. No state that is not an end depends on its worker to be left: waiting runs are
 * sent again, silent executions are lost, sandboxes that never said they stopped are written off.
 */
export async function reapRuns(ports: RunPorts): Promise<Pass> {
  const now = ports.now();
  const shards = await Promise.all(
    Array.from({ length: CHECK_SHARDS }, (_, shard) =>
      ports.runs.query({ index: "gsi6", pk: `RUNS#${shard}`, to: sortableTime(now), limit: PASS_LIMIT }),
    ),
  );
  const due = shards.flatMap(({ items }) => items);
  const items = (await Promise.all(chunks(due, 100).map((some) => ports.table.batchGet(some)))).flat();
  const { runs, unreadable } = readHeads(items.filter((item) => item !== undefined));
  const silent = runs.filter(({ head }) => isSilent(head, now));
  const working = runs.filter(({ head }) => isExecuting(head.state));
  const newlySilent = silent.filter(({ head }) => !isExtended(head)).length;
  const circuitOpen = newlySilent > CIRCUIT_MIN_EXECUTIONS && newlySilent > CIRCUIT_SHARE * working.length;
  let failed = unreadable.length;
  for (const some of chunks(runs, AT_ONCE)) {
    const looks = await Promise.allSettled(some.map(({ item, head }) => look(item, head, now, circuitOpen, ports)));
    failed += looks.filter(({ status }) => status === "rejected").length;
  }
  for (const item of unreadable) {
    await ports.runs.checkAgain(
      item.pk.slice("RUN#".length),
      String(item["check_at"]),
      sortableTime(now + RESEND_MOST_MS),
    );
  }
  return {
    looked: runs.length,
    lost: circuitOpen ? silent.length - newlySilent : silent.length,
    failed,
    alive: working.length > 0 || (await anyAhead(now, ports)),
    circuitOpen,
  };
}

interface Due {
  readonly item: Item;
  readonly head: RunHead;
}

function readHeads(items: readonly Item[]): { runs: Due[]; unreadable: Item[] } {
  const runs: Due[] = [];
  const unreadable: Item[] = [];
  for (const item of items) {
    try {
      runs.push({ item, head: parseRunHead(item) });
    } catch {
      unreadable.push(item);
    }
  }
  return { runs, unreadable };
}

/** True where a run is to be looked at within the next minute. */
async function anyAhead(now: number, ports: RunPorts): Promise<boolean> {
  const ahead = await Promise.all(
    Array.from({ length: CHECK_SHARDS }, (_, shard) =>
      ports.runs.query({
        index: "gsi6",
        pk: `RUNS#${shard}`,
        after: sortableTime(now),
        to: sortableTime(now + 60_000),
        limit: 1,
      }),
    ),
  );
  return ahead.some(({ items }) => items.length > 0);
}

async function look(item: Item, head: RunHead, now: number, circuitOpen: boolean, ports: RunPorts): Promise<void> {
  const again = (milliseconds: number) =>
    ports.runs.checkAgain(head.run_id, String(item["check_at"]), sortableTime(now + milliseconds));
  if (head.state === "QUEUED" && isLocal(head)) {
    await again(LOOK_AGAIN_MS);
    return failUnstartedLocalRun(head.run_id, ports);
  }
  const askForStop = async () => {
    if (head.stops !== undefined) await ports.queue.sendEnd(head.run_id, ownerOf(head));
  };
  if (head.state === "QUEUED") {
    const waited = Math.min(Math.max(RESEND_MS, now - head.updated_at), RESEND_MOST_MS);
    await again(head.stops === undefined ? waited : LOOK_AGAIN_MS);
    await ports.queue.sendRun(head.run_id, ownerOf(head));
    return askForStop();
  }
  if (isTerminal(head.state)) {
    if (isStopAwaited(head) && "stop_by" in head && head.execution_id !== undefined) {
      await again(head.stops === undefined ? LOOK_AGAIN_MS : STOP_AGAIN_MS);
      if ((head.stop_by ?? 0) > now) return askForStop();
      return confirmStop(head, head.execution_id, "timeout", ports);
    }
    await again(head.stops === undefined ? RESEND_MS : LOOK_AGAIN_MS);
    await ports.queue.sendEnd(head.run_id, ownerOf(head));
    return;
  }
  await again(LOOK_AGAIN_MS);
  await askForStop();
  if (!isExecutingHead(head) || !isSilent(head, now)) return;
  if (circuitOpen && !isExtended(head)) return ports.runs.extendLease(head);
  if (head.state === "PENDING") {
    return putBack(head.run_id, head.execution_id, "the sandbox did not begin in time", ports);
  }
  const why = `no sign of life for ${Math.floor((now - head.heartbeat_at) / 1000)} seconds`;
  await expireExecution(head, head.execution_id, why, ports, head.heartbeat_at);
}

/** True where the lease was extended already and no beat has come since. */
const isExtended = (head: RunHead): boolean => isExecutingHead(head) && head.extended_from === head.heartbeat_at;

function isSilent(head: RunHead, now: number): boolean {
  if (head.state === "PENDING") return now - head.state_since >= startLeaseMs(head);
  if (head.state === "INPROGRESS" || head.state === "CLAIMED") return now - head.heartbeat_at >= leaseMs(head);
  return false;
}

function chunks<T>(list: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, index) =>
    list.slice(index * size, (index + 1) * size),
  );
}
