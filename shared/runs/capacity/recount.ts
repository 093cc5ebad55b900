import * as v from "valibot";
import { logLine } from "#shared/log/log.ts";
import { isLocal, parseRunHead, type RunHead } from "#shared/records/run-head.ts";
import { keys, type Owner } from "#shared/table/keys.ts";
import { ConditionFailed, type Table } from "#shared/table/table.ts";
import { activeRuns } from "./active-runs.ts";

/** An owner's counters are counted anew at most so often. */
const RECOUNT_MS = 3_600_000;
/** A difference counts once it is the same after so long: an index may lag, counters do not. */
const CONFIRM_MS = 60_000;
const HEADS_A_BATCH = 100;

const Count = v.optional(v.number(), 0);
const Tally = v.object({ queued: Count, running: Count, waiting: Count });
type Tally = v.InferOutput<typeof Tally>;
const Counters = v.object({
  ...Tally.entries,
  changes: Count,
  recounted_at: Count,
  /** What the last recount found more, or less, than the counters say, and when. */
  differs: v.exactOptional(v.object({ ...Tally.entries, at: v.number() })),
});

interface RecountPorts {
  readonly table: Table;
  readonly now: () => number;
}

const NONE: Tally = { queued: 0, running: 0, waiting: 0 };
const isSame = (a: Tally, b: Tally): boolean =>
  a.queued === b.queued && a.running === b.running && a.waiting === b.waiting;
const minus = (a: Tally, b: Tally): Tally => ({
  queued: a.queued - b.queued,
  running: a.running - b.running,
  waiting: a.waiting - b.waiting,
});

/**
 * Counts an owner's runs and mends counters that are wrong, at most once an hour; called when a run has to wait, which is when a
 * counter that is too high would do harm. Nothing in the service makes counters wrong; a restored backup could. Written
 * only if no counter moved since they were read, and only when the same difference was there a minute before.
 */
export async function recountIfDue(owner: Owner, ports: RecountPorts): Promise<void> {
  const now = ports.now();
  const key = keys.counters(owner);
  const counters = v.parse(Counters, (await ports.table.get(key)) ?? {});
  if (now - counters.recounted_at < RECOUNT_MS) return;
  if (counters.differs !== undefined && now - counters.differs.at < CONFIRM_MS) return;
  const differs = minus(await tally(owner, ports), counters);
  const isRight = isSame(differs, NONE);
  const isConfirmed = counters.differs !== undefined && isSame(differs, counters.differs);
  try {
    await ports.table.write({
      kind: "update",
      key,
      ...(isRight || isConfirmed
        ? { set: { recounted_at: now }, add: { ...differs }, remove: ["differs"] }
        : { set: { differs: { ...differs, at: now } } }),
      if: { changes: counters.changes === 0 ? { absentOr: { eq: 0 } } : { eq: counters.changes } },
    });
  } catch (error) {
    // Something moved meanwhile: the next run that has to wait counts again.
    if (error instanceof ConditionFailed) return;
    throw error;
  }
  if (!isRight) logLine("error", isConfirmed ? "counters repaired" : "counters differ", { ...differs });
}

async function tally(owner: Owner, { table }: Pick<RecountPorts, "table">): Promise<Tally> {
  const heads = await headsOf(
    (await activeRuns(owner, { table })).map(({ runId }) => runId),
    table,
  );
  const known = new Set(heads.map(({ run_id }) => run_id));
  // A root that has ended keeps its slot while runs below it execute.
  const roots = [...new Set(heads.flatMap(({ root, slot }) => (slot === "tree" && root !== undefined ? [root] : [])))];
  const ended = await headsOf(
    roots.filter((root) => !known.has(root)),
    table,
  );
  const counted = heads.filter((head) => !isLocal(head));
  return {
    queued: counted.filter(({ state }) => state === "QUEUED").length,
    running: [...counted, ...ended].filter(({ slot }) => slot === "owner").length,
    waiting: counted.filter(({ waiting }) => waiting === "owner").length,
  };
}

async function headsOf(runIds: readonly string[], table: Table): Promise<RunHead[]> {
  const heads: RunHead[] = [];
  for (let from = 0; from < runIds.length; from += HEADS_A_BATCH) {
    const items = await table.batchGet(runIds.slice(from, from + HEADS_A_BATCH).map(keys.head));
    heads.push(...items.flatMap((item) => (item === undefined ? [] : [parseRunHead(item)])));
  }
  return heads;
}
