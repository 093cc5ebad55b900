import { logLine } from "#shared/log/log.ts";
import { isLocal, type RunHead, readHeads } from "#shared/records/run-head.ts";
import type { Owner } from "#shared/table/keys.ts";
import type { Table } from "#shared/table/table.ts";
import { activeRuns } from "./active-runs.ts";
import { counterStore, type Tally } from "./counter-store.ts";

/** An owner's runs are recounted at most this often. */
const RECOUNT_MS = 3_600_000;
/** A difference counts once it is the same after this long: an index may lag, counters do not. */
const CONFIRM_MS = 60_000;

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
 * Counts an owner's runs in one part of its counters, and corrects counters that are wrong, at most once an hour; called when a run has
 * to wait, which is when a counter that is too high would do harm. Nothing in the service makes counters wrong; a restored backup could.
 * Written only if no counter changed since they were read, and only when the same difference was there a minute before.
 */
export async function recountIfDue(owner: Owner, ports: RecountPorts, part = 0): Promise<void> {
  const at = ports.now();
  const store = counterStore(ports.table);
  const counters = await store.readPart(owner, part);
  const { differs: before } = counters;
  if (at - counters.recounted_at < RECOUNT_MS) return;
  if (before !== undefined && at - before.at < CONFIRM_MS) return;
  const differs = minus(await tally(owner, part, ports), counters);
  const isRight = isSame(differs, NONE);
  const isConfirmed = before !== undefined && isSame(differs, before);
  const recount = isRight || isConfirmed ? { corrects: differs, at } : { differs, at };
  // Where a counter has changed in the meantime, the next run that has to wait counts again.
  if (!(await store.saveRecount(owner, part, counters.changes, recount))) return;
  if (!isRight) logLine("error", isConfirmed ? "counters repaired" : "counters differ", { ...differs });
}

async function tally(owner: Owner, part: number, { table }: Pick<RecountPorts, "table">): Promise<Tally> {
  const active = (await activeRuns(owner, { table })).map(({ runId }) => runId);
  const heads = await existingHeads(active, table);
  const known = new Set(heads.map(({ run_id }) => run_id));
  // A root that has ended keeps its slot while runs below it execute.
  const roots = [...new Set(heads.flatMap(({ root, slot }) => (slot === "tree" && root !== undefined ? [root] : [])))];
  const ended = await existingHeads(
    roots.filter((root) => !known.has(root)),
    table,
  );
  const isCounted = (head: RunHead) => (head.part ?? 0) === part;
  const counted = heads.filter((head) => !isLocal(head) && isCounted(head));
  return {
    queued: counted.filter(({ state }) => state === "QUEUED").length,
    running: [...counted, ...ended.filter(isCounted)].filter(({ slot }) => slot === "owner").length,
    waiting: counted.filter(({ waiting }) => waiting === "owner").length,
  };
}

const existingHeads = async (runIds: readonly string[], table: Table): Promise<RunHead[]> =>
  (await readHeads(runIds, table)).filter((head) => head !== undefined);
